/** How much is on its way from `events.waiting`: routed, and not yet acknowledged. It is bounded, by records and bytes. */
import type { ConsumedRecord, Work } from '@tailrace/kafka';

const most = { records: 1_000, bytes: 4 * 2 ** 20 };

export interface TrackedWork extends Work {
  /** It is not on its way after all. */
  release(): void;
}

export interface Flight {
  readonly records: number;
  readonly isFull: boolean;
  /** The same work; it is on its way until it is done or released. */
  track(work: Work, record: Pick<ConsumedRecord, 'key' | 'value'>): TrackedWork;
  /** Resolves when it is not full. */
  hasSpace(): Promise<void>;
  /** Nothing waits for space from now on. */
  open(): void;
}

export function createFlight(): Flight {
  let records = 0;
  let bytes = 0;
  let opened = false;
  let space: PromiseWithResolvers<void> | undefined;
  const isFull = (): boolean => !opened && (records >= most.records || bytes >= most.bytes);
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
        ...{ topic, partition, offset, timestamp, release },
        get revoked() {
          return work.revoked;
        },
        done() {
          release();
          work.done();
        },
      };
    },
    async hasSpace() {
      while (isFull()) await (space ??= Promise.withResolvers()).promise;
    },
    open() {
      opened = true;
      wake();
    },
  };
}
