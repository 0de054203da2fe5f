/**
 * Output on standard error: unsent calls where no `onError` is set, so that data loss is visible, and the lines of
 * `DEBUG=analytics`.
 */
import type { AnalyticsError } from './errors.ts';

const minIntervalMs = 10_000;

/**
 * Writes at most one line every ten seconds, with the number of calls since the last line. A full queue may refuse
 * thousands of calls.
 */
export function reportOnStandardError(
  write: (line: string) => void = (line) => process.stderr.write(line),
  now: () => number = Date.now,
): (error: AnalyticsError) => void {
  let writtenAt = -Infinity;
  let unreported = 0;
  return ({ message, calls }) => {
    unreported += calls.length;
    if (now() - writtenAt < minIntervalMs) return;
    write(`analytics: ${message} (${unreported} calls since the last line; set onError to keep them)\n`);
    writtenAt = now();
    unreported = 0;
  };
}

/** Undefined where `DEBUG` does not enable it, so that no line is formatted. */
export type Debug = ((line: string) => void) | undefined;

export function debugFrom(setting: string | undefined = process.env['DEBUG']): Debug {
  const names = (setting ?? '').split(/[\s,]+/);
  if (!names.some((name) => name === '*' || name === 'analytics' || name === 'analytics*')) return undefined;
  return (line) => {
    process.stderr.write(`${new Date().toISOString()} analytics ${line}\n`);
  };
}
