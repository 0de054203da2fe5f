/**
 * The queue, and the loop that empties it: batch after batch, in order, one in flight. A call only appends to the
 * queue. Joining, writing and waiting happen after the call has returned.
 *
 * A due batch takes all queued calls, up to the limits of a batch. So a slow server gets larger batches, and the
 * queue stays short.
 */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { maxCallBytes, type Call } from './encode.ts';
import { AnalyticsError, type AnalyticsErrorCode } from './errors.ts';
import type { Debug } from './report.ts';
import { backoffMs } from './retry.ts';
import type { Transport } from './transport.ts';

export interface SenderSettings {
  /** The number of queued calls that makes a batch due. */
  readonly flushAt: number;
  /** The longest time that a call waits for others. */
  readonly flushAfterMs: number;
  /** Limit in calls, including calls in flight. */
  readonly maxQueueSize: number;
  /** Limit in bytes of JSON. */
  readonly maxQueueBytes: number;
  /** Attempts for one batch. */
  readonly maxAttempts: number;
  readonly report: (error: AnalyticsError) => void;
  readonly debug: Debug;
}

export interface Sender {
  /** Returns false where the queue is full, and reports the call. */
  readonly add: (call: Call) => boolean;
  /** Resolves once the queue has capacity for a call. */
  readonly ready: () => Promise<void>;
  /** Resolves once all calls that were added before are sent or reported. */
  readonly flush: () => Promise<void>;
  /** Sends the queued calls until the deadline. Resolves with the number of unsent calls, which are reported. */
  readonly close: (deadlineMs: number) => Promise<number>;
}

interface Waiter {
  /** Resolved once this many calls are settled. */
  readonly settled: number;
  readonly resolve: () => void;
}

export function createSender(transport: Transport, settings: SenderSettings): Sender {
  const { flushAt, flushAfterMs, maxQueueSize, maxQueueBytes, maxAttempts, report, debug } = settings;
  // With flushAt 1, each call is a separate request.
  const maxBatchCalls = flushAt === 1 ? 1 : transport.limits.calls;
  const stopped = new AbortController();

  const queue: Call[] = [];
  /** Running totals of calls. Calls from `settled` to `added` are in the queue or in flight. */
  let added = 0;
  let dequeued = 0;
  let settled = 0;
  let heldBytes = 0;
  /** Calls up to this total are sent without waiting. */
  let due = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let flushes: Waiter[] = [];
  let waitingForCapacity: (() => void)[] = [];

  /** Capacity that `ready` promised in this turn of the event loop, and that may still be unused. */
  let promised = 0;
  let untilNextTurn: NodeJS.Immediate | undefined;

  const hasCapacity = (count: number, bytes: number): boolean =>
    added - settled + count <= maxQueueSize && heldBytes + bytes <= maxQueueBytes;

  const promiseCapacity = (): void => {
    promised++;
    untilNextTurn ??= setImmediate(() => {
      promised = 0;
      untilNextTurn = undefined;
    });
  };

  const stopTimer = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };

  const makeDue = (): void => {
    due = added;
    stopTimer();
    running ??= run();
  };

  const run = async (): Promise<void> => {
    // Let the caller continue first.
    await nextTurn();
    while (dequeued < due && !stopped.signal.aborted) {
      const batch = dequeue();
      if (await deliver(batch)) settle(batch);
      else queue.unshift(...batch);
    }
    running = undefined;
  };

  const dequeue = (): Call[] => {
    let bytes = 0;
    let count = 0;
    for (const call of queue) {
      bytes += call.bytes + 1;
      if (count === maxBatchCalls || (count > 0 && bytes > transport.limits.bytes)) break;
      count++;
    }
    dequeued += count;
    const batch = queue.splice(0, count);
    if (queue.length === 0) stopTimer();
    return batch;
  };

  /** Returns false where the deadline of `close` passed. Otherwise the batch is sent or reported. */
  const deliver = async (batch: readonly Call[]): Promise<boolean> => {
    for (let attempt = 1; ; attempt++) {
      const outcome = await transport.send(batch, stopped.signal);
      const { status } = outcome;
      if (outcome.kind === 'sent') {
        debug?.(`sent ${batch.length} calls`);
        for (const { index, reason } of outcome.rejected) {
          reportUnsent('rejected', batch.slice(index, index + 1), `set aside: ${reason}`, status);
        }
        return true;
      }
      const { reason } = outcome;
      if (outcome.kind === 'refused') {
        reportUnsent('refused', batch, `refused: ${reason}`, status);
        return true;
      }
      if (stopped.signal.aborted) return false;
      if (attempt === maxAttempts) {
        reportUnsent('exhausted', batch, `given up after ${attempt} attempts: ${reason}`, status);
        return true;
      }
      const waitMs = Math.round(backoffMs(attempt, outcome.afterMs));
      debug?.(`attempt ${attempt} for ${batch.length} calls: ${reason}; the next in ${waitMs} ms`);
      await wait(waitMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it may have changed during the wait
      if (stopped.signal.aborted) return false;
    }
  };

  const settle = (calls: readonly Call[]): void => {
    settled += calls.length;
    for (const { bytes } of calls) heldBytes -= bytes;
    const reached = flushes.filter((flush) => flush.settled <= settled);
    flushes = flushes.filter((flush) => flush.settled > settled);
    for (const { resolve } of reached) resolve();
    const waiting = waitingForCapacity;
    waitingForCapacity = [];
    for (const resolve of waiting) resolve();
  };

  const reportUnsent = (
    code: AnalyticsErrorCode,
    calls: readonly Call[],
    what: string,
    status?: number,
  ): void => {
    const count = calls.length === 1 ? '1 call' : `${calls.length} calls`;
    const texts = calls.map(({ json }) => json);
    report(new AnalyticsError(code, `${count} ${what}`, { status, calls: texts }));
  };

  /** After the deadline: reports the remaining calls, which also resolves pending flushes. */
  const giveUp = (): number => {
    const left = queue.splice(0);
    if (left.length > 0) reportUnsent('closed', left, 'unsent when the client was closed');
    settle(left);
    return left.length;
  };

  const flush = async (): Promise<void> => {
    if (settled === added) return;
    makeDue();
    await new Promise<void>((resolve) => flushes.push({ settled: added, resolve }));
  };

  return {
    add(call) {
      if (!hasCapacity(1, call.bytes)) {
        // Waiting for more calls has no benefit now.
        makeDue();
        reportUnsent('queue-full', [call], 'not dequeued: the queue is full');
        return false;
      }
      queue.push(call);
      heldBytes += call.bytes;
      added++;
      if (promised > 0) promised--;
      if (queue.length >= flushAt) makeDue();
      else timer ??= setTimeout(makeDue, flushAfterMs);
      return true;
    },
    async ready() {
      // Several callers may wait, each with a call of the maximum size. Capacity is promised to one caller only.
      while (!hasCapacity(promised + 1, (promised + 1) * maxCallBytes) && !stopped.signal.aborted) {
        if (dequeued < added) makeDue();
        await new Promise<void>((resolve) => waitingForCapacity.push(resolve));
      }
      promiseCapacity();
    },
    flush,
    async close(deadlineMs) {
      let unsent = 0;
      const deadline = setTimeout(() => {
        stopped.abort();
        void Promise.resolve(running).then(() => {
          unsent = giveUp();
        });
      }, deadlineMs);
      await flush();
      clearTimeout(deadline);
      transport.close();
      return unsent;
    },
  };
}
