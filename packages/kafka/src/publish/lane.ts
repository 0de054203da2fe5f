/**
 * Writes the records of some partitions, in order, with one request in flight: whatever arrives meanwhile goes with
 * the next. A request costs hundreds of microseconds whatever it carries, so under load requests grow, and when idle
 * nothing waits for a timer.
 *
 * Non-obvious: a request that failed may have been written all the same. Its sequence numbers are then spent at the
 * broker but not in the library, and other records under the same numbers would be acknowledged as a repeat and
 * dropped. So after a failure the lane goes on with a new producer. The old one goes with the partitions that failed
 * where the very same batches are sent again under the same numbers, which Kafka recognises as repeats.
 */
import { TailraceError, isTailraceError, type ErrorCode } from '@tailrace/errors';
import type { Producer, TopicMessages } from 'kafkajs';
import { errorChain } from '../failure.ts';
import type { KafkaLog } from '../log.ts';
import type { OutgoingRecord } from '../record.ts';
import kafkajs from '../wire/library.ts';
import type { PartitionResult, WireMessage } from '../wire/produce.ts';
import type { TopicLayouts } from './layouts.ts';

/** One record that waits to be acknowledged. */
export interface Pending {
  readonly record: OutgoingRecord;
  readonly bytes: number;
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** Acknowledged or rejected; a record given up in flight stays in its request and is passed over. */
  settled: boolean;
  /** Where it goes, once that is known. */
  place: Place | undefined;
}

/** A partition that is written to. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
  /** The broker that leads it, as far as is known. */
  leader: number;
  pending: number;
  /** That of its records that wait; undefined while none does. */
  lane: PublishLane | undefined;
}

/** Partitions that failed in one request. */
export interface Failed {
  /** Requests to be sent before what waits behind them. */
  readonly requests: readonly (readonly Pending[])[];
  readonly behind: readonly Pending[];
  /** Where the same batches may be sent again under the same sequence numbers. */
  readonly producer: Promise<Producer> | undefined;
  /** Whether time may help; where not, the requests are other ones than those that failed. */
  readonly pause: boolean;
}

export interface LaneDependencies {
  readonly createProducer: () => Producer;
  readonly layouts: TopicLayouts;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  readonly lingerMs: number;
  /** Whether a missing topic is a reason to reject a record, or to wait. */
  readonly rejectsMissing: boolean;
  readonly settle: (pending: Pending, error?: unknown) => void;
  /** Moves partitions to a lane of their own. */
  readonly isolate: (failed: Failed) => void;
}

/** One request stays well under the broker's default limit of 1 MB, whatever compression brings. */
export const maxRequestBytes = 512 * 1024;
const maxRequestRecords = 2_000;
/**
 * Smaller requests go as they are. Each partition's part is compressed by itself, which costs 50 µs however small
 * it is, on both sides.
 */
const compressFromBytes = 64 * 1024;
const retryPauseMs = { first: 100, most: 2_000 };
/** How long a broker waits for its followers before it answers for each partition by itself. */
const replicationTimeoutMs = 5_000;
/** After these errors Kafka has the very batches that were sent, or nothing of them. */
const repeatable = new Set<unknown>([
  'REQUEST_TIMED_OUT',
  'NOT_ENOUGH_REPLICAS',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
]);

export class PublishLane {
  readonly #deps: LaneDependencies;
  /** Whether it is for partitions that failed together, and for nothing else. */
  readonly #isApart: boolean;
  #producer: Promise<Producer> | undefined;
  #queue: Pending[] = [];
  /** Requests that go before the queue. */
  #first: (readonly Pending[])[] = [];
  #inFlight: readonly Pending[] = [];
  #sending = false;
  #scheduled = false;

  /** @param failed what it begins with, where it is for partitions that failed */
  constructor(dependencies: LaneDependencies, failed?: Failed) {
    this.#deps = dependencies;
    this.#isApart = failed !== undefined;
    if (!failed) return;
    this.#producer = failed.producer;
    this.#first = [...failed.requests];
    this.#queue = [...failed.behind];
    void this.#send(failed.pause);
  }

  /** All records that wait, those in flight included. */
  get pending(): readonly Pending[] {
    return [...this.#inFlight, ...this.#first.flat(), ...this.#queue];
  }

  add(pending: Pending): void {
    this.#queue.push(pending);
    if (this.#sending || this.#scheduled) return;
    this.#scheduled = true;
    const start = (): void => {
      this.#scheduled = false;
      void this.#send(false);
    };
    if (this.#deps.lingerMs > 0) setTimeout(start, this.#deps.lingerMs);
    else setImmediate(start);
  }

  /** Lets go of what was rejected meanwhile. */
  forgetSettled(): void {
    this.#queue = this.#queue.filter(isOpen);
  }

  async close(): Promise<void> {
    await discard(this.#producer);
  }

  /** Sends until nothing waits; there is never more than one of these running. */
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
      const request = this.#nextRequest();
      if (request.length === 0) break;
      this.#inFlight = request;
      try {
        await this.#sendRequest(request);
        for (const pending of request) this.#deps.settle(pending);
        pauseMs = retryPauseMs.first;
        pause = false;
      } catch (error) {
        pause = this.#handleFailure(request, error, pauseMs);
      }
      this.#inFlight = [];
    }
    this.#sending = false;
  }

  /** Whatever waits, up to the limits of a request; empty where nothing does. */
  #nextRequest(): readonly Pending[] {
    for (let first = this.#first.shift(); first; first = this.#first.shift()) {
      // As it was, records that were given up included: under its sequence numbers Kafka expects the same batches.
      if (first.some(isOpen)) return first;
      void discard(this.#producer);
      this.#producer = undefined;
    }
    let bytes = 0;
    let count = 0;
    const leader = this.#queue[0]?.place?.leader;
    for (const pending of this.#queue) {
      if (count > 0 && (bytes + pending.bytes > maxRequestBytes || count >= maxRequestRecords)) break;
      // After a leader has moved; the library may write twice what it sends to two brokers.
      if (pending.place?.leader !== leader) break;
      bytes += pending.bytes;
      count += 1;
    }
    const request = this.#queue.splice(0, count).filter(isOpen);
    return request.length > 0 || this.#queue.length === 0 ? request : this.#nextRequest();
  }

  async #sendRequest(request: readonly Pending[]): Promise<void> {
    const byTopic = new Map<string, WireMessage[]>();
    let bytes = 0;
    for (const { record, bytes: recordBytes, place } of request) {
      bytes += recordBytes;
      let messages = byTopic.get(record.topic);
      if (!messages) byTopic.set(record.topic, (messages = []));
      const { key, value, headers } = record;
      messages.push({ key, value, headers, partition: place?.partition });
    }
    const producer = await (this.#producer ??= this.#connect());
    const written = await producer.sendBatch({
      acks: -1,
      timeout: replicationTimeoutMs,
      compression: bytes >= compressFromBytes ? kafkajs.CompressionTypes.ZSTD : kafkajs.CompressionTypes.None,
      topicMessages: Array.from(byTopic, ([topic, messages]) => ({ topic, messages }) as TopicMessages),
    });
    checkAllWritten(request, written);
  }

  async #connect(): Promise<Producer> {
    const producer = this.#deps.createProducer();
    try {
      await producer.connect();
    } catch (error) {
      // It may have connections already.
      await producer.disconnect().catch(() => undefined);
      throw error;
    }
    return producer;
  }

  /** Decides what becomes of a request that failed. True where the lane is to pause before it goes on. */
  #handleFailure(request: readonly Pending[], error: unknown, pauseMs: number): boolean {
    const { classify, settle, log, layouts } = this.#deps;
    const failure = classify(error);
    const producer = this.#producer;
    this.#producer = undefined;
    if (!isTailraceError(failure)) {
      for (const pending of request) settle(pending, failure);
      void discard(producer);
      return false;
    }
    const errors = errorsByPartition(request, error);
    const left: Pending[] = [];
    for (const pending of request) {
      if (errors && !errors.has(keyOf(pending))) settle(pending);
      else left.push(pending);
    }
    const topics = new Set(left.map(({ record }) => record.topic));
    log.warn(
      { err: failure, records: left.length, topics: [...topics], pauseMs },
      'Kafka did not take a request; retrying',
    );
    for (const topic of topics) layouts.renew(topic).catch(() => undefined);

    if (errors) {
      const mayRepeat = [...errors.values()].every((type) => repeatable.has(type));
      if (!mayRepeat) void discard(producer);
      const failed = this.#take(left, errors, failure, mayRepeat ? producer : undefined);
      if (failed) return this.#retryOrIsolate(failed);
      if (mayRepeat) void discard(producer);
      return false;
    }
    void discard(producer);
    if (failure.code === 'kafka-unavailable') {
      // Those whose leader has moved are not held up by the others.
      const [stay = [], ...moved] = Map.groupBy(left, (pending) => this.#leaderOf(pending)).values();
      for (const pending of moved) this.#isolateAlone(pending, failure);
      this.#first.unshift(stay);
      return true;
    }
    const groups = [...Map.groupBy(left, ({ record }) => record.topic).values()];
    if (this.#isApart && groups.length === 1) {
      const failed = this.#take(left, undefined, failure, undefined);
      return failed ? this.#retryOrIsolate(failed) : false;
    }
    // It is not known which topic it is about; in a lane of its own each shows.
    const unclear = new TailraceError('kafka-unavailable', failure.message, { cause: failure });
    for (const pending of groups) this.#isolateAlone(pending, unclear);
    return false;
  }

  #leaderOf({ place }: Pending): number {
    return (place && this.#deps.layouts.known(place.topic)?.leaders[place.partition]) ?? -1;
  }

  #isolateAlone(pending: readonly Pending[], failure: TailraceError): void {
    const failed = this.#take(pending, undefined, failure, undefined);
    if (failed) this.#deps.isolate(failed);
  }

  /**
   * Takes out of the lane what waits for partitions that failed. Records that are refused for good are rejected here.
   * Undefined where nothing is left of them.
   */
  #take(
    left: readonly Pending[],
    errors: ReadonlyMap<string, string> | undefined,
    failure: TailraceError,
    producer: Failed['producer'],
  ): Failed | undefined {
    const { settle, rejectsMissing } = this.#deps;
    const again: Pending[] = [];
    const parts: (readonly Pending[])[] = [];
    for (const [key, ofPartition] of Map.groupBy(left, keyOf)) {
      const code = errors ? codeOf(errors.get(key)) : failure.code;
      const isTooLarge = code === 'record-too-large';
      const isRefused = isTooLarge ? ofPartition.length === 1 : code === 'topic-missing' && rejectsMissing;
      if (isRefused) {
        for (const pending of ofPartition) settle(pending, refusal(failure, isTooLarge, pending));
      } else if (isTooLarge) {
        const middle = Math.ceil(ofPartition.length / 2);
        parts.push(ofPartition.slice(0, middle), ofPartition.slice(middle));
      } else {
        again.push(...ofPartition);
      }
    }
    const places = new Set(left.map(({ place }) => place));
    const isTheirs = ({ place }: Pending): boolean => places.has(place);
    const isNotTheirs = (pending: Pending): boolean => !isTheirs(pending);
    const requests = [
      ...(again.length > 0 ? [again] : []),
      ...parts,
      ...this.#first.map((one) => one.filter(isTheirs)),
    ];
    const behind = this.#queue.filter(isTheirs);
    this.#first = this.#first.map((one) => one.filter(isNotTheirs));
    this.#queue = this.#queue.filter(isNotTheirs);
    const isEmpty = !behind.some(isOpen) && !requests.flat().some(isOpen);
    return isEmpty ? undefined : { requests, behind, producer, pause: again.length > 0 };
  }

  /** A lane of its own keeps what failed, where nothing else is in it. */
  #retryOrIsolate(failed: Failed): boolean {
    const isAlone = this.#isApart && this.#queue.length === 0 && this.#first.every((one) => one.length === 0);
    if (!isAlone) {
      this.#deps.isolate(failed);
      return false;
    }
    this.#producer = failed.producer;
    this.#first = [...failed.requests];
    this.#queue = [...failed.behind];
    return failed.pause;
  }
}

function isOpen({ settled }: Pending): boolean {
  return !settled;
}

function keyOf({ record, place }: Pending): string {
  return `${record.topic}/${place?.partition ?? -1}`;
}

async function discard(producer: Promise<Producer> | undefined): Promise<void> {
  const connected = await producer?.catch(() => undefined);
  await connected?.disconnect().catch(() => undefined);
}

/**
 * Kafka's error of each partition of the request that is not known to be written, where there was an answer. It may say
 * nothing of some: the library passes over partitions that it does not know, and those of another broker are not in it.
 */
function errorsByPartition(
  request: readonly Pending[],
  error: unknown,
): ReadonlyMap<string, string> | undefined {
  const answered = errorChain(error).find((cause) => 'results' in cause) as
    { readonly results: readonly PartitionResult[] } | undefined;
  if (!answered) return undefined;
  const errors = new Map(request.map((pending) => [keyOf(pending), notAnswered]));
  for (const { topic, partition, error } of answered.results) {
    if (error === undefined) errors.delete(`${topic}/${partition}`);
    else errors.set(`${topic}/${partition}`, error);
  }
  return errors;
}

const notAnswered = 'NOT_ANSWERED';

function codeOf(type: string | undefined): ErrorCode {
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE') return 'record-too-large';
  return type === 'UNKNOWN_TOPIC_OR_PARTITION' ? 'topic-missing' : 'kafka-unavailable';
}

/** The library passes over records of a partition that it does not know, and counts the request as done. */
function checkAllWritten(
  request: readonly Pending[],
  written: readonly { readonly topicName?: string; readonly partition: number }[],
): void {
  const answered = new Set(written.map(({ topicName, partition }) => `${topicName ?? ''}/${partition}`));
  const missing = request.filter((pending) => !answered.has(keyOf(pending)));
  if (missing.length === 0) return;
  const results = request.flatMap((pending): PartitionResult[] => {
    const { topic, partition } = pending.place ?? {};
    const isWritten = topic !== undefined && partition !== undefined && answered.has(keyOf(pending));
    return isWritten ? [{ topic, partition }] : [];
  });
  const message = `Kafka answered nothing about ${missing.length} of ${request.length} records. They are sent again.`;
  throw Object.assign(new TailraceError('kafka-unavailable', message), { results });
}

function refusal(failure: TailraceError, isTooLarge: boolean, { record }: Pending): TailraceError {
  if (isTooLarge) return new TailraceError('record-too-large', undefined, { cause: failure });
  return topicMissing(record.topic, failure);
}

/** `topic-missing`, with the topic's name. */
export function topicMissing(topic: string, cause: Error): TailraceError {
  const message = `The topic ${topic} does not exist. Create the topics with \`npx tailrace topics apply\`.`;
  return new TailraceError('topic-missing', message, { cause });
}
