/**
 * The queue, and the one loop that empties it: batch after batch, in order, one in flight. A call only appends to the
 * queue; joining, writing and waiting happen after the caller has gone on.
 *
 * What is due goes with everything else that has gathered, up to a batch's limits. So a slow server gets larger batches
 * instead of a longer queue.
 */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Debug } from './debug.ts';
import { maxCallBytes, type Call } from './encode.ts';
import { AnalyticsError, type AnalyticsErrorCode } from './errors.ts';
import { backoffMs } from './retry.ts';
import type { Transport } from './transport.ts';

export interface SenderSettings {
  /** Calls that make a batch due. */
  readonly flushAt: number;
  /** How long a call waits for company. */
  readonly flushAfterMs: number;
  /** Calls, those in flight included. */
  readonly maxQueueSize: number;
  /** Bytes of their JSON. */
  readonly maxQueueBytes: number;
  /** Of one batch. */
  readonly maxAttempts: number;
  readonly report: (error: AnalyticsError) => void;
  readonly debug: Debug;
}

export interface Sender {
  /** False, and reported, where the queue is full. */
  readonly add: (call: Call) => boolean;
  /** Resolves once there is room in the queue. */
  readonly ready: () => Promise<void>;
  /** Resolves once all that was added before is sent or reported. */
  readonly flush: () => Promise<void>;
  /** Sends the rest until the deadline; resolves with how many calls are not sent, which are reported. */
  readonly close: (deadlineMs: number) => Promise<number>;
}

interface Waiter {
  /** Resolved once this many calls are settled. */
  readonly settled: number;
  readonly resolve: () => void;
}

export function createSender(transport: Transport, settings: SenderSettings): Sender {
  const { flushAt, flushAfterMs, maxQueueSize, maxQueueBytes, maxAttempts, report, debug } = settings;
  // Where each call is due at once, none travels with others either.
  const maxBatchCalls = flushAt === 1 ? 1 : transport.limits.calls;
  const stopped = new AbortController();

  const queue: Call[] = [];
  /** Calls are counted as they come; of those in the queue and in flight, `settled` to `added`. */
  let added = 0;
  let taken = 0;
  let settled = 0;
  let heldBytes = 0;
  /** So many of all calls are to be sent without further waiting. */
  let due = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let flushes: Waiter[] = [];
  let waitingForRoom: (() => void)[] = [];

  /** Room that was promised in this turn of the event loop, and may not have been used yet. */
  let promised = 0;
  let untilNextTurn: NodeJS.Immediate | undefined;

  const hasRoom = (count: number, bytes: number): boolean =>
    added - settled + count <= maxQueueSize && heldBytes + bytes <= maxQueueBytes;

  const promiseRoom = (): void => {
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
    // The caller goes on first.
    await nextTurn();
    while (taken < due && !stopped.signal.aborted) {
      const batch = take();
      if (await deliver(batch)) settle(batch);
      else queue.unshift(...batch);
    }
    running = undefined;
  };

  const take = (): Call[] => {
    let bytes = 0;
    let count = 0;
    for (const call of queue) {
      bytes += call.bytes + 1;
      if (count === maxBatchCalls || (count > 0 && bytes > transport.limits.bytes)) break;
      count++;
    }
    taken += count;
    const batch = queue.splice(0, count);
    if (queue.length === 0) stopTimer();
    return batch;
  };

  /** False where the deadline came first; else the batch is sent, or reported. */
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
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it may have been meanwhile
      if (stopped.signal.aborted) return false;
    }
  };

  const settle = (calls: readonly Call[]): void => {
    settled += calls.length;
    for (const { bytes } of calls) heldBytes -= bytes;
    const reached = flushes.filter((flush) => flush.settled <= settled);
    flushes = flushes.filter((flush) => flush.settled > settled);
    for (const { resolve } of reached) resolve();
    const waiting = waitingForRoom;
    waitingForRoom = [];
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

  /** After the deadline: reports what is left, so that whoever waits for it goes on. */
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
      if (!hasRoom(1, call.bytes)) {
        // Nothing is gained by waiting for more.
        makeDue();
        reportUnsent('queue-full', [call], 'not taken: the queue is full');
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
      // Many may wait, each with the largest call there can be; what one is promised is not promised to another.
      while (!hasRoom(promised + 1, (promised + 1) * maxCallBytes) && !stopped.signal.aborted) {
        if (taken < added) makeDue();
        await new Promise<void>((resolve) => waitingForRoom.push(resolve));
      }
      promiseRoom();
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
