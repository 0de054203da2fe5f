/** Work that is counted when it is done. */
import type { Work } from '@tailrace/kafka';

/** Returns the same work. `count` is called once, and not where the partition was revoked, because the new owner repeats it. */
export function countedWork(work: Work, count: () => void): Work {
  const { topic, partition, offset, timestamp } = work;
  let isDone = false;
  return {
    topic,
    partition,
    offset,
    timestamp,
    get revoked() {
      return work.revoked;
    },
    done(trace) {
      if (!isDone && !work.revoked) count();
      isDone = true;
      work.done(trace);
    },
  };
}
