/**
 * The calls that the server refuses while it takes others. Each waits for its own next attempt, so that it holds up
 * nothing behind it. They are still queued calls: at most half of the queue is aside.
 */
import type { Call } from '../core/encode.ts';
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

export interface Aside {
  readonly length: number;
  /** When the next attempt may be made, or Infinity. */
  readonly nextAt: number;
  hasRoom(call: Call): boolean;
  /** `taken` is the number of requests that were taken before. */
  add(call: Call, taken: number): void;
  /** The call whose attempt is due, which is not aside any more, if any. */
  takeDue(): AsideCall | undefined;
  /** A call aside was taken: the server may have recovered, so all others are due. */
  recovered(): void;
  /** The call waits for another attempt. */
  putBack(aside: AsideCall): void;
  calls(): Call[];
}

export interface AsideLimits {
  readonly maxQueueSize: number;
  readonly maxQueueBytes: number;
}

/** The shortest time between two attempts for calls aside, so that many of them do not burden the server. */
const paceMs = 1_000;

export function createAside({ maxQueueSize, maxQueueBytes }: AsideLimits): Aside {
  const waiting: AsideCall[] = [];
  let bytes = 0;
  let attemptedAt = -Infinity;
  let nextAt = Infinity;

  const update = (): void => {
    const dueAt = waiting.reduce((earliest, aside) => Math.min(earliest, aside.dueAt), Infinity);
    nextAt = Math.max(dueAt, attemptedAt + paceMs);
  };
  const putBack = (aside: AsideCall): void => {
    aside.attempts++;
    aside.dueAt = performance.now() + asideMs(aside.attempts);
    waiting.push(aside);
    bytes += aside.call.bytes;
    update();
  };
  return {
    get length() {
      return waiting.length;
    },
    get nextAt() {
      return nextAt;
    },
    hasRoom: (call) => (waiting.length + 1) * 2 <= maxQueueSize && (bytes + call.bytes) * 2 <= maxQueueBytes,
    add(call, taken) {
      const since = performance.now();
      putBack({ call, since, refusals: 0, takenBefore: taken, attempts: 0, dueAt: 0 });
    },
    takeDue() {
      if (performance.now() < nextAt) return undefined;
      const index = waiting.findIndex(({ dueAt }) => dueAt <= nextAt);
      const [aside] = waiting.splice(index, 1);
      bytes -= aside?.call.bytes ?? 0;
      attemptedAt = performance.now();
      update();
      return aside;
    },
    recovered() {
      for (const aside of waiting) aside.dueAt = performance.now();
      attemptedAt = -Infinity;
      update();
    },
    putBack,
    calls: () => waiting.map(({ call }) => call),
  };
}
