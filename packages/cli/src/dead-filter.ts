/** Which dead letters a command is about: the options, and what they mean. */
import type { DeadLetterFilter, ReadOptions } from '@tailrace/deadletters';
import { eventTypes, formatInstant } from '@tailrace/events';
import { parseDuration } from '@tailrace/topics';
import type { OptionSpecs, OptionValues } from './command.ts';
import { formatCount } from './table.ts';
import type { Terminal } from './terminal.ts';
import { timeOf } from './times.ts';

export const filterOptions = {
  destination: { type: 'string', placeholder: 'ID', help: 'only those of this destination' },
  reason: {
    type: 'string',
    placeholder: 'REASON',
    help: 'only those with this reason, such as client-error',
  },
  type: {
    type: 'string',
    placeholder: 'TYPE',
    choices: eventTypes,
    help: 'only those of this type of call',
  },
  since: { type: 'string', placeholder: 'TIME', help: 'only those that died at this time or later' },
  until: { type: 'string', placeholder: 'TIME', help: 'only those that died before this time' },
} as const satisfies OptionSpecs;

/** @throws UsageError */
export function filterOf(
  { destination, reason, type, since, until }: OptionValues<typeof filterOptions>,
  now = Date.now(),
): DeadLetterFilter {
  return {
    destinationId: destination,
    reason,
    type,
    since: timeOf('since', since, now),
    until: timeOf('until', until, now),
  };
}

/** The options that mean the same at another time; what was said as how long ago does not. */
export function lastingTimes(
  { since, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  filter: DeadLetterFilter,
): string[] {
  const lasting = (name: 'since' | 'until', text: string | undefined): string[] =>
    text !== undefined && parseDuration(text) !== undefined
      ? [`--${name} ${formatInstant(filter[name] ?? 0)}`]
      : [];
  return [...lasting('since', since), ...lasting('until', until)];
}

export function showReading(terminal: Terminal): ReadOptions['onProgress'] {
  return ({ read, total }) => {
    terminal.progress(`Reading: ${formatCount(read)} of ${formatCount(total)} records`);
  };
}
