/** Where nobody listens for what could not be sent, it is said on standard error: silence would hide a loss. */
import type { AnalyticsError } from './errors.ts';

const silenceMs = 10_000;

/** At most a line every ten seconds, which counts what was not said before: a full queue refuses thousands of calls. */
export function reportOnStandardError(
  write: (line: string) => void = (line) => process.stderr.write(line),
  now: () => number = Date.now,
): (error: AnalyticsError) => void {
  let saidAt = -Infinity;
  let unsaid = 0;
  return ({ message, calls }) => {
    unsaid += calls.length;
    if (now() - saidAt < silenceMs) return;
    write(`analytics: ${message} (${unsaid} calls since the last line; set onError to keep them)\n`);
    saidAt = now();
    unsaid = 0;
  };
}
