/**
 * Replays dead letters: each that matches and has not been replayed is published once to `deliveries.replay`, as
 * a delivery that was never attempted.
 *
 * "Once" rests on three things. Only one replay writes at a time: a later one shuts out the earlier
 * (`exclusivePublisher`). Only then it reads what has been replayed, so nothing can be added unseen. And after a
 * failure, when nobody knows what was written, it begins anew with both, as a later run of the command does.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError, isTailraceError } from '@tailrace/errors';
import type { ExclusivePublisher, ExclusiveRecord, Kafka } from '@tailrace/kafka';
import {
  decodeDelivery,
  progressHeaders,
  replayedFromHeader,
  unequalPartitions,
  type TopicNames,
} from '@tailrace/topics';
import { formatPosition } from './replayed-letters.ts';
import type { DeadLetter } from './dead-letter.ts';
import { RateLimiter } from './rate-limiter.ts';
import { readDeadLetters, type ReadOptions } from './read.ts';

export interface ReplayOptions extends Pick<ReadOptions, 'filter'> {
  /** Where a tally ended: what has died since is left alone. Without it a replay could chase what it causes. */
  readonly ends: ReadonlyMap<number, number>;
  readonly ratePerSecond: number;
  /** Ends the replay after what is in flight. */
  readonly signal: AbortSignal;
  /** Told after each portion how many have been replayed so far. */
  readonly onReplayed?: (replayed: number) => void;
}

export interface ReplayResult {
  readonly replayed: number;
  /** How many are no deliveries, and cannot be replayed. */
  readonly malformed: number;
  /** Whether it ended before all was done. */
  readonly interrupted: boolean;
}

/** Portions are a tenth of a second's worth, so that the rate is even; and small enough for one record batch. */
const portionsPerSecond = 10;
const largestPortion = { records: 500, bytes: 512 * 1024 };
/** As long as something was replayed within this time, an absence of Kafka is waited out. */
const patienceMs = 60_000;
const retryPauseMs = 1_000;

/**
 * @throws TailraceError `superseded` where another replay was begun; `kafka-unavailable` where Kafka is away for
 *   long; `unequal-partitions` where the replay lane lacks partitions that dead letters lie in. Nothing is lost then
 *   and nothing doubled: another call continues.
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
  for (;;) {
    try {
      return await replay.pass(kafka);
    } catch (error) {
      if (!isTailraceError(error, 'kafka-unavailable') || replay.idleMs > patienceMs) throw error;
      if (options.signal.aborted) return replay.result;
      await pause(retryPauseMs, options.signal);
    }
  }
}

class Replay {
  readonly #names: TopicNames;
  readonly #options: ReplayOptions;
  readonly #pace: RateLimiter;
  #lastReplayAt = performance.now();
  #replayed = 0;
  #malformed = 0;
  #interrupted = false;
  /** Places of what was on its way when Kafka failed: it may have been written. */
  readonly #inDoubt = new Set<string>();

  constructor(names: TopicNames, options: ReplayOptions) {
    this.#names = names;
    this.#options = options;
    this.#pace = new RateLimiter(options.ratePerSecond);
  }

  get idleMs(): number {
    return performance.now() - this.#lastReplayAt;
  }

  get result(): ReplayResult {
    return { replayed: this.#replayed, malformed: this.#malformed, interrupted: this.#interrupted };
  }

  /** From shutting out others to the end of the dead letters. */
  async pass(kafka: Pick<Kafka, 'scan' | 'exclusivePublisher'>): Promise<ReplayResult> {
    const { filter, ends, ratePerSecond, signal } = this.#options;
    const mostRecords = Math.min(Math.ceil(ratePerSecond / portionsPerSecond), largestPortion.records);
    const publisher = await kafka.exclusivePublisher(this.#names.deliveriesReplay);
    try {
      this.#malformed = 0;
      let portion: DeadLetter[] = [];
      let bytes = 0;
      for await (const letters of await readDeadLetters(kafka, this.#names, { filter, ends })) {
        for (const letter of letters) {
          if (!this.#isToReplay(letter)) continue;
          const size = letter.record.value?.length ?? 0;
          if (portion.length >= mostRecords || (bytes > 0 && bytes + size > largestPortion.bytes)) {
            await this.#publish(publisher, portion);
            portion = [];
            bytes = 0;
          }
          if (signal.aborted) {
            this.#interrupted = true;
            return this.result;
          }
          portion.push(letter);
          bytes += size;
        }
      }
      await this.#publish(publisher, portion);
      return this.result;
    } finally {
      await publisher.close();
    }
  }

  #isToReplay(letter: DeadLetter): boolean {
    if (letter.summary.replayed) {
      if (this.#inDoubt.delete(formatPosition(letter.record))) this.#replayed += 1;
      return false;
    }
    if (typeof decodeDelivery(letter.record) === 'string') {
      this.#malformed += 1;
      return false;
    }
    return true;
  }

  async #publish(publisher: ExclusivePublisher, portion: readonly DeadLetter[]): Promise<void> {
    if (portion.length === 0) return;
    const { signal, onReplayed } = this.#options;
    await pause(this.#pace.waitMs, signal);
    if (signal.aborted) {
      this.#interrupted = true;
      return;
    }
    this.#pace.spend(portion.length);
    for (const { record } of portion) this.#inDoubt.add(formatPosition(record));
    await publisher.publish(portion.map((letter) => replayOf(letter, this.#names.deliveriesReplay)));
    for (const { record } of portion) this.#inDoubt.delete(formatPosition(record));
    this.#replayed += portion.length;
    this.#lastReplayAt = performance.now();
    onReplayed?.(this.#replayed);
  }
}

/** All headers as they are, also those that only a newer version knows, without what had become of it before. */
function replayOf({ record }: DeadLetter, topic: string): ExclusiveRecord {
  const { partition, key, value, headerList } = record;
  const kept = headerList.filter(([name]) => !progressHeaders.has(name));
  const headers = [...kept, ['attempt', '0'], [replayedFromHeader, formatPosition(record)]] as const;
  return { topic, partition, key, value, headers };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
