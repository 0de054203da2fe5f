/** The end of each call: it was sent, or is reported. Then it leaves the queue and the store. */
import type { Aside } from './aside.ts';
import type { Backlog } from './backlog.ts';
import type { CallStore } from './call-store.ts';
import type { Call } from '../core/encode.ts';
import { AnalyticsError, type AnalyticsErrorCode } from '../core/errors.ts';
import type { Outcome, Rejection } from '../core/transport.ts';

export type Refused = Extract<Outcome, { kind: 'refused' }>;
export type Failed = Extract<Outcome, { kind: 'failed' }>;

interface Queue {
  readonly backlog: Pick<Backlog, 'settle'>;
  readonly aside: Pick<Aside, 'length' | 'calls'>;
}

interface EndingSettings {
  readonly report: (error: AnalyticsError) => void;
  readonly store: CallStore | undefined;
  readonly maxAttempts: number;
  readonly maxAgeMs: number;
}

export function createEndings(
  { backlog, aside }: Queue,
  { report: reportError, store, maxAttempts, maxAgeMs }: EndingSettings,
) {
  let sent = 0;
  let unsent = 0;
  /** While `onError` receives a call for which the queue is full. */
  let isRefusing = false;

  const report = (code: AnalyticsErrorCode, calls: readonly Call[], what: string, status?: number): void => {
    unsent += calls.length;
    const counted = calls.length === 1 ? '1 call' : `${calls.length} calls`;
    const texts = calls.map(({ json }) => json);
    reportError(new AnalyticsError(code, `${counted} ${what}`, { status, calls: texts }));
  };

  /** Reports each rejected call of the batch with its reason. */
  const reportRejected = (batch: readonly Call[], rejected: readonly Rejection[], status?: number): void => {
    for (const { index, reason } of rejected) {
      report('rejected', batch.slice(index, index + 1), `rejected: ${reason}`, status);
    }
  };

  const settle = (calls: readonly Call[]): void => {
    store?.settle(calls);
    if (aside.length > 0) store?.compact(aside.calls(), false);
    backlog.settle(calls);
  };

  const giveUp: typeof report = (code, calls, what, status) => {
    if (calls.length === 0) return;
    report(code, calls, what, status);
    settle(calls);
  };

  return {
    get counts() {
      return { sent, unsent };
    },
    /** The server has taken the batch, except those that it has rejected. */
    sent(batch: readonly Call[], rejected: readonly Rejection[], status?: number): void {
      sent += batch.length - rejected.length;
      reportRejected(batch, rejected, status);
      settle(batch);
    },
    refused(batch: readonly Call[], { reason, status, rejected = [] }: Refused): void {
      if (rejected.length < batch.length) report('refused', batch, `refused: ${reason}`, status);
      else reportRejected(batch, rejected, status);
      settle(batch);
    },
    giveUp,
    /** Ends the calls for which the failed attempt was the last, and returns the others. */
    giveUpOld(batch: readonly Call[], { reason, status }: Failed): readonly Call[] {
      for (const call of batch) call.attempts++;
      // The earlier a call was queued, the more attempts it has had.
      const oldest = performance.now() - maxAgeMs;
      const [exhausted, alive] = splitWhile(batch, ({ attempts }) => attempts >= maxAttempts);
      const [expired, left] = splitWhile(alive, ({ queuedAt }) => queuedAt <= oldest);
      giveUp('exhausted', exhausted, `given up after ${maxAttempts} attempts: ${reason}`, status);
      giveUp('expired', expired, `given up after ${Math.round(maxAgeMs / 1_000)} s: ${reason}`, status);
      return left;
    },
    /** After the deadline: ends the calls aside and the `queued` ones, except those that the store keeps. Returns how many it does. */
    giveUpAll(queued: readonly Call[]): number {
      const held = aside.calls();
      store?.compact(held, true);
      const left = held.concat(queued).sort((one, other) => one.number - other.number);
      const isKept = store?.close() ?? (() => false);
      const lost = left.filter((call) => !isKept(call));
      if (lost.length > 0) report('closed', lost, 'unsent when the client was closed');
      settle(left);
      return left.length - lost.length;
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

/** The calls from the first on for which `isTrue`, and the rest. */
function splitWhile(
  calls: readonly Call[],
  isTrue: (call: Call) => boolean,
): [readonly Call[], readonly Call[]] {
  const end = calls.findIndex((call) => !isTrue(call));
  return end === -1 ? [calls, []] : [calls.slice(0, end), calls.slice(end)];
}
