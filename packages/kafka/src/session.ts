/**
 * Keeps one consumer of the client library running: connects, joins, restarts after a crash, and ends. The library's own
 * restart is disabled (`restartOnFailure` in clients.ts), because it also restarts a consumer that was stopped while it
 * crashed or joined, and that consumer cannot be ended.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import type { Consumer, ConsumerRunConfig, EachBatchPayload } from 'kafkajs';
import type { KafkaLog } from './log.ts';
import { FetchedBatch } from './wire/fetched-batch.ts';

/** What the library does with the batch that it passes on. */
export type Processing = Pick<EachBatchPayload, 'resolveOffset' | 'commitOffsetsIfNecessary'>;

/** What a member is assigned. */
export interface Joined {
  readonly assignment: Readonly<Record<string, readonly number[]>>;
  /** Whether it was the same member in the generation before, without a crash between. */
  readonly isSame: boolean;
  /** The name of the assigner that all members know. */
  readonly protocol: string;
}

export interface SessionOptions {
  readonly consumer: Consumer;
  readonly topics: readonly string[];
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  /** Added to log lines. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Called inside the library's join, before the first fetch of the new generation. */
  readonly onJoin: (joined: Joined) => void;
  /** Called for one batch at a time. If it returns a promise, the next batch and the heartbeats wait for it. */
  readonly onBatch: (batch: FetchedBatch, processing: Processing) => void | Promise<void>;
  /** While it returns false the group is not joined. */
  readonly mayJoin?: () => boolean;
}

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/**
 * Outside of the group, between a crash and the next join, `pause`, `resume` and `seek` have no effect: the library would
 * throw, and the next join resets them.
 */
export interface Session {
  /**
   * Resolves when the consumer has joined its group for the first time.
   *
   * @throws TailraceError `shutting-down` where it is ended before that
   */
  readonly joined: Promise<undefined>;
  readonly isInGroup: boolean;
  /** Whether the consumer is in the group, and a broker has answered within the last 10 s. */
  readonly healthy: boolean;
  pause(partitions: Iterable<TopicPartition>): void;
  resume(partitions: Iterable<TopicPartition>): void;
  /** Sets the offset to fetch from next. */
  seek(partition: TopicPartition, offset: number): void;
  /** Leaves the group, and joins it again as a new member when it may. */
  rejoin(): void;
  /**
   * Leaves the group. Waits for that at most `timeoutMs` (default 10 s): the library cannot leave while it joins, which can
   * take 20 s if other members are slow. It then leaves after it has joined.
   */
  end(options?: { timeoutMs?: number }): Promise<void>;
}

const restartAfterMs = 1_000;
const unhealthyAfterMs = 10_000;
const leaveTimeoutMs = 10_000;

export function startSession(options: SessionOptions): Session {
  const { consumer, topics, classify, log, fields, onJoin, onBatch, mayJoin = () => true } = options;
  const ending = new AbortController();
  const ended = (): boolean => ending.signal.aborted;
  let inGroup = false;
  let memberId: string | undefined;
  let isRejoining = false;
  let lastAnswerAt = 0;

  const run: ConsumerRunConfig = {
    autoCommit: false,
    eachBatchAutoResolve: false,
    async eachBatch(payload) {
      try {
        await onBatch(fetchedBatch(payload.batch), payload);
      } catch (defect) {
        stopProcess(defect);
      }
    },
  };

  const pause = (): Promise<void> =>
    wait(restartAfterMs, undefined, { signal: ending.signal }).catch(() => undefined);

  /** Resolves when the group is joined, or when joining failed, which the library reports as a crash. */
  const start = async (): Promise<void> => {
    while (!ended()) {
      if (!mayJoin()) {
        await pause();
        continue;
      }
      try {
        await consumer.connect();
        await consumer.subscribe({ topics: [...topics], fromBeginning: true });
        if (!ended()) await consumer.run(run);
        return;
      } catch (error) {
        const failure = classify(error);
        if (!(failure instanceof TailraceError)) {
          stopProcess(failure);
          return;
        }
        log.warn({ err: failure, ...fields }, 'starting the consumer failed, retrying');
      }
      await pause();
    }
  };

  const joined = Promise.withResolvers<undefined>();
  // A scan does not wait for it.
  joined.promise.catch(() => undefined);
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    const isSame = inGroup && payload.memberId === memberId;
    inGroup = true;
    memberId = payload.memberId;
    onJoin({ assignment: payload.memberAssignment, isSame, protocol: payload.groupProtocol });
    joined.resolve(undefined);
  });
  consumer.on(consumer.events.STOP, () => {
    inGroup = false;
  });
  // The event FETCH is no answer: it is also emitted for fetches that failed.
  consumer.on(consumer.events.REQUEST, () => {
    lastAnswerAt = performance.now();
  });
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    inGroup = false;
    const failure = classify(payload.error);
    if (!(failure instanceof TailraceError)) {
      stopProcess(failure);
      return;
    }
    if (ended() || isRejoining) return;
    log.warn({ err: failure, ...fields }, 'consumer crashed, restarting');
    starting = pause().then(start);
  });

  let starting = start();

  const leave = (): Promise<void> =>
    starting
      .then(() => consumer.disconnect())
      .catch((error: unknown) => log.debug({ err: error, ...fields }, 'leaving the group failed'));

  return {
    joined: joined.promise,
    get isInGroup() {
      return inGroup;
    },
    get healthy() {
      return inGroup && performance.now() - lastAnswerAt < unhealthyAfterMs;
    },
    pause(partitions) {
      if (inGroup) consumer.pause(forLibrary(partitions));
    },
    resume(partitions) {
      if (inGroup) consumer.resume(forLibrary(partitions));
    },
    seek({ topic, partition }, offset) {
      if (inGroup) consumer.seek({ topic, partition, offset: String(offset) });
    },
    rejoin() {
      isRejoining = true;
      starting = leave()
        .then(pause)
        .then(() => {
          isRejoining = false;
          return start();
        });
    },
    async end({ timeoutMs = leaveTimeoutMs } = {}) {
      ending.abort();
      // If the library is stopped during its first join, it joins nevertheless and stays in the group. So wait for the join.
      const left = leave();
      const leftInTime = new AbortController();
      const { signal } = leftInTime;
      await Promise.race([left, wait(timeoutMs, undefined, { signal }).catch(() => undefined)]);
      leftInTime.abort();
      joined.reject(new TailraceError('shutting-down'));
    },
  };
}

/** Resolves with `opening`. Where the client of Kafka closes meanwhile, it is ended by `close`. */
export async function unlessClosing<T>(
  closing: AbortSignal,
  close: () => Promise<void>,
  opening: Promise<T>,
): Promise<T> {
  const onClosing = (): void => void close();
  closing.addEventListener('abort', onClosing);
  if (closing.aborted) onClosing();
  try {
    return await opening;
  } finally {
    closing.removeEventListener('abort', onClosing);
  }
}

/** Checks what the types of the library do not know: it passes on batches of patches/reading/group-fetch.ts. */
function fetchedBatch(batch: unknown): FetchedBatch {
  if (batch instanceof FetchedBatch) return batch;
  throw new Error('the batch is not of the patched library');
}

function forLibrary(partitions: Iterable<TopicPartition>): { topic: string; partitions: number[] }[] {
  return Array.from(partitions, ({ topic, partition }) => ({ topic, partitions: [partition] }));
}

/** Ends the process. The library would take a defect in our code for a failure of Kafka, and retry forever. */
export function stopProcess(defect: unknown): void {
  queueMicrotask(() => {
    throw defect;
  });
}
