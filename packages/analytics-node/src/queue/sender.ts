/**
 * The loop that empties the queue: batch after batch, in order, one in flight. A call only appends to the queue.
 * Joining, writing and waiting happen after the call has returned.
 *
 * A due batch takes all queued calls, up to the limits of a batch. So a slow server gets larger batches, and the
 * queue stays short. A call that the server refuses with a 5xx while it takes others is set aside (refusal.ts).
 */
import { createAside, newRow, type AsideCall, type Row } from './aside.ts';
import { createBacklog } from './backlog.ts';
import { bytesOf, createBatches } from './batches.ts';
import type { CallStore } from './call-store.ts';
import { createEndings, type Failed, type Refused } from './endings.ts';
import type { Call } from '../core/encode.ts';
import type { AnalyticsError } from '../core/errors.ts';
import type { QueueLimits } from '../core/options.ts';
import type { Page } from '../core/platform.ts';
import type { Debug } from '../core/report.ts';
import { firstPart, nextPlaces, nextState, patienceAfter, suspicious } from './refusal.ts';
import { backoffMs } from './retry.ts';
import { nextTurn, pause } from './timing.ts';
import type { Outcome, Transport } from '../core/transport.ts';

export interface SenderSettings extends Limits {
  readonly report: (error: AnalyticsError) => void;
  readonly debug: Debug;
  /** Keeps the queued calls across restarts. */
  readonly store: CallStore | undefined;
  readonly page: Page | undefined;
}

/** The options of these names, with their defaults. */
type Limits = QueueLimits & Readonly<Record<'flushAt' | 'flushAfterMs' | 'maxAttempts' | 'maxAgeMs', number>>;

export type Sender = ReturnType<typeof createSender>;

/** While it has less in flight, a page that may end sends more. Browsers then send 64 KB at most. */
const maxLeavingBytes = 30_000;

/** After this many calls in a row that were refused alone, the rest of their batch is not tried. */
const maxRefusedAlone = 16;

/** From this failure in a row on, without a reason to wait, batches become smaller. */
const failuresUntilSmaller = 5;

export function createSender(transport: Transport, settings: SenderSettings) {
  const { flushAt, flushAfterMs, maxQueueSize, maxQueueBytes, debug, store, page } = settings;
  const { limits, timeoutMs } = transport;
  // With flushAt 1, each call is a separate request.
  const batchLimits = flushAt === 1 ? { ...limits, calls: 1 } : limits;
  const batches = createBatches(batchLimits);
  const stopped = new AbortController();

  const backlog = createBacklog({
    maxQueueSize,
    maxQueueBytes,
    freeBytes: () => store?.freeBytes ?? Infinity,
  });
  const aside = createAside({ limits: batchLimits, maxQueueSize, maxQueueBytes });
  const endings = createEndings({ backlog, aside }, settings);
  /** Calls up to this total are sent without waiting. */
  let due = 0;
  /** Failed attempts in a row. */
  let failures = 0;
  /** The batch that failed last: its first call, and how many it has. */
  let failed: { readonly first?: Call; readonly calls: number } = { calls: 0 };
  let patience = suspicious;
  /** Requests that the server has taken, and whether the last one for queued calls was one of them. */
  let taken = 0;
  let isAfterTaken = false;
  /** How far behind the first call the next probe is. */
  let probePlaces = 1;
  let refusedAlone = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asideTimer: ReturnType<typeof setTimeout> | undefined;
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
    clearTimeout(asideTimer);
    // Let the caller continue first.
    await nextTurn();
    while (!stopped.signal.aborted) {
      // While the server takes nothing, no attempt for a call aside says anything.
      const isDue = batches.first < due;
      const dueAside = failures === 0 || !isDue ? aside.takeDue() : [];
      if (dueAside.length > 0) await attemptAside(dueAside);
      else if (isDue) await attempt(batches.take());
      else break;
    }
    running = undefined;
    if (aside.length === 0 || stopped.signal.aborted) return;
    asideTimer = setTimeout(
      () => {
        running ??= run();
      },
      Math.ceil(aside.nextAt - performance.now()),
    );
  };

  const attempt = async (batch: readonly Call[], isLeaving = false): Promise<void> => {
    if (batches.length === 0) stopTimer();
    const isSplit = batches.isSplit && !isLeaving;
    const startedAt = performance.now();
    const outcome = await transport.send(batch, stopped.signal);
    if (outcome.kind === 'sent') {
      batches.succeeded((performance.now() - startedAt) / timeoutMs);
      if (batch[0] === failed.first && batch.length >= failed.calls) takenAfter(failures);
      accepted(batch, outcome);
    } else if (outcome.kind === 'refused') refused(batch, outcome);
    else if (stopped.signal.aborted) batches.putBack(batch);
    else await retry(batch, { ...outcome, isSplit, serverError: outcome.serverError === true && !isLeaving });
  };

  const attemptAside = async (entries: readonly AsideCall[], row: Row = newRow()): Promise<void> => {
    const calls = entries.map(({ call }) => call);
    const outcome = await transport.send(calls, stopped.signal);
    if (outcome.kind === 'sent') {
      aside.recovered();
      takenAfter(row.refusals);
      accepted(calls, outcome);
    } else if (outcome.kind === 'failed') await retryAside(entries, outcome, row);
    else if (calls.length > 1 && outcome.divisible) aside.narrow(entries);
    else refusedOutOfTurn(calls, outcome);
  };

  /** The server has taken what it had refused so often in a row: it fails whatever a request has. */
  const takenAfter = (refusals: number): void => {
    patience = patienceAfter(refusals, patience);
    batches.join();
  };

  /** Sends queued calls before it returns, beside a batch in flight: the page may end. */
  const leave = (): void => {
    if (batches.length === 0 || leavingBytes >= maxLeavingBytes || stopped.signal.aborted) return;
    const batch = batches.take(maxLeavingBytes - leavingBytes);
    const bytes = bytesOf(batch);
    leavingBytes += bytes;
    const attempted = attempt(batch, true).then(() => {
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
    taken++;
    isAfterTaken = true;
    probePlaces = 1;
    endings.sent(batch, rejected, status);
  };

  const refused = (batch: readonly Call[], outcome: Refused): void => {
    const { reason, status, divisible = false, rejected = [] } = outcome;
    failures = 0;
    isAfterTaken = false;
    if (rejected.length < batch.length && divisible && batch.length > 1) {
      debug?.(`divided ${batch.length} calls: ${reason}`);
      if (!batches.isDivided) refusedAlone = 0;
      batches.divide(batch);
      return;
    }
    refusedOutOfTurn(batch, outcome);
    if (rejected.length === batch.length) return;
    if (!batches.isDivided || ++refusedAlone < maxRefusedAlone) return;
    const why = `not sent, since ${maxRefusedAlone} calls in a row were refused: ${reason}`;
    endings.giveUp('refused', batches.takeDivided(), why, status);
  };

  /** Ends calls that were refused, whether they are the next ones or not. */
  const refusedOutOfTurn = (batch: readonly Call[], outcome: Refused): void => {
    failures = 0;
    endings.refused(batch, outcome);
  };

  /** Decides what becomes of the batch, and waits, except for calls for which this attempt was the last. */
  const retry = async (batch: readonly Call[], outcome: Failed & { readonly isSplit: boolean }) => {
    const { reason, status, afterMs = 0, slow = false, serverError, isSplit } = outcome;
    const afterTaken = isAfterTaken;
    isAfterTaken = false;
    failures++;
    const isUnexplained = afterMs === 0 && status !== 429 && !serverError;
    // Its size may be the cause.
    if (slow || (isUnexplained && failures >= failuresUntilSmaller)) batches.slower(batch);
    const left = endings.giveUpOld(batch, outcome);
    const [first] = left;
    if (!first) return;
    failed = { first, calls: left.length };
    const refused = {
      calls: left.length,
      failures,
      patience,
      isSplit,
      afterTaken,
      hasRoom: aside.hasRoom(first),
    };
    const state = serverError ? nextState({ state: 'sending', ...refused }) : 'waiting';
    debug?.(`attempt ${failures} for ${batch.length} calls: ${reason}; they are ${state}`);
    if (state === 'aside') {
      patience = suspicious;
      aside.add(first, taken);
      return;
    }
    if (state === 'waiting') batches.putBack(left);
    else batches.split(left, firstPart(left.length, failures));
    if (state === 'split' && afterTaken) return;
    const probed = state === 'probing' ? await probe() : undefined;
    if (failures > 0)
      await pause(backoffMs(failures, Math.max(afterMs, probed?.afterMs ?? 0)), stopped.signal);
  };

  /** Sends a call from behind the first one, which fails alone. Returns how it failed, if it did. */
  const probe = async (): Promise<Failed | undefined> => {
    const call = batches.takeBehind(probePlaces);
    if (!call) return undefined;
    probePlaces = probePlaces <= batches.length ? nextPlaces(probePlaces) : 1;
    const outcome = await transport.send([call], stopped.signal);
    if (outcome.kind === 'sent') accepted([call], outcome);
    else if (outcome.kind === 'refused') refusedOutOfTurn([call], outcome);
    else batches.putBehind(call);
    return outcome.kind === 'failed' ? outcome : undefined;
  };

  const retryAside = async (entries: readonly AsideCall[], outcome: Failed, row: Row): Promise<void> => {
    if (stopped.signal.aborted) {
      for (const entry of entries) aside.putBack(entry);
      return;
    }
    const left = entries.filter(({ call }) => endings.giveUpOld([call], outcome).length > 0);
    const [entry] = left;
    if (!entry) return;
    if (!outcome.serverError) {
      for (const one of left) aside.putBack(one);
      await pause(backoffMs(++failures, outcome.afterMs ?? 0), stopped.signal);
      return;
    }
    if (entries.length > 1) {
      aside.narrow(left);
      return;
    }
    const next = aside.refused(entry, taken, row);
    const now = performance.now();
    const state = nextState({
      state: 'aside',
      refusals: entry.refusals,
      forMs: now - entry.since,
      inARow: next.refusals,
      inARowMs: now - next.since,
      isCounted: next.isCounted,
    });
    if (state === 'insisting') {
      await attemptAside(left, next);
      return;
    }
    if (state === 'aside') {
      aside.putBack(entry);
      return;
    }
    const what = `refused ${entry.refusals} times alone, while others were taken: ${outcome.reason}`;
    endings.giveUp('refused', [entry.call], what, outcome.status);
  };

  const append = (call: Call): void => {
    batches.add(call);
    backlog.add(call);
    if (page?.isHidden()) queueMicrotask(leave);
    if (batches.length >= flushAt) makeDue();
    else timer ??= setTimeout(makeDue, flushAfterMs);
  };

  /** Resolves once all calls that were added before are sent or reported. */
  const flush = async (): Promise<void> => {
    if (backlog.settled < backlog.added) makeDue();
    await backlog.whenSettled();
  };

  for (const call of store?.load() ?? []) append(call);

  return {
    /** Returns false where the queue is full, and reports the call. */
    add(call: Call): boolean {
      if (!backlog.hasCapacity(1, call.bytes)) {
        // Waiting for more calls has no benefit now.
        makeDue();
        endings.queueFull(call);
        return false;
      }
      call.queuedAt = performance.now();
      store?.add(call);
      append(call);
      return true;
    },
    /** Resolves once the queue has capacity for a call. */
    ready: (): Promise<void> =>
      backlog.whenFree(
        () => stopped.signal.aborted,
        () => {
          if (backlog.settled < backlog.added) makeDue();
        },
      ),
    flush,
    leave,
    /**
     * Sends the queued calls until the deadline. The rest is reported, or kept by the store. Resolves with the number
     * of kept calls.
     */
    async close(deadlineMs: number): Promise<number> {
      let kept = 0;
      const deadline = setTimeout(() => {
        stopped.abort();
        clearTimeout(asideTimer);
        void Promise.all([running, ...leaving]).then(() => {
          kept = endings.giveUpAll(batches.takeAll());
        });
      }, deadlineMs);
      await flush();
      clearTimeout(deadline);
      store?.close();
      transport.close();
      return kept;
    },
    counts: () => ({ queued: backlog.added - backlog.settled, ...endings.counts }),
  };
}
