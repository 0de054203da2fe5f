/** Reports calls that are not sent, and counts them. */
import type { Call } from '../core/encode.ts';
import { AnalyticsError, type AnalyticsErrorCode } from '../core/errors.ts';
import type { Rejection } from '../core/transport.ts';

export type Unsent = ReturnType<typeof createUnsent>;

export function createUnsent(reportError: (error: AnalyticsError) => void) {
  let count = 0;
  /** While `onError` receives a call for which the queue is full. */
  let isRefusing = false;

  const report = (code: AnalyticsErrorCode, calls: readonly Call[], what: string, status?: number): void => {
    count += calls.length;
    const counted = calls.length === 1 ? '1 call' : `${calls.length} calls`;
    const texts = calls.map(({ json }) => json);
    reportError(new AnalyticsError(code, `${counted} ${what}`, { status, calls: texts }));
  };

  return {
    /** The calls that were reported. */
    get count() {
      return count;
    },
    report,
    /** Reports each rejected call of the batch with its reason. */
    rejected(batch: readonly Call[], rejected: readonly Rejection[], status?: number): void {
      for (const { index, reason } of rejected) {
        report('rejected', batch.slice(index, index + 1), `rejected: ${reason}`, status);
      }
    },
    /** Reports a call for which the queue is full. */
    queueFull(call: Call): void {
      const what = 'not queued: the queue is full';
      // Reported in turn, the calls of onError would never end.
      if (isRefusing) throw new AnalyticsError('queue-full', `1 call ${what}`, { calls: [call.json] });
      isRefusing = true;
      report('queue-full', [call], what);
      isRefusing = false;
    },
  };
}
