/**
 * The loop that empties the queue: batch after batch, in order, one in flight. A call only appends to the queue.
 * Joining, writing and waiting happen after the call has returned.
 *
 * A due batch takes all queued calls, up to the limits of a batch. So a slow server gets larger batches, and the
 * queue stays short.
 */
import { createBacklog } from './backlog.ts';
import { bytesOf, createBatches } from './batches.ts';
import type { CallStore } from './call-store.ts';
import type { Call } from '../core/encode.ts';
import { AnalyticsError, type AnalyticsErrorCode } from '../core/errors.ts';
import type { Page } from '../core/platform.ts';
import type { Debug } from '../core/report.ts';
import { backoffMs } from './retry.ts';
import { nextTurn, pause } from './timing.ts';
import type { Outcome, Rejection, Transport } from '../core/transport.ts';

export interface SenderSettings {
  /** The number of queued calls that makes a batch due. */
  readonly flushAt: number;
  /** The longest time that a call waits for others. */
  readonly flushAfterMs: number;
  /** Limit in calls, including calls in flight. */
  readonly maxQueueSize: number;
  /** Limit in bytes of JSON. */
  readonly maxQueueBytes: number;
  /** Attempts for one call. */
  readonly maxAttempts: number;
  /** The age of a call at which a failed attempt is its last. */
  readonly maxAgeMs: number;
  readonly report: (error: AnalyticsError) => void;
  readonly debug: Debug;
  /** Keeps the queued calls across restarts. */
  readonly store: CallStore | undefined;
  readonly page: Page | undefined;
}

export interface SenderCounts {
  /** Calls in the queue and in flight. */
  readonly queued: number;
  /** Calls that the server has accepted. */
  readonly sent: number;
  /** Calls that were reported to `onError`, including those for which the queue was full. */
  readonly unsent: number;
}

export interface Sender {
  /** Returns false where the queue is full, and reports the call. */
  readonly add: (call: Call) => boolean;
  /** Resolves once the queue has capacity for a call. */
  readonly ready: () => Promise<void>;
  /** Resolves once all calls that were added before are sent or reported. */
  readonly flush: () => Promise<void>;
  /** Sends queued calls before it returns, beside a batch in flight: the page may end. */
  readonly leave: () => void;
  /**
   * Sends the queued calls until the deadline. The rest is reported, or kept by the store. Resolves with the number
   * of kept calls.
   */
  readonly close: (deadlineMs: number) => Promise<number>;
  readonly counts: () => SenderCounts;
}

/** While it has less in flight, a page that may end sends more. Browsers then send 64 KB at most. */
const maxLeavingBytes = 30_000;

/** After this many calls in a row that were refused alone, the rest of their batch is not tried. */
const maxRefusedAlone = 16;

/** From this failure in a row on, without a reason to wait, batches become smaller. */
const failuresUntilSmaller = 5;

export function createSender(transport: Transport, settings: SenderSettings): Sender {
  const { flushAt, flushAfterMs, maxAttempts, maxAgeMs, debug, store, page } = settings;
  const { maxQueueSize, maxQueueBytes } = settings;
  const { limits, timeoutMs } = transport;
  // With flushAt 1, each call is a separate request.
  const batches = createBatches(flushAt === 1 ? { ...limits, calls: 1 } : limits);
  const stopped = new AbortController();

  const backlog = createBacklog({
    ...{ maxQueueSize, maxQueueBytes },
    freeBytes: () => store?.freeBytes ?? Infinity,
  });
  let sent = 0;
  let unsent = 0;
  /** Calls up to this total are sent without waiting. */
  let due = 0;
  /** Failed attempts in a row. */
  let failures = 0;
  let refusedAlone = 0;
  /** While `onError` receives a call for which the queue is full. */
  let isRefusing = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;
  const leaving = new Set<Promise<void>>();
  let leavingBytes = 0;

  const stopTimer = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };

  const makeDue = (): void => {
    due = backlog.added;
    stopTimer();
    running ??= run();
  };

  const run = async (): Promise<void> => {
    // Let the caller continue first.
    await nextTurn();
    while (backlog.settled < due && !stopped.signal.aborted) {
      if (batches.length > 0) await attempt(batches.take());
      else await Promise.all(leaving);
    }
    running = undefined;
  };

  const attempt = async (batch: readonly Call[]): Promise<void> => {
    if (batches.length === 0) stopTimer();
    const startedAt = performance.now();
    const outcome = await transport.send(batch, stopped.signal);
    if (outcome.kind === 'sent') {
      batches.succeeded((performance.now() - startedAt) / timeoutMs);
      accepted(batch, outcome);
    } else if (outcome.kind === 'refused') refused(batch, outcome);
    else await retry(batch, outcome);
  };

  const leave = (): void => {
    if (batches.length === 0 || leavingBytes >= maxLeavingBytes || stopped.signal.aborted) return;
    const batch = batches.take(maxLeavingBytes - leavingBytes);
    const bytes = bytesOf(batch);
    leavingBytes += bytes;
    const attempted = attempt(batch).then(() => {
      leavingBytes -= bytes;
      leaving.delete(attempted);
      if (batches.length > 0) makeDue();
    });
    leaving.add(attempted);
  };

  const accepted = (
    batch: readonly Call[],
    { rejected, status }: Extract<Outcome, { kind: 'sent' }>,
  ): void => {
    debug?.(`sent ${batch.length} calls`);
    failures = 0;
    refusedAlone = 0;
    sent += batch.length - rejected.length;
    reportRejected(batch, rejected, status);
    settle(batch);
  };

  const refused = (batch: readonly Call[], outcome: Extract<Outcome, { kind: 'refused' }>): void => {
    const { reason, status, divisible = false, rejected = [] } = outcome;
    failures = 0;
    if (rejected.length === batch.length) {
      reportRejected(batch, rejected, status);
      settle(batch);
      return;
    }
    if (divisible && batch.length > 1) {
      debug?.(`divided ${batch.length} calls: ${reason}`);
      if (!batches.isDivided) refusedAlone = 0;
      batches.divide(batch);
      return;
    }
    reportUnsent('refused', batch, `refused: ${reason}`, status);
    settle(batch);
    if (!batches.isDivided || ++refusedAlone < maxRefusedAlone) return;
    const rest = batches.takeDivided();
    reportUnsent(
      'refused',
      rest,
      `not sent, since ${maxRefusedAlone} calls in a row were refused: ${reason}`,
      status,
    );
    settle(rest);
  };

  /** Puts the batch back and waits, except for calls for which this attempt was the last. */
  const retry = async (
    batch: readonly Call[],
    outcome: Extract<Outcome, { kind: 'failed' }>,
  ): Promise<void> => {
    const { reason, status, afterMs = 0, slow = false } = outcome;
    if (stopped.signal.aborted) {
      batches.putBack(batch);
      return;
    }
    failures++;
    // One of its calls may make the server fail, or its size.
    const isUnexplained = afterMs === 0 && status !== 429;
    if (slow || (isUnexplained && failures >= failuresUntilSmaller)) batches.slower(batch);
    for (const call of batch) call.attempts++;
    // The earlier a call was queued, the more attempts it has had.
    const oldest = performance.now() - maxAgeMs;
    const [exhausted, alive] = splitWhile(batch, ({ attempts }) => attempts >= maxAttempts);
    const [expired, left] = splitWhile(alive, ({ queuedAt }) => queuedAt <= oldest);
    batches.putBack(left);
    if (exhausted.length > 0) {
      reportUnsent('exhausted', exhausted, `given up after ${maxAttempts} attempts: ${reason}`, status);
      settle(exhausted);
    }
    if (expired.length > 0) {
      reportUnsent('expired', expired, `given up after ${Math.round(maxAgeMs / 1_000)} s: ${reason}`, status);
      settle(expired);
    }
    if (left.length === 0) return;
    const waitMs = Math.round(backoffMs(failures, afterMs));
    debug?.(`attempt ${failures} for ${batch.length} calls: ${reason}; the next in ${waitMs} ms`);
    await pause(waitMs, stopped.signal);
  };

  const settle = (calls: readonly Call[]): void => {
    store?.settle(calls.length);
    backlog.settle(calls);
  };

  const reportUnsent = (
    code: AnalyticsErrorCode,
    calls: readonly Call[],
    what: string,
    status?: number,
  ): void => {
    unsent += calls.length;
    const count = calls.length === 1 ? '1 call' : `${calls.length} calls`;
    const texts = calls.map(({ json }) => json);
    settings.report(new AnalyticsError(code, `${count} ${what}`, { status, calls: texts }));
  };

  const reportRejected = (batch: readonly Call[], rejected: readonly Rejection[], status?: number): void => {
    for (const { index, reason } of rejected) {
      reportUnsent('rejected', batch.slice(index, index + 1), `rejected: ${reason}`, status);
    }
  };

  const refuseCall = (call: Call): void => {
    const what = 'not queued: the queue is full';
    // Reported in turn, the calls of onError would never end.
    if (isRefusing) throw new AnalyticsError('queue-full', `1 call ${what}`, { calls: [call.json] });
    isRefusing = true;
    reportUnsent('queue-full', [call], what);
    isRefusing = false;
  };

  const append = (call: Call): void => {
    batches.add(call);
    backlog.add(call);
    if (page?.isHidden()) queueMicrotask(leave);
    if (batches.length >= flushAt) makeDue();
    else timer ??= setTimeout(makeDue, flushAfterMs);
  };

  const flush = async (): Promise<void> => {
    if (backlog.settled < backlog.added) makeDue();
    await backlog.whenSettled();
  };

  /** After the deadline: reports the remaining calls, which also resolves pending flushes. */
  const giveUp = (): number => {
    const left = batches.takeAll();
    const isKept = store?.close() ?? (() => false);
    const lost = left.filter((_, index) => !isKept(index));
    if (lost.length > 0) reportUnsent('closed', lost, 'unsent when the client was closed');
    settle(left);
    return left.length - lost.length;
  };

  for (const call of store?.load() ?? []) append(call);

  return {
    add(call) {
      if (!backlog.hasCapacity(1, call.bytes)) {
        // Waiting for more calls has no benefit now.
        makeDue();
        refuseCall(call);
        return false;
      }
      call.queuedAt = performance.now();
      store?.add(call.json);
      append(call);
      return true;
    },
    ready: () =>
      backlog.whenFree(
        () => stopped.signal.aborted,
        () => {
          if (backlog.settled < backlog.added) makeDue();
        },
      ),
    flush,
    leave,
    async close(deadlineMs) {
      let kept = 0;
      const deadline = setTimeout(() => {
        stopped.abort();
        void Promise.all([running, ...leaving]).then(() => {
          kept = giveUp();
        });
      }, deadlineMs);
      await flush();
      clearTimeout(deadline);
      store?.close();
      transport.close();
      return kept;
    },
    counts: () => ({ queued: backlog.added - backlog.settled, sent, unsent }),
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
