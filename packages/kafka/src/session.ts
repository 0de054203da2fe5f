/**
 * Keeps one consumer of the client library running: connects, joins, starts again after a crash, and ends for
 * good. The library's own restart is turned off (`restartOnFailure` in connect.ts), because it also restarts a
 * consumer that was told to stop while it crashed or joined, and nothing could then end it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import type { Consumer, ConsumerRunConfig, EachBatchPayload } from 'kafkajs';
import type { KafkaLog } from './log.ts';

export interface SessionOptions {
  readonly consumer: Consumer;
  readonly topics: readonly string[];
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  /** Named in log lines. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Runs inside the library's join, before anything is fetched for the new generation. */
  readonly onJoin: (memberId: string, assignment: Readonly<Record<string, number[]>>) => void;
  /** Where it returns a promise, nothing more is handed over before that resolves; heartbeats wait for it too. */
  readonly onBatch: (payload: EachBatchPayload) => void | Promise<void>;
}

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/**
 * Out of the group, between a crash and the next join, steering does nothing: the library would throw, and
 * what was steered is gone.
 */
export interface Session {
  /** Resolves when the group was joined for the first time. */
  readonly joined: Promise<void>;
  /** Whether it is in the group and heard from a broker lately. */
  readonly healthy: boolean;
  pause(partitions: Iterable<TopicPartition>): void;
  resume(partitions: Iterable<TopicPartition>): void;
  /** The offset to fetch from next. */
  seek(partition: TopicPartition, offset: number): void;
  /**
   * Leaves the group, and waits for that no longer than `timeoutMs` (default 10 s): the library cannot leave
   * while it joins, which others may draw out for a minute. It then leaves when it has joined.
   */
  end(options?: { timeoutMs?: number }): Promise<void>;
}

const restartAfterMs = 1_000;
const unhealthyAfterMs = 10_000;
const leaveTimeoutMs = 10_000;

export function startSession(options: SessionOptions): Session {
  const { consumer, topics, classify, log, fields, onJoin, onBatch } = options;
  const ending = new AbortController();
  const ended = (): boolean => ending.signal.aborted;
  let inGroup = false;
  let lastAnswerAt = 0;

  const run: ConsumerRunConfig = {
    autoCommit: false,
    eachBatchAutoResolve: false,
    async eachBatch(payload) {
      try {
        await onBatch(payload);
      } catch (defect) {
        stopProcess(defect);
      }
    },
  };

  const pause = (): Promise<void> =>
    wait(restartAfterMs, undefined, { signal: ending.signal }).catch(() => undefined);

  /** Resolves when the group is joined, or when the library gave up joining and says so by a crash. */
  const start = async (): Promise<void> => {
    while (!ended()) {
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
        log.warn({ err: failure, ...fields }, 'cannot consume yet; trying again');
      }
      await pause();
    }
  };

  const joined = new Promise<void>((resolve) => {
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      inGroup = true;
      onJoin(payload.memberId, payload.memberAssignment);
      resolve();
    });
  });
  consumer.on(consumer.events.STOP, () => {
    inGroup = false;
  });
  // Not the event FETCH, which also tells of fetches that failed.
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
    if (ended()) return;
    log.warn({ err: failure, ...fields }, 'the consumer lost Kafka; it will come back');
    starting = pause().then(start);
  });

  let starting = start();

  return {
    joined,
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
    async end({ timeoutMs = leaveTimeoutMs } = {}) {
      ending.abort();
      // Told to stop in the middle of its first join, the library would join nevertheless, and stay.
      const left = starting
        .then(() => consumer.disconnect())
        .catch((error: unknown) => {
          log.debug({ err: error, ...fields }, 'the consumer did not leave cleanly');
        });
      const leftInTime = new AbortController();
      const { signal } = leftInTime;
      await Promise.race([left, wait(timeoutMs, undefined, { signal }).catch(() => undefined)]);
      leftInTime.abort();
    },
  };
}

function forLibrary(partitions: Iterable<TopicPartition>): { topic: string; partitions: number[] }[] {
  return Array.from(partitions, ({ topic, partition }) => ({ topic, partitions: [partition] }));
}

/** A defect must not be mistaken for trouble with Kafka and tried again for ever, as the library would. */
function stopProcess(defect: unknown): void {
  queueMicrotask(() => {
    throw defect;
  });
}
