/**
 * The queued calls, and how many of them the next batch takes.
 *
 * A batch that was refused is put back and divided: its halves become batches of their own. After a timeout, batches
 * become smaller, and grow again with success. Calls always leave in order.
 */
import type { Call } from '../core/encode.ts';
import type { BatchLimits } from '../core/transport.ts';

export interface Batches {
  /** The number of queued calls, without those that were taken. */
  readonly length: number;
  add(call: Call): void;
  /** The next batch: at least one call, if there is one, and no further calls beyond `mostBytes`. */
  take(mostBytes?: number): Call[];
  /** The batch will be taken again. */
  putBack(batch: readonly Call[]): void;
  /** The halves of the batch will be taken separately. */
  divide(batch: readonly Call[]): void;
  /** Whether parts of a divided batch are queued. */
  readonly isDivided: boolean;
  /** Takes all queued parts of the divided batch. */
  takeDivided(): Call[];
  /** Takes all calls. */
  takeAll(): Call[];
  /** An attempt for `batch` took too long: the next ones have half of its bytes. */
  slower(batch: readonly Call[]): void;
  /** An attempt succeeded, in a share of its timeout. Batches may become larger. */
  succeeded(shareOfTimeout: number): void;
}

/** A success within this share of the timeout doubles the size of batches. */
const fastShare = 0.5;
/** This many slower successes do too, so that a server that always takes long does not get small batches forever. */
const slowSuccesses = 4;

export function createBatches(limits: BatchLimits): Batches {
  const queue: Call[] = [];
  /** The sizes of the parts of a divided batch, which lie at the front of the queue. */
  let parts: number[] = [];
  let isPart = false;
  let maxBytes = Infinity;
  let successes = 0;

  const sum = (): number => parts.reduce((total, part) => total + part, 0);

  return {
    get length() {
      return queue.length;
    },
    get isDivided() {
      return parts.length > 0;
    },
    add(call) {
      queue.push(call);
    },
    take(mostBytes = Infinity) {
      const [part] = parts;
      isPart = part !== undefined;
      const maxCalls = part ?? limits.calls;
      const limit = Math.min(limits.bytes, maxBytes, mostBytes);
      let bytes = 0;
      let count = 0;
      for (const call of queue) {
        bytes += call.bytes + 1;
        if (count === maxCalls || (count > 0 && bytes > limit)) break;
        count++;
      }
      if (part !== undefined) {
        if (count === part) parts.shift();
        else parts[0] = part - count;
      }
      return queue.splice(0, count);
    },
    putBack(batch) {
      queue.unshift(...batch);
      if (isPart && batch.length > 0) parts.unshift(batch.length);
    },
    divide(batch) {
      const half = Math.floor(batch.length / 2);
      queue.unshift(...batch);
      parts.unshift(half, batch.length - half);
    },
    takeDivided() {
      const calls = queue.splice(0, sum());
      parts = [];
      return calls;
    },
    takeAll() {
      parts = [];
      return queue.splice(0);
    },
    slower(batch) {
      successes = 0;
      if (batch.length > 1) maxBytes = Math.floor(bytesOf(batch) / 2);
    },
    succeeded(shareOfTimeout) {
      if (maxBytes === Infinity) return;
      if (shareOfTimeout >= fastShare && ++successes < slowSuccesses) return;
      successes = 0;
      maxBytes = maxBytes * 2 < limits.bytes ? maxBytes * 2 : Infinity;
    },
  };
}

export function bytesOf(batch: readonly Call[]): number {
  return batch.reduce((bytes, call) => bytes + call.bytes + 1, 0);
}
