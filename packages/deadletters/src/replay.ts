/**
 * Replays dead letters: publishes each matching one that was not replayed before once to `deliveries.replay`, as a
 * delivery without attempts.
 *
 * Three rules ensure "once". Only one process writes at a time: a later one fences the earlier (replay-writer.ts). The set of
 * replayed dead letters is read after that, so no other process can add to it. After a failure with an unknown outcome, both steps
 * run again.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError, isTailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import { decodeDelivery, formatPosition } from '@tailrace/records';
import { unequalPartitions, type TopicNames } from '@tailrace/topology';
import { hasNoBody, type DeadLetter } from './dead-letter.ts';
import { RateLimiter } from './rate-limiter.ts';
import { readDeadLetters, type ReadOptions } from './read.ts';
import { ReplayWriter, type WriterSession } from './replay-writer.ts';

export interface ReplayOptions extends Pick<ReadOptions, 'filter'> {
  /** The end offsets of a count. Without them a replay whose deliveries fail again would never end. */
  readonly ends: ReadonlyMap<number, number>;
  readonly ratePerSecond: number;
  /** The name of the token or the user who has asked for it. */
  readonly by?: string | undefined;
  /** Ends the replay after the batch in flight. */
  readonly signal: AbortSignal;
  /** Called after each batch with the number replayed so far. */
  readonly onReplayed?: (replayed: number) => void;
  /** Shared by the replays of a process. Default: one for this replay. */
  readonly writer?: ReplayWriter;
}

export interface ReplayResult {
  readonly replayed: number;
  /** The number of records that cannot be replayed: they are not deliveries, or their body was removed with their user. */
  readonly malformed: number;
  /** Whether `signal` ended it before all were replayed. */
  readonly interrupted: boolean;
}

/** A batch is a tenth of a second of work, for an even rate, and fits one record batch of Kafka. */
const batchesPerSecond = 10;
const maxBatch = { records: 500, bytes: 512 * 1024 };
/** The replay retries while Kafka is unavailable, until nothing was replayed for this time. */
const maxIdleMs = 60_000;
const retryPauseMs = 1_000;

/**
 * @throws TailraceError `superseded` if another process has begun to replay; `kafka-unavailable` if Kafka is unavailable for a
 *   minute; `unequal-partitions` if `deliveries.replay` lacks partitions of `deliveries.dead`. Nothing is lost or
 *   duplicated: another call continues.
 */
export async function replayDeadLetters(
  kafka: Pick<Kafka, 'scan' | 'exclusivePublisher' | 'describeTopics'>,
  names: TopicNames,
  options: ReplayOptions,
): Promise<ReplayResult> {
  const topics = await kafka.describeTopics([names.deliveriesDead, names.deliveriesReplay]);
  const counts = new Map(Array.from(topics, ([topic, { partitions }]) => [topic, partitions]));
  const unequal = unequalPartitions(names, counts);
  if (unequal) throw new TailraceError('unequal-partitions', unequal.message);
  const replay = new Replay(names, options);
  const { writer = new ReplayWriter(kafka, names) } = options;
  for (;;) {
    try {
      return await writer.use((session) => replay.pass(kafka, session));
    } catch (error) {
      if (!isTailraceError(error, 'kafka-unavailable') || replay.idleMs > maxIdleMs) throw error;
      if (options.signal.aborted) return replay.result;
      await pause(retryPauseMs, options.signal);
    }
  }
}

class Replay {
  readonly #names: TopicNames;
  readonly #options: ReplayOptions;
  readonly #limiter: RateLimiter;
  #lastReplayAt = performance.now();
  #replayed = 0;
  #malformed = 0;
  #interrupted = false;
  /** Positions whose publication was in flight when Kafka failed: they may have been written. */
  readonly #uncertain = new Set<string>();

  constructor(names: TopicNames, options: ReplayOptions) {
    this.#names = names;
    this.#options = options;
    this.#limiter = new RateLimiter(options.ratePerSecond);
  }

  get idleMs(): number {
    return performance.now() - this.#lastReplayAt;
  }

  get result(): ReplayResult {
    return { replayed: this.#replayed, malformed: this.#malformed, interrupted: this.#interrupted };
  }

  /** Replays up to the end. */
  async pass(kafka: Pick<Kafka, 'scan'>, session: WriterSession): Promise<ReplayResult> {
    const { filter, ends, ratePerSecond, signal } = this.#options;
    const maxRecords = Math.min(Math.ceil(ratePerSecond / batchesPerSecond), maxBatch.records);
    this.#malformed = 0;
    let batch: DeadLetter[] = [];
    let bytes = 0;
    for await (const letters of await readDeadLetters(kafka, this.#names, { filter, ends })) {
      for (const letter of letters) {
        if (!this.#isDue(letter) || session.has(letter)) continue;
        const size = letter.record.value?.length ?? 0;
        if (batch.length >= maxRecords || (bytes > 0 && bytes + size > maxBatch.bytes)) {
          await this.#publish(session, batch);
          batch = [];
          bytes = 0;
        }
        if (signal.aborted) {
          this.#interrupted = true;
          return this.result;
        }
        batch.push(letter);
        bytes += size;
      }
    }
    await this.#publish(session, batch);
    return this.result;
  }

  #isDue(letter: DeadLetter): boolean {
    if (letter.summary.replayed) {
      if (this.#uncertain.delete(formatPosition(letter.record))) this.#replayed += 1;
      return false;
    }
    if (hasNoBody(letter.summary) || typeof decodeDelivery(letter.record) === 'string') {
      this.#malformed += 1;
      return false;
    }
    return true;
  }

  async #publish(session: WriterSession, batch: readonly DeadLetter[]): Promise<void> {
    if (batch.length === 0) return;
    const { signal, onReplayed, by } = this.#options;
    await pause(this.#limiter.waitMs, signal);
    if (signal.aborted) {
      this.#interrupted = true;
      return;
    }
    this.#limiter.spend(batch.length);
    for (const { record } of batch) this.#uncertain.add(formatPosition(record));
    this.#replayed += await session.publish(batch, by);
    for (const { record } of batch) this.#uncertain.delete(formatPosition(record));
    this.#lastReplayAt = performance.now();
    onReplayed?.(this.#replayed);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
