/** The client. */
import { encodeCall, maxCallBytes } from './encode.ts';
import { AnalyticsError, reasonOf } from './errors.ts';
import { httpTransport } from './http.ts';
import type { KafkaProducer } from './kafka-producer.ts';
import { kafkaTransport } from './kafka.ts';
import type { Alias, CallType, Group, Identify, Messages, Page, Screen, Track } from './messages.ts';
import { debugFrom, reportOnStandardError, type Debug } from './report.ts';
import { createSender, type Sender } from './sender.ts';
import { library, type Transport } from './transport.ts';

/** The longest delay of a timer, and the upper limit of every number option. */
const longestMs = 2 ** 31 - 1;

interface CommonOptions {
  /** The write key of the source. */
  readonly writeKey: string;
  /** This many queued calls are sent immediately. Default 20. With 1, each call is a separate request. */
  readonly flushAt?: number | undefined;
  /** The longest time that a call waits for others, in milliseconds. Default 5,000. */
  readonly flushAfterMs?: number | undefined;
  /** Limit of queued calls, including calls in flight. Default 10,000. */
  readonly maxQueueSize?: number | undefined;
  /** Limit of the queued calls in bytes of JSON. Default 64 MiB. */
  readonly maxQueueBytes?: number | undefined;
  /** Context for all calls, such as `app`. Keys in the context of a call override it. */
  readonly context?: object | undefined;
  /** Attempts for one batch before it is reported as unsent. Default unlimited. */
  readonly maxAttempts?: number | undefined;
  /**
   * Receives every call that was not sent. Must not throw. Default: a line on standard error, at most every ten
   * seconds.
   */
  readonly onError?: ((error: AnalyticsError) => void) | undefined;
}

export interface HttpOptions extends CommonOptions {
  /** Origin of ingest, such as `https://events.example.com`. A path in it precedes `/v1/batch`. */
  readonly endpoint: string;
  /** Compresses requests, in another thread. Default false. */
  readonly gzip?: boolean | undefined;
  /** Timeout of a request in milliseconds. A request that times out is sent again. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  readonly kafka?: undefined;
}

export interface KafkaOptions extends CommonOptions {
  /** Writes calls directly to Kafka. */
  readonly kafka: {
    /** A connected producer, such as that of kafkajs. The client neither connects nor disconnects it. */
    readonly producer: KafkaProducer;
    /** Default `tailrace.events`. */
    readonly topic?: string | undefined;
  };
  readonly endpoint?: undefined;
}

export type AnalyticsOptions = HttpOptions | KafkaOptions;

export interface CloseOptions {
  /** Calls that are not sent within this time, in milliseconds, are reported. Default 10,000. */
  readonly deadlineMs?: number | undefined;
}

export interface CloseResult {
  /** The number of calls that were reported as unsent. */
  readonly unsent: number;
}

/**
 * Queues calls, and sends them in batches in the background.
 *
 * Each of the six methods returns true once the call is queued, and false where the queue is full. They throw an
 * AnalyticsError: `invalid-message`, `message-too-large`, or `closed`. Queued calls are sent in order, at least
 * once, without a time limit.
 */
export class Analytics {
  readonly #sender: Sender;
  readonly #debug: Debug = debugFrom();
  /** Added to the context of each call where the transport has no batch context. */
  readonly #sharedContext: object | undefined;
  #closing: Promise<CloseResult> | undefined;

  /** @throws AnalyticsError `invalid-options`; its `field` is the option */
  constructor(options: AnalyticsOptions) {
    const { onError = reportOnStandardError(), context } = options;
    const shared = { library, ...context };
    this.#sender = createSender(transportOf(options, shared), {
      flushAt: positive(options, 'flushAt', 20),
      flushAfterMs: positive(options, 'flushAfterMs', 5_000),
      maxQueueSize: positive(options, 'maxQueueSize', 10_000),
      maxQueueBytes: positive(options, 'maxQueueBytes', 64 * 1024 * 1024, maxCallBytes),
      maxAttempts: options.maxAttempts === undefined ? Infinity : positive(options, 'maxAttempts', 1),
      debug: this.#debug,
      report: (error) => {
        this.#debug?.(error.message);
        try {
          onError(error);
        } catch (thrown) {
          // An error in the caller's handler must not stop the sender.
          this.#debug?.(`onError threw: ${reasonOf(thrown)}`);
        }
      },
    });
    this.#sharedContext = options.kafka === undefined ? undefined : shared;
  }

  /** Records an action of a user. */
  track(message: Track): boolean {
    return this.#call('track', message);
  }

  /** Records the traits of a user: when an account is created, and when traits change. */
  identify(message: Identify): boolean {
    return this.#call('identify', message);
  }

  /** Records a page view. */
  page(message: Page): boolean {
    return this.#call('page', message);
  }

  /** Records a screen view in an app. */
  screen(message: Screen): boolean {
    return this.#call('screen', message);
  }

  /** Records that a user belongs to a group. */
  group(message: Group): boolean {
    return this.#call('group', message);
  }

  /** Records a new id of a user. */
  alias(message: Alias): boolean {
    return this.#call('alias', message);
  }

  /** Resolves once the queue has capacity for a call. Await it before each call of an import. */
  ready(): Promise<void> {
    return this.#sender.ready();
  }

  /** Sends the queued calls immediately. Resolves once all of them are sent or reported. */
  flush(): Promise<void> {
    return this.#sender.flush();
  }

  /**
   * Sends the queued calls until the deadline, then closes the connection. Later calls throw. Never rejects. A
   * second `close` returns the result of the first.
   */
  close({ deadlineMs = 10_000 }: CloseOptions = {}): Promise<CloseResult> {
    this.#closing ??= this.#sender.close(Math.min(deadlineMs, longestMs)).then((unsent) => {
      this.#debug?.(`closed, with ${unsent} calls unsent`);
      return { unsent };
    });
    return this.#closing;
  }

  #call<T extends CallType>(type: T, message: Messages[T]): boolean {
    if (this.#closing)
      throw new AnalyticsError('closed', `The client is closed; the ${type} call is not sent.`);
    return this.#sender.add(encodeCall(type, message, this.#sharedContext));
  }
}

function transportOf(options: AnalyticsOptions, context: object): Transport {
  const { writeKey, endpoint, kafka } = options;
  if (typeof writeKey !== 'string' || writeKey === '') throw invalid('writeKey', 'is required');
  if (kafka !== undefined) {
    return kafkaTransport({ writeKey, producer: kafka.producer, topic: kafka.topic ?? 'tailrace.events' });
  }
  const { gzip = false } = options;
  const timeoutMs = positive(options, 'timeoutMs', 10_000);
  return httpTransport({ writeKey, endpoint: urlOf(endpoint), gzip, timeoutMs, context });
}

function urlOf(endpoint: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw invalid('endpoint', 'must be a URL that begins with http:// or https://');
}

/** The option as a whole number, or its default. */
function positive<K extends string>(
  options: Readonly<Partial<Record<K, number | undefined>>>,
  name: K,
  otherwise: number,
  least = 1,
): number {
  const value = options[name] ?? otherwise;
  if (Number.isInteger(value) && value >= least && value <= longestMs) return value;
  throw invalid(name, `must be a whole number from ${least} to ${longestMs}`);
}

function invalid(option: string, sentence: string): AnalyticsError {
  return new AnalyticsError('invalid-options', `Option ${option} ${sentence}.`, { field: option });
}
