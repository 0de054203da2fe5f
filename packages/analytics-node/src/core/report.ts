/**
 * Lines for the developer: unsent calls where no `onError` is set, so that data loss is visible, and the lines of
 * `DEBUG=analytics`.
 */
import { reasonOf, type AnalyticsError } from './errors.ts';
import type { Platform } from './platform.ts';

const minIntervalMs = 10_000;

/**
 * Writes at most one line every ten seconds, with the number of calls since the last line. A full queue may refuse
 * thousands of calls. The clock of the system may be set back, so it is not used.
 */
export function reportLines(
  write: (line: string) => void,
  now: () => number = () => performance.now(),
): (error: AnalyticsError) => void {
  let writtenAt = -Infinity;
  let unreported = 0;
  return ({ message, calls }) => {
    unreported += calls.length;
    if (now() - writtenAt < minIntervalMs) return;
    write(`analytics: ${message} (${unreported} calls since the last line; set onError to keep them)`);
    writtenAt = now();
    unreported = 0;
  };
}

/** Reports to `onError`. An error of this function, also of a promise that it returns, stops nothing, and is shown. */
export function reporter(
  onError: (error: AnalyticsError) => unknown,
  write: (line: string) => void,
  debug: Debug,
): (error: AnalyticsError) => void {
  return (error) => {
    debug?.(error.message);
    const failed = (thrown: unknown): void =>
      write(`analytics: onError failed: ${reasonOf(thrown)}; it was called because ${error.message}`);
    try {
      // A function with async is a function that returns void for the compiler.
      const returned = onError(error) as Partial<PromiseLike<unknown>> | undefined;
      if (typeof returned?.then === 'function') void returned.then(undefined, failed);
    } catch (thrown) {
      failed(thrown);
    }
  };
}

/** Undefined where `DEBUG` does not enable it, so that no line is formatted. */
export type Debug = ((line: string) => void) | undefined;

export function debugOf({ debug, write }: Platform): Debug {
  if (!isEnabled(debug ?? '')) return undefined;
  return (line) => write(`${new Date().toISOString()} analytics ${line}`);
}

/**
 * Whether the patterns enable `analytics`: separated by commas or white space, `*` stands for any text, and a
 * pattern that begins with `-` excludes, wherever it stands.
 */
export function isEnabled(patterns: string): boolean {
  const all = patterns.split(/[\s,]+/).filter((pattern) => pattern !== '');
  const isExcluded = all.some((pattern) => pattern.startsWith('-') && matches(pattern.slice(1)));
  return !isExcluded && all.some(matches);
}

function matches(pattern: string): boolean {
  const literals = pattern.split('*').map((part) => part.replace(/\W/g, '\\$&'));
  return new RegExp(`^${literals.join('.*')}$`).test('analytics');
}
