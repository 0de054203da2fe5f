/**
 * The calls that the server refuses while it takes others. Each waits for its own next attempt, so that it holds up
 * nothing behind it. They are still queued calls: at most half of the queue is aside.
 *
 * Where the server fails at random, good calls are here too, and more may come than leave one by one. So after one was
 * taken, the others are tried together, and then in parts that are half as large after each failure.
 */
import { fitting } from './batches.ts';
import type { Call } from '../core/encode.ts';
import type { QueueLimits } from '../core/options.ts';
import type { BatchLimits } from '../core/transport.ts';
import { asideMs } from './retry.ts';

export interface AsideCall {
  readonly call: Call;
  /** When it was set aside. */
  readonly since: number;
  /** Refusals alone, with another request taken before each. */
  refusals: number;
  /** The requests that were taken before its last refusal. */
  takenBefore: number;
  attempts: number;
  dueAt: number;
}

/** Requests in a row for the same call aside. */
export interface Row {
  readonly since: number;
  readonly refusals: number;
  /** Whether the first of them is one of the refusals of the call. */
  readonly isCounted: boolean;
}

export const newRow = (): Row => ({ since: performance.now(), refusals: 0, isCounted: false });

interface AsideLimits extends QueueLimits {
  /** Of one request. */
  readonly limits: BatchLimits;
}

/**
 * The shortest time after an attempt for calls aside, so that many of them do not burden the server, and others are sent in
 * between however long the attempts take.
 */
const paceMs = 1_000;

export type Aside = ReturnType<typeof createAside>;

export function createAside({ limits, maxQueueSize, maxQueueBytes }: AsideLimits) {
  let waiting: AsideCall[] = [];
  let bytes = 0;
  /** How many calls are tried together. */
  let together = 1;
  let attemptedAt = -Infinity;
  let nextAt = Infinity;

  const update = (): void => {
    const dueAt = waiting.reduce((earliest, aside) => Math.min(earliest, aside.dueAt), Infinity);
    nextAt = Math.max(dueAt, attemptedAt + paceMs);
  };
  const keep = (aside: AsideCall): void => {
    waiting.push(aside);
    bytes += aside.call.bytes;
    update();
  };
  const delay = (aside: AsideCall): void => {
    aside.attempts++;
    aside.dueAt = performance.now() + asideMs(aside.attempts);
    keep(aside);
  };
  return {
    get length() {
      return waiting.length;
    },
    /** When the next attempt may be made, or Infinity. */
    get nextAt() {
      return nextAt;
    },
    hasRoom: (call: Call): boolean =>
      (waiting.length + 1) * 2 <= maxQueueSize && (bytes + call.bytes) * 2 <= maxQueueBytes,
    /** @param taken the number of requests that were taken before */
    add(call: Call, taken: number): void {
      const since = performance.now();
      delay({ call, since, refusals: 0, takenBefore: taken, attempts: 0, dueAt: 0 });
    },
    /** The calls for the attempt that is due, which are not aside any more: none, one, or some after `recovered`. */
    takeDue(): AsideCall[] {
      const now = performance.now();
      if (now < nextAt) return [];
      const due = waiting.filter(({ dueAt }) => dueAt <= now);
      const calls = due.map(({ call }) => call);
      const taken = due.slice(0, fitting(calls, Math.min(together, limits.calls), limits.bytes));
      waiting = waiting.filter((aside) => !taken.includes(aside));
      for (const { call } of taken) bytes -= call.bytes;
      attemptedAt = now;
      update();
      return taken;
    },
    /** Calls aside were taken: the server may have recovered, so all others are due, together. */
    recovered(): void {
      for (const aside of waiting) aside.dueAt = performance.now();
      attemptedAt = -Infinity;
      together = Infinity;
      update();
    },
    /** The call waits for another attempt. */
    putBack(aside: AsideCall): void {
      attemptedAt = performance.now();
      delay(aside);
    },
    /** The calls failed together: the next attempt has half as many. */
    narrow(failed: readonly AsideCall[]): void {
      attemptedAt = performance.now();
      together = Math.ceil(failed.length / 2);
      for (const aside of failed) keep(aside);
    },
    /** The call was refused alone. Returns its row with this refusal. */
    refused(aside: AsideCall, taken: number, row: Row): Row {
      const isFirst = row.refusals === 0;
      const isCounted = isFirst ? taken > aside.takenBefore : row.isCounted;
      if (isFirst && isCounted) aside.refusals++;
      aside.takenBefore = taken;
      return { since: row.since, refusals: row.refusals + 1, isCounted };
    },
    calls: (): Call[] => waiting.map(({ call }) => call),
  };
}
