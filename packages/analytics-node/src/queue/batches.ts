/**
 * The queued calls, and how many of them the next batch takes.
 *
 * A batch that was refused is put back and divided: its halves become batches of their own. After a timeout, batches
 * become smaller, and grow again with success. Calls leave in order, except for one that is taken from behind another.
 */
import type { Call } from '../core/encode.ts';
import type { BatchLimits } from '../core/transport.ts';

/** A success within this share of the timeout doubles the size of batches. */
const fastShare = 0.5;
/** This many slower successes do too, so that a server that always takes long does not get small batches forever. */
const slowSuccesses = 4;

export type Batches = ReturnType<typeof createBatches>;

export function createBatches(limits: BatchLimits) {
  const queue: Call[] = [];
  /** The sizes of the parts of a divided batch, which lie at the front of the queue. */
  let parts: number[] = [];
  let isPart = false;
  let isSplit = false;
  let maxBytes = Infinity;
  let successes = 0;

  const sum = (): number => parts.reduce((total, part) => total + part, 0);

  const divide = (batch: readonly Call[], first = Math.floor(batch.length / 2)): void => {
    queue.unshift(...batch);
    parts = [first, batch.length - first, ...parts].filter((part) => part > 0);
  };

  /** A call is added to the part in which it has this index, or removed from it. */
  const resize = (index: number, by: 1 | -1): void => {
    let end = 0;
    const at = parts.findIndex((part) => index < (end += part));
    if (at !== -1) parts[at] = (parts[at] ?? 0) + by;
    parts = parts.filter((part) => part > 0);
  };

  return {
    /** The number of queued calls, without those that were taken. */
    get length() {
      return queue.length;
    },
    /** The number of the first one, or Infinity. */
    get first() {
      return queue[0]?.number ?? Infinity;
    },
    /** Whether parts of a divided batch are queued. */
    get isDivided() {
      return parts.length > 0;
    },
    /** Whether the batch that was taken last is a part of one that was split. */
    get isSplit() {
      return isSplit;
    },
    add(call: Call): void {
      queue.push(call);
    },
    /** The next batch: at least one call, if there is one, and no further calls beyond `mostBytes`. */
    take(mostBytes = Infinity): Call[] {
      const [part] = parts;
      isPart = part !== undefined;
      isSplit &&= isPart;
      const maxCalls = part ?? limits.calls;
      const count = fitting(queue, maxCalls, Math.min(limits.bytes, maxBytes, mostBytes));
      if (part !== undefined) {
        if (count === part) parts.shift();
        else parts[0] = part - count;
      }
      return queue.splice(0, count);
    },
    /** The batch will be taken again. */
    putBack(batch: readonly Call[]): void {
      queue.unshift(...batch);
      if (isPart && batch.length > 0) parts.unshift(batch.length);
    },
    /** The halves of the batch will be taken separately. */
    divide,
    /** The first calls of the batch, this many, and the rest of it will be taken separately. */
    split(batch: readonly Call[], first: number): void {
      divide(batch, first);
      isSplit = true;
    },
    /** The parts of a batch that was split will be taken together again. */
    join(): void {
      if (isSplit) parts = [];
      isSplit = false;
    },
    /** Takes one call, so many places behind the first one or the last one of all, if there is one. */
    takeBehind(places: number): Call | undefined {
      const index = Math.min(places, queue.length - 1);
      if (index < 1) return undefined;
      resize(index, -1);
      return queue.splice(index, 1)[0];
    },
    /** A call that was taken from behind returns to its place. */
    putBehind(call: Call): void {
      const index = queue.findIndex(({ number }) => number > call.number);
      if (index === -1) queue.push(call);
      else {
        resize(index, 1);
        queue.splice(index, 0, call);
      }
    },
    /** Takes all queued parts of the divided batch. */
    takeDivided(): Call[] {
      const calls = queue.splice(0, sum());
      parts = [];
      return calls;
    },
    takeAll(): Call[] {
      parts = [];
      return queue.splice(0);
    },
    /** An attempt for `batch` took too long: the next ones have half of its bytes. */
    slower(batch: readonly Call[]): void {
      successes = 0;
      if (batch.length > 1) maxBytes = Math.floor(bytesOf(batch) / 2);
    },
    /** An attempt succeeded, in a share of its timeout. Batches may become larger. */
    succeeded(shareOfTimeout: number): void {
      if (maxBytes === Infinity) return;
      if (shareOfTimeout >= fastShare && ++successes < slowSuccesses) return;
      successes = 0;
      maxBytes = maxBytes * 2 < limits.bytes ? maxBytes * 2 : Infinity;
    },
  };
}

/** How many of the first calls have at most so many bytes: at least one, if there is one. */
export function fitting(calls: readonly Call[], maxCalls: number, maxBytes: number): number {
  let bytes = 0;
  let count = 0;
  for (const call of calls) {
    bytes += call.bytes + 1;
    if (count === maxCalls || (count > 0 && bytes > maxBytes)) break;
    count++;
  }
  return count;
}

export function bytesOf(batch: readonly Call[]): number {
  return batch.reduce((bytes, call) => bytes + call.bytes + 1, 0);
}
