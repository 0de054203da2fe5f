/**
 * An idempotent, acks=all producer that batches by natural back-pressure: one request is in flight, and
 * whatever arrives meanwhile goes with the next. A request costs hundreds of microseconds whatever it carries,
 * so under load requests grow, and when idle nothing waits for a timer.
 *
 * Non-obvious: a request that failed for good may still have been written. Its sequence numbers are then spent
 * at the broker but not here, and the next request, different records under the same numbers, would be
 * acknowledged as a repeat and dropped. So after any failure the producer is replaced before anything is sent.
 */
import { TailraceError, isTailraceError } from '@tailrace/errors';
import kafkajs, { type Message, type Producer, type TopicMessages } from 'kafkajs';
import type { KafkaLog } from './log.ts';
import type { OutgoingRecord } from './record.ts';

export interface PublisherOptions {
  /** How long a record may wait for company; 0 (the default) sends at the end of the current event loop turn. */
  readonly lingerMs?: number;
  /**
   * A record that is not acknowledged in this time is rejected with `kafka-unavailable`; it may still have been
   * written. By default it is tried for ever.
   */
  readonly giveUpAfterMs?: number;
  /** Beyond this many bytes waiting, publish() rejects with `overloaded`; by default only the caller bounds it. */
  readonly maxBufferedBytes?: number;
}

export interface Publisher {
  /**
   * Resolves once all in-sync replicas have the record.
   *
   * @throws TailraceError `overloaded`, `record-too-large`, `shutting-down`; with `giveUpAfterMs` also
   *   `kafka-unavailable` and `topic-missing`, without it these are waited out
   */
  publish(record: OutgoingRecord): Promise<void>;
  /** Bytes of records not yet acknowledged. */
  readonly bufferedBytes: number;
  /** Drains, for at most `timeoutMs` (default 10 s); what is left is rejected with `shutting-down`. */
  close(options?: { timeoutMs?: number }): Promise<void>;
}

interface Waiting {
  readonly record: OutgoingRecord;
  readonly bytes: number;
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** Acknowledged or rejected; a record given up in flight stays in its request and is passed over. */
  settled: boolean;
}

/** One request stays well under the broker's default limit of 1 MB, whatever compression brings. */
export const maxRequestBytes = 512 * 1024;
const maxRequestRecords = 2_000;
/**
 * Smaller requests go as they are. Each partition's part is compressed by itself, which costs 50 µs however small
 * it is, on both sides.
 */
const compressFromBytes = 64 * 1024;
const recordOverheadBytes = 64;
const retryPauseMs = { first: 100, most: 2_000 };

export class BatchingPublisher implements Publisher {
  readonly #createProducer: () => Producer;
  readonly #classify: (error: unknown) => unknown;
  readonly #log: KafkaLog;
  readonly #options: Required<PublisherOptions>;

  #producer: Promise<Producer> | undefined;
  readonly #queue: Waiting[] = [];
  /** Requests that must be sent before the queue, each by itself: the parts of one that failed. */
  readonly #parts: Waiting[][] = [];
  #bufferedBytes = 0;
  #sending = false;
  #scheduled = false;
  #closing = false;
  #inFlight: readonly Waiting[] = [];
  #sweeper: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;

  constructor(
    createProducer: () => Producer,
    classify: (error: unknown) => unknown,
    log: KafkaLog,
    options: PublisherOptions = {},
  ) {
    this.#createProducer = createProducer;
    this.#classify = classify;
    this.#log = log;
    this.#options = { lingerMs: 0, giveUpAfterMs: Infinity, maxBufferedBytes: Infinity, ...options };
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  publish(record: OutgoingRecord): Promise<void> {
    if (this.#closing) return Promise.reject(new TailraceError('shutting-down'));
    if (this.#bufferedBytes >= this.#options.maxBufferedBytes) {
      return Promise.reject(new TailraceError('overloaded'));
    }
    return new Promise((resolve, reject) => {
      const bytes = sizeOf(record);
      this.#bufferedBytes += bytes;
      this.#queue.push({ record, bytes, since: performance.now(), resolve, reject, settled: false });
      this.#schedule();
      if (Number.isFinite(this.#options.giveUpAfterMs)) this.#sweepWhileBusy();
    });
  }

  async close({ timeoutMs = 10_000 } = {}): Promise<void> {
    this.#closing = true;
    if (!this.#idle) {
      const timer = setTimeout(() => {
        this.#rejectAll(new TailraceError('shutting-down'));
      }, timeoutMs);
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      clearTimeout(timer);
    }
    clearInterval(this.#sweeper);
    const producer = await this.#producer?.catch(() => undefined);
    await producer?.disconnect().catch(() => undefined);
  }

  get #idle(): boolean {
    return this.#bufferedBytes === 0;
  }

  #schedule(): void {
    if (this.#sending || this.#scheduled) return;
    this.#scheduled = true;
    const start = (): void => {
      this.#scheduled = false;
      void this.#send();
    };
    if (this.#options.lingerMs > 0) setTimeout(start, this.#options.lingerMs);
    else setImmediate(start);
  }

  /** Sends until nothing waits; there is never more than one of these running. */
  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    let pauseMs = retryPauseMs.first;
    for (let request = this.#nextRequest(); request.length > 0; request = this.#nextRequest()) {
      this.#inFlight = request;
      try {
        await this.#sendRequest(request);
        for (const waiting of request) this.#settle(waiting);
        pauseMs = retryPauseMs.first;
      } catch (error) {
        const failure = this.#classify(error);
        this.#replaceProducer();
        const parts = this.#partsOf(request, failure);
        this.#parts.unshift(...parts);
        if (parts.length === 1) {
          this.#log.warn(
            { err: failure, records: request.length, topic: request[0]?.record.topic, pauseMs },
            'Kafka did not take a request; trying again',
          );
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
          pauseMs = Math.min(pauseMs * 2, retryPauseMs.most);
        }
      }
    }
    this.#inFlight = [];
    this.#sending = false;
  }

  /** Whatever waits, up to the limits of a request; empty where nothing does. */
  #nextRequest(): Waiting[] {
    while (this.#parts.length > 0) {
      const part = this.#parts.shift()?.filter(({ settled }) => !settled) ?? [];
      if (part.length > 0) return part;
    }
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#queue) {
      if (count > 0 && (bytes + waiting.bytes > maxRequestBytes || count >= maxRequestRecords)) break;
      bytes += waiting.bytes;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  async #sendRequest(request: readonly Waiting[]): Promise<void> {
    const byTopic = new Map<string, TopicMessages>();
    let bytes = 0;
    for (const { record, bytes: recordBytes } of request) {
      bytes += recordBytes;
      let entry = byTopic.get(record.topic);
      if (!entry) byTopic.set(record.topic, (entry = { topic: record.topic, messages: [] }));
      entry.messages.push(messageOf(record));
    }
    const producer = await (this.#producer ??= this.#connect());
    await producer.sendBatch({
      acks: -1,
      compression: bytes >= compressFromBytes ? kafkajs.CompressionTypes.ZSTD : kafkajs.CompressionTypes.None,
      topicMessages: [...byTopic.values()],
    });
  }

  async #connect(): Promise<Producer> {
    const producer = this.#createProducer();
    await producer.connect();
    return producer;
  }

  #replaceProducer(): void {
    const old = this.#producer;
    this.#producer = undefined;
    void old?.then((producer) => producer.disconnect()).catch(() => undefined);
  }

  /**
   * How to send a failed request again: as it was, or in parts where one topic or one record may be what the
   * broker refuses. Records that are refused for good are rejected here.
   */
  #partsOf(request: Waiting[], failure: unknown): Waiting[][] {
    if (!isTailraceError(failure)) {
      for (const waiting of request) this.#settle(waiting, failure);
      return [];
    }
    const byTopic = Map.groupBy(request, ({ record }) => record.topic);
    if (byTopic.size > 1 && failure.code !== 'kafka-unavailable') return [...byTopic.values()];
    const [first] = request;
    if (failure.code === 'topic-missing' && Number.isFinite(this.#options.giveUpAfterMs)) {
      const missing = new TailraceError(
        'topic-missing',
        `The topic ${first?.record.topic ?? ''} does not exist. Create the topics with \`npx tailrace topics apply\`.`,
        { cause: failure },
      );
      for (const waiting of request) this.#settle(waiting, missing);
      return [];
    }
    if (failure.code !== 'record-too-large') return [request];
    if (request.length === 1) {
      for (const waiting of request) this.#settle(waiting, failure);
      return [];
    }
    const middle = Math.ceil(request.length / 2);
    return [request.slice(0, middle), request.slice(middle)];
  }

  #settle(waiting: Waiting, error?: unknown): void {
    if (waiting.settled) return;
    waiting.settled = true;
    this.#bufferedBytes -= waiting.bytes;
    if (error === undefined) waiting.resolve();
    else waiting.reject(error);
    if (this.#idle) this.#onIdle?.();
  }

  /** Rejects what has waited too long, also what is in flight: the caller must not wait for a broker that hangs. */
  #sweepWhileBusy(): void {
    this.#sweeper ??= setInterval(() => {
      const overdue = performance.now() - this.#options.giveUpAfterMs;
      this.#rejectWhere(({ since }) => since <= overdue, new TailraceError('kafka-unavailable'));
      if (!this.#idle) return;
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }, 250).unref();
  }

  #rejectAll(error: TailraceError): void {
    this.#rejectWhere(() => true, error);
  }

  #rejectWhere(applies: (waiting: Waiting) => boolean, error: TailraceError): void {
    const queued = this.#queue.splice(0);
    for (const waiting of [...this.#inFlight, ...this.#parts.flat(), ...queued]) {
      if (applies(waiting)) this.#settle(waiting, error);
    }
    this.#queue.push(...queued.filter(({ settled }) => !settled));
  }
}

function sizeOf({ key, value, headers }: OutgoingRecord): number {
  let bytes = recordOverheadBytes + (key?.length ?? 0) + (value?.length ?? 0);
  for (const name in headers) bytes += name.length + (headers[name]?.length ?? 0);
  return bytes;
}

function messageOf({ key, value, headers, partition }: OutgoingRecord): Message {
  const message: Message = { key, value };
  if (headers) message.headers = headers;
  if (partition !== undefined) message.partition = partition;
  return message;
}
