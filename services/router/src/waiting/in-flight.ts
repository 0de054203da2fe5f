/** Limits how many records of `events.waiting` are in flight: processed, and not yet acknowledged. */
import type { ConsumedRecord, Work } from '@tailrace/kafka';

const limits = { records: 1_000, bytes: 4 * 2 ** 20 };

export interface TrackedWork extends Work {
  /** Ends the tracking of work that is not in flight after all. */
  release(): void;
}

export interface InFlight {
  readonly records: number;
  /** Whether nothing more may be in flight: the limits are reached, or new work is held. */
  readonly isFull: boolean;
  /** While new work is held, nothing more may be in flight. */
  hold(held: boolean): void;
  /** Returns the same work, in flight until it is done or released. */
  track(work: Work, record: Pick<ConsumedRecord, 'key' | 'value'>): TrackedWork;
  /** Resolves when `isFull` is false. */
  untilNotFull(): Promise<void>;
  /** From now on `isFull` is false. */
  unlimit(): void;
}

export function createInFlight(): InFlight {
  let records = 0;
  let bytes = 0;
  let limited = true;
  let isHeld = false;
  let space: PromiseWithResolvers<void> | undefined;
  const isFull = (): boolean => limited && (isHeld || records >= limits.records || bytes >= limits.bytes);
  const wake = (): void => {
    if (isFull()) return;
    space?.resolve();
    space = undefined;
  };

  return {
    get records() {
      return records;
    },
    get isFull() {
      return isFull();
    },
    hold(held) {
      isHeld = held;
      wake();
    },
    track(work, { key, value }) {
      const size = (key?.length ?? 0) + (value?.length ?? 0);
      let released = false;
      records += 1;
      bytes += size;
      const release = (): void => {
        if (released) return;
        released = true;
        records -= 1;
        bytes -= size;
        wake();
      };
      const { topic, partition, offset, timestamp } = work;
      return {
        topic,
        partition,
        offset,
        timestamp,
        release,
        get revoked() {
          return work.revoked;
        },
        done() {
          release();
          work.done();
        },
      };
    },
    async untilNotFull() {
      while (isFull()) await (space ??= Promise.withResolvers()).promise;
    },
    unlimit() {
      limited = false;
      wake();
    },
  };
}
