/** Which dead letters a command is about: the options, and what they mean. */
import type { DeadLetterFilter, ReadOptions } from '@tailrace/deadletters';
import { eventTypes, formatInstant, parseInstant } from '@tailrace/events';
import { parseDuration } from '@tailrace/topics';
import { UsageError, type OptionSpecs, type OptionValues } from './command.ts';
import { formatCount } from './table.ts';
import type { Terminal } from './terminal.ts';

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

export const aboutTimes =
  'A TIME is a date and time in ISO 8601, UTC unless it says otherwise (2026-05-01T08:30), or how long ago\n' +
  '(90s, 15m, 2h, 7d).';

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

function timeOf(name: 'since' | 'until', text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const agoMs = parseDuration(text);
  const time = agoMs === undefined ? parseInstant(text) : now - agoMs;
  if (time !== undefined) return time;
  throw new UsageError(`--${name} is a time (2026-05-01T08:30) or how long ago (2h), not ${text}`);
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
