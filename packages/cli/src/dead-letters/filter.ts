/** The filter of the commands about dead letters. */
import { reasonProblem, type DeadLetterFilter, type ReadOptions } from '@tailrace/deadletters';
import { formatInstant, parseDuration } from '@tailrace/events';
import { UsageError } from '../command.ts';
import type { ValuesOf } from '../declare.ts';
import { formatCount } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { timeOf, type Period } from '../terminal/times.ts';
import type { filterOptions } from './options.ts';

export type FilterValues = ValuesOf<object, typeof filterOptions>;

/** @throws UsageError */
export function filterOf(
  { destination, reason, type, event, user, since, until }: FilterValues,
  now = Date.now(),
): DeadLetterFilter {
  const problem = reason === undefined ? undefined : reasonProblem(reason);
  if (problem !== undefined) throw new UsageError(`--reason ${problem}`);
  return {
    destinationId: destination,
    reason,
    type,
    event,
    userKey: user,
    since: timeOf('since', since, now),
    until: timeOf('until', until, now),
  };
}

/** The options that replace relative times such as `2h`, to run the same command later. */
export function absoluteTimes(values: Period, filter: DeadLetterFilter): string[] {
  return (['since', 'until'] as const).flatMap((name) => {
    const text = values[name];
    const isRelative = text !== undefined && parseDuration(text) !== undefined;
    return isRelative ? [`--${name} ${formatInstant(filter[name] ?? 0)}`] : [];
  });
}

export function showReading(terminal: Terminal): ReadOptions['onProgress'] {
  return ({ read, total }) =>
    terminal.progress(`Reading: ${formatCount(read)} of ${formatCount(total)} records`);
}
