/**
 * Replays dead letters: publishes each matching one that was not replayed before once to `deliveries.replay`, as a
 * delivery without attempts.
 *
 * Three rules ensure "once". Only one process writes at a time: a later one fences the earlier (replay-writer.ts). The set of
 * replayed dead letters is read after that, so no other process can add to it. After a failure with an unknown outcome, both steps
 * run again.
 */
import { TailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { decodeDelivery, formatPosition } from '@tailrace/records';
import { unequalPartitions, type TopicNames } from '@tailrace/topology';
import { hasNoBody, type DeadLetter } from './dead-letter.ts';
import { PacedWriter } from './paced-writer.ts';
import { readDeadLetters, type ReadOptions } from './read.ts';
import { replayRecord } from './replay-record.ts';
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
  /** Makes the record that is replayed of a dead letter. By default it is the same. */
  readonly rebuild?: (record: ConsumedRecord) => Promise<ConsumedRecord>;
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
  await requireReplayTopic(kafka, names);
  const replay = new Replay(names, options);
  const { writer = new ReplayWriter(kafka, names), signal } = options;
  return writer.run({
    pass: (session) => replay.pass(kafka, session),
    idleMs: () => replay.idleMs,
    signal,
    stopped: () => replay.result,
  });
}

/** @throws TailraceError `unequal-partitions` if `deliveries.replay` lacks partitions of `deliveries.dead` */
export async function requireReplayTopic(
  kafka: Pick<Kafka, 'describeTopics'>,
  names: TopicNames,
): Promise<void> {
  const topics = await kafka.describeTopics([names.deliveriesDead, names.deliveriesReplay]);
  const counts = new Map(Array.from(topics, ([topic, { partitions }]) => [topic, partitions]));
  const unequal = unequalPartitions(names, counts);
  if (unequal) throw new TailraceError('unequal-partitions', unequal.message);
}

class Replay {
  readonly #names: TopicNames;
  readonly #options: ReplayOptions;
  #lastReplayAt = performance.now();
  #replayed = 0;
  #malformed = 0;
  #interrupted = false;
  /** Positions whose publication was in flight when Kafka failed: they may have been written. */
  readonly #uncertain = new Set<string>();

  constructor(names: TopicNames, options: ReplayOptions) {
    this.#names = names;
    this.#options = options;
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
    this.#malformed = 0;
    const writer = new PacedWriter<DeadLetter>({
      ratePerSecond: () => ratePerSecond,
      signal,
      bytesOf: ({ record }) => record.value?.length ?? 0,
      publish: (batch) => this.#publish(session, batch),
    });
    for await (const letters of await readDeadLetters(kafka, this.#names, { filter, ends })) {
      for (const letter of letters) {
        if (!this.#isDue(letter) || session.has(letter)) continue;
        if (await writer.add(letter)) continue;
        this.#interrupted = true;
        return this.result;
      }
    }
    this.#interrupted = !(await writer.flush());
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
    const { onReplayed, by, rebuild = (record) => Promise.resolve(record) } = this.#options;
    const rebuilt = await Promise.all(batch.map(({ record }) => rebuild(record)));
    for (const { record } of batch) this.#uncertain.add(formatPosition(record));
    const topic = this.#names.deliveriesReplay;
    this.#replayed += await session.publish(
      rebuilt.map((record) => ({ record: replayRecord(record, topic, true, by), letter: record })),
    );
    for (const { record } of batch) this.#uncertain.delete(formatPosition(record));
    this.#lastReplayAt = performance.now();
    onReplayed?.(this.#replayed);
  }
}
