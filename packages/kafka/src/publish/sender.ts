/**
 * Writes the records of some partitions, in order, with one request in flight. Records that arrive meanwhile go with the
 * next request. A request costs hundreds of microseconds regardless of its size, so requests grow under load. Below that,
 * records may wait for others (linger.ts).
 *
 * A request that failed may have been written. Its sequence numbers are then used at the broker but not in the library, and
 * other records under the same numbers would be acknowledged as a repeat and dropped. So after a failure the sender continues
 * with a new producer. The old one moves with the failed partitions if exactly the same batches are sent again under the
 * same numbers, which Kafka recognises as repeats.
 */
import { TailraceError, isTailraceError } from '@tailrace/errors';
import type { Producer, TopicMessages } from 'kafkajs';
import type { KafkaLog } from '../log.ts';
import type { Refusals } from '../refusals.ts';
import kafkajs from '../library.ts';
import type { WireMessage } from '../patches/writing/produce-request.ts';
import { checkAllWritten, codeOf, errorsByPartition, rejection } from './answer.ts';
import type { TopicLayouts } from './layouts.ts';
import { Linger } from './linger.ts';
import {
  isOpen,
  keyOf,
  type FailedPartitions,
  type Pending,
  type Sender,
  type SendersPartitions,
} from './pending.ts';

export interface SenderDependencies {
  readonly createProducer: () => Producer;
  readonly layouts: TopicLayouts;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  readonly clock: Refusals;
  readonly settings: SenderSettings;
  readonly owner: SenderOwner;
}

interface SenderSettings {
  readonly lingerMs: number;
  readonly compressFromBytes: number;
  /** Whether to reject a record for a missing topic. If not, it waits for the topic. */
  readonly rejectsMissing: boolean;
}

/** The publisher. */
interface SenderOwner {
  settle(pending: Pending, error?: unknown): void;
  /** Moves partitions to a sender of their own. */
  isolate(failed: FailedPartitions): void;
  /** Moves partitions whose pending records were never sent to the senders of their leaders. */
  moveToLeaders(pending: readonly Pending[]): void;
  /** Disconnects a producer in the background. */
  discard(producer: Promise<Producer> | undefined): void;
}

/** Before compression. Well below the broker's default limit of 1 MB. */
export const maxRequestBytes = 512 * 1024;
const maxRequestRecords = 2_000;
const retryPauseMs = { first: 100, most: 2_000 };
/** How long a broker waits for its followers before it answers with the result of each partition. */
const replicationTimeoutMs = 5_000;
/** After so many in a row, partitions that failed return to the senders of their leaders. */
const answersUntilRecovered = 20;
/** After these errors Kafka has either exactly the batches that were sent, or none of them. */
const repeatable = new Set<unknown>([
  'REQUEST_TIMED_OUT',
  'NOT_ENOUGH_REPLICAS',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
]);

export class RecordSender implements Sender {
  readonly #deps: SenderDependencies;
  /** Undefined if the sender is only for partitions that failed together. */
  readonly #leader: number | undefined;
  readonly #linger: Linger;
  #producer: Promise<Producer> | undefined;
  #queue: Pending[] = [];
  /** Requests to send before the queue. */
  #retries: (readonly Pending[])[] = [];
  #inFlight: readonly Pending[] = [];
  #answersInARow = 0;
  #sending = false;
  #scheduled = false;
  /** Ends the wait for others. */
  #endWait: (() => void) | undefined;

  constructor(dependencies: SenderDependencies, of: SendersPartitions) {
    this.#deps = dependencies;
    this.#linger = new Linger(dependencies.settings.lingerMs);
    if ('leader' in of) {
      this.#leader = of.leader;
      return;
    }
    this.#producer = of.producer;
    this.#retries = [...of.requests];
    this.#queue = [...of.queue];
    void this.#send(of.pause);
  }

  get #isIsolated(): boolean {
    return this.#leader === undefined;
  }

  get pending(): readonly Pending[] {
    return [...this.#inFlight, ...this.#retries.flat(), ...this.#queue];
  }

  add(pending: Pending): void {
    this.#queue.push(pending);
    if (this.#linger.isEnough(this.#queue.length)) this.#endWait?.();
    if (this.#sending || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#send(false);
    });
  }

  removeSettled(): void {
    this.#queue = this.#queue.filter(isOpen);
  }

  close(): void {
    this.#discard();
  }

  /** Sends until no record is pending. Runs at most once at a time. */
  async #send(pauseBefore: boolean): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    let pauseMs = retryPauseMs.first;
    let pause = pauseBefore;
    for (;;) {
      if (pause) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        pauseMs = Math.min(pauseMs * 2, retryPauseMs.most);
      }
      await this.#waitForOthers();
      const request = this.#nextRequest();
      if (request.length === 0) break;
      this.#inFlight = request;
      const sentAt = performance.now();
      this.#linger.sending(request, sentAt);
      const before = this.#queue.length;
      try {
        await this.#sendRequest(request);
        const answeredAt = performance.now();
        this.#linger.answered(answeredAt - sentAt, this.#queue.length - before, answeredAt);
        this.#deps.clock.accepted();
        for (const pending of request) this.#deps.owner.settle(pending);
        this.#answersInARow += 1;
        pauseMs = retryPauseMs.first;
        pause = false;
      } catch (error) {
        this.#answersInARow = 0;
        pause = this.#handleFailure(request, error, pauseMs);
      }
      this.#inFlight = [];
    }
    this.#sending = false;
  }

  async #waitForOthers(): Promise<void> {
    const [oldest] = this.#queue;
    if (!oldest || this.#retries.length > 0 || this.#linger.isEnough(this.#queue.length)) return;
    const leftMs = this.#linger.leftMs(oldest.since, performance.now());
    if (leftMs <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leftMs);
      this.#endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endWait = undefined;
  }

  /** The pending records, up to the limits of a request; empty if there are none. */
  #nextRequest(): readonly Pending[] {
    this.#giveAway();
    for (let retry = this.#retries.shift(); retry; retry = this.#retries.shift()) {
      // Includes records that were rejected: under the same sequence numbers Kafka expects the same batches.
      if (retry.some(isOpen)) return retry;
      this.#discard();
    }
    let bytes = 0;
    let count = 0;
    for (const pending of this.#queue) {
      if (count > 0 && (bytes + pending.bytes > maxRequestBytes || count >= maxRequestRecords)) break;
      bytes += pending.bytes;
      count += 1;
    }
    const request = this.#queue.splice(0, count).filter(isOpen);
    return request.length > 0 || this.#queue.length === 0 ? request : this.#nextRequest();
  }

  /**
   * Gives away partitions that have recovered, and those that another broker leads now: the library may write records twice in a request
   * that goes to two brokers. Not those of which a request is repeated.
   */
  #giveAway(): void {
    const repeated = new Set(this.#retries.flat().map(({ target }) => target));
    const hasRecovered = this.#isIsolated && this.#answersInARow >= answersUntilRecovered;
    const leader = this.#leader ?? this.#queue[0]?.target?.leader;
    // While a request fails, what is behind it may not have been looked at since its leader moved.
    const leaderOf = (pending: Pending): number | undefined =>
      repeated.size > 0 ? this.#leaderOf(pending) : pending.target?.leader;
    const leaves = (pending: Pending): boolean =>
      !repeated.has(pending.target) && (hasRecovered || leaderOf(pending) !== leader);
    const leaving = this.#queue.filter(leaves);
    if (leaving.length === 0) return;
    this.#queue = this.#queue.filter((pending) => !leaves(pending));
    this.#deps.owner.moveToLeaders(leaving);
  }

  async #sendRequest(request: readonly Pending[]): Promise<void> {
    const byTopic = new Map<string, WireMessage[]>();
    let bytes = 0;
    for (const { record, bytes: recordBytes, target } of request) {
      bytes += recordBytes;
      let messages = byTopic.get(record.topic);
      if (!messages) byTopic.set(record.topic, (messages = []));
      const { key, value, headers } = record;
      messages.push({ key, value, headers, partition: target?.partition });
    }
    const isLarge = bytes >= this.#deps.settings.compressFromBytes;
    const producer = await (this.#producer ??= this.#connect());
    const written = await producer.sendBatch({
      acks: -1,
      timeout: replicationTimeoutMs,
      compression: isLarge ? kafkajs.CompressionTypes.ZSTD : kafkajs.CompressionTypes.None,
      topicMessages: Array.from(byTopic, ([topic, messages]) => ({ topic, messages }) as TopicMessages),
    });
    checkAllWritten(request, written);
  }

  #discard(): void {
    this.#deps.owner.discard(this.#producer);
    this.#producer = undefined;
  }

  async #connect(): Promise<Producer> {
    const producer = this.#deps.createProducer();
    try {
      await producer.connect();
    } catch (error) {
      // It may have opened connections already.
      await producer.disconnect().catch(() => undefined);
      throw error;
    }
    return producer;
  }

  /** Settles, repeats or isolates the records of a failed request. Returns whether to pause before the next request. */
  #handleFailure(request: readonly Pending[], error: unknown, pauseMs: number): boolean {
    const { classify, owner, log, layouts, clock } = this.#deps;
    const failure = classify(error);
    if (isTailraceError(failure, 'kafka-refused-clock')) clock.refused();
    const producer = this.#producer;
    this.#producer = undefined;
    if (!isTailraceError(failure)) {
      for (const pending of request) owner.settle(pending, failure);
      owner.discard(producer);
      return false;
    }
    const errors = errorsByPartition(request, error);
    const left: Pending[] = [];
    for (const pending of request) {
      if (errors && !errors.has(keyOf(pending))) owner.settle(pending);
      else left.push(pending);
    }
    const topics = new Set(left.map(({ record }) => record.topic));
    log.warn(
      { err: failure, records: left.length, topics: [...topics], pauseMs },
      'produce request failed, retrying',
    );
    for (const topic of topics) layouts.renew(topic).catch(() => undefined);

    if (errors) {
      const mayRepeat = [...errors.values()].every((type) => repeatable.has(type));
      if (!mayRepeat) owner.discard(producer);
      const failed = this.#extract(left, errors, failure, mayRepeat ? producer : undefined);
      if (failed) return this.#retryOrIsolate(failed);
      if (mayRepeat) owner.discard(producer);
      return false;
    }
    owner.discard(producer);
    if (failure.code === 'kafka-unavailable') {
      // Partitions whose leader has moved do not wait for the others.
      const [stay = [], ...moved] = Map.groupBy(left, (pending) => this.#leaderOf(pending)).values();
      for (const pending of moved) this.#isolate(pending, failure);
      this.#retries.unshift(stay);
      return true;
    }
    const groups = [...Map.groupBy(left, ({ record }) => record.topic).values()];
    if (this.#isIsolated && groups.length === 1) {
      const failed = this.#extract(left, undefined, failure, undefined);
      return failed ? this.#retryOrIsolate(failed) : false;
    }
    // The error does not name its topic. In a sender of its own, each topic shows whether it fails.
    const unclear = new TailraceError('kafka-unavailable', failure.message, { cause: failure });
    for (const pending of groups) this.#isolate(pending, unclear);
    return false;
  }

  #leaderOf({ target }: Pending): number {
    return (target && this.#deps.layouts.known(target.topic)?.leaders[target.partition]) ?? -1;
  }

  #isolate(pending: readonly Pending[], failure: TailraceError): void {
    const failed = this.#extract(pending, undefined, failure, undefined);
    if (failed) this.#deps.owner.isolate(failed);
  }

  /**
   * Removes the pending records of failed partitions from the sender. Records that Kafka refuses permanently are rejected.
   * Undefined if none is left.
   */
  #extract(
    left: readonly Pending[],
    errors: ReadonlyMap<string, string> | undefined,
    failure: TailraceError,
    producer: FailedPartitions['producer'],
  ): FailedPartitions | undefined {
    const { owner, settings } = this.#deps;
    const again: Pending[] = [];
    const parts: (readonly Pending[])[] = [];
    for (const [key, ofPartition] of Map.groupBy(left, keyOf)) {
      const code = errors ? codeOf(errors.get(key)) : failure.code;
      const isTooLarge = code === 'record-too-large';
      const isRefused = isTooLarge
        ? ofPartition.length === 1
        : code === 'topic-missing' && settings.rejectsMissing;
      if (isRefused) {
        for (const pending of ofPartition) owner.settle(pending, rejection(failure, isTooLarge, pending));
      } else if (isTooLarge) {
        const middle = Math.ceil(ofPartition.length / 2);
        parts.push(ofPartition.slice(0, middle), ofPartition.slice(middle));
      } else {
        again.push(...ofPartition);
      }
    }
    const targets = new Set(left.map(({ target }) => target));
    const hasFailed = ({ target }: Pending): boolean => targets.has(target);
    const hasNotFailed = (pending: Pending): boolean => !hasFailed(pending);
    const requests = [
      ...(again.length > 0 ? [again] : []),
      ...parts,
      ...this.#retries.map((request) => request.filter(hasFailed)),
    ];
    const queue = this.#queue.filter(hasFailed);
    this.#retries = this.#retries.map((request) => request.filter(hasNotFailed));
    this.#queue = this.#queue.filter(hasNotFailed);
    const isEmpty = !queue.some(isOpen) && !requests.flat().some(isOpen);
    return isEmpty ? undefined : { requests, queue, producer, pause: again.length > 0 };
  }

  /** An isolated sender keeps the failed partitions if it has no others. */
  #retryOrIsolate(failed: FailedPartitions): boolean {
    const isAlone =
      this.#isIsolated && this.#queue.length === 0 && this.#retries.every((request) => request.length === 0);
    if (!isAlone) {
      this.#deps.owner.isolate(failed);
      return false;
    }
    this.#producer = failed.producer;
    this.#retries = [...failed.requests];
    this.#queue = [...failed.queue];
    return failed.pause;
  }
}
