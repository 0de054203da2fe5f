/** The filter of the commands about dead letters. */
import type { DeadLetterFilter, ReadOptions } from '@tailrace/deadletters';
import { formatInstant } from '@tailrace/events';
import { parseDuration } from '@tailrace/topics';
import { formatCount } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { timeOf, type Period } from '../terminal/times.ts';

export interface FilterValues extends Period {
  readonly destination?: string;
  readonly reason?: string;
  readonly type?: string;
}

/** @throws UsageError */
export function filterOf(
  { destination, reason, type, since, until }: FilterValues,
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

/** The options that replace relative times such as `2h`, to run the same command later. */
export function absoluteTimes(values: Period, filter: DeadLetterFilter): string[] {
  return (['since', 'until'] as const).flatMap((name) => {
    const text = values[name];
    const isRelative = text !== undefined && parseDuration(text) !== undefined;
    return isRelative ? [`--${name} ${formatInstant(filter[name] ?? 0)}`] : [];
  });
}

export function showReading(terminal: Terminal): ReadOptions['onProgress'] {
  return ({ read, total }) => {
    terminal.progress(`Reading: ${formatCount(read)} of ${formatCount(total)} records`);
  };
}
