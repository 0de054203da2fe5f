/** The client: what a program calls. */
import { debugFrom, type Debug } from './debug.ts';
import { encodeCall, maxCallBytes } from './encode.ts';
import { AnalyticsError, reasonOf } from './errors.ts';
import { httpTransport } from './http.ts';
import type { KafkaProducer } from './kafka-producer.ts';
import { kafkaTransport } from './kafka.ts';
import type { Alias, CallType, Group, Identify, Messages, Page, Screen, Track } from './messages.ts';
import { reportOnStandardError } from './report.ts';
import { createSender, type Sender } from './sender.ts';
import type { Transport } from './transport.ts';
import { library } from './version.ts';

/** Of a timer; no number needs to be larger. */
const longestMs = 2 ** 31 - 1;

interface CommonOptions {
  /** Of the source. */
  readonly writeKey: string;
  /** So many calls are sent without waiting for more. 20; with 1 each call is a request of its own. */
  readonly flushAt?: number | undefined;
  /** A call waits no longer than this for others to be sent with. 5,000. */
  readonly flushAfterMs?: number | undefined;
  /** Calls that are held until they are sent, those in flight included. 10,000. */
  readonly maxQueueSize?: number | undefined;
  /** Bytes of their JSON. 64 MiB. */
  readonly maxQueueBytes?: number | undefined;
  /** What all calls have in common, such as `app`. Under the context of each call, key by key. */
  readonly context?: object | undefined;
  /** Of one batch, after which it is given up and reported. As many as it takes. */
  readonly maxAttempts?: number | undefined;
  /**
   * Told of every call that was not sent, with the call itself; must not throw. Where absent, a line on standard error
   * says it, at most every ten seconds.
   */
  readonly onError?: ((error: AnalyticsError) => void) | undefined;
}

export interface HttpOptions extends CommonOptions {
  /** Origin of ingest, such as `https://events.example.com`; a path is put before `/v1/batch`. */
  readonly endpoint: string;
  /** Compresses requests, in a thread of its own. False. */
  readonly gzip?: boolean | undefined;
  /** For an answer; a request that takes longer is made again. 10,000. */
  readonly timeoutMs?: number | undefined;
  readonly kafka?: undefined;
}

export interface KafkaOptions extends CommonOptions {
  /** Writes calls straight into Kafka. */
  readonly kafka: {
    /** Connected, such as kafkajs's. The client neither connects nor disconnects it. */
    readonly producer: KafkaProducer;
    /** `tailrace.events`. */
    readonly topic?: string | undefined;
  };
  readonly endpoint?: undefined;
}

export type AnalyticsOptions = HttpOptions | KafkaOptions;

export interface CloseOptions {
  /** What is not sent by then is reported. 10,000. */
  readonly deadlineMs?: number | undefined;
}

export interface CloseResult {
  /** So many calls were reported as unsent. */
  readonly unsent: number;
}

/**
 * Queues calls, and sends them in batches in the background.
 *
 * Each of the six methods returns true once the call is queued, and false where the queue is full. They throw an
 * AnalyticsError: `invalid-message`, `message-too-large`, or `closed`. What is queued is sent in order, at least once, for
 * as long as it takes.
 */
export class Analytics {
  readonly #sender: Sender;
  readonly #debug: Debug = debugFrom();
  /** What goes into each call's context, where no batch says it once for all. */
  readonly #sharedContext: object | undefined;
  #closing: Promise<CloseResult> | undefined;

  /** @throws AnalyticsError `invalid-options`, whose `field` is the option */
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
          // Whoever is told of a failure must not add one to it.
          this.#debug?.(`onError threw: ${reasonOf(thrown)}`);
        }
      },
    });
    this.#sharedContext = options.kafka === undefined ? undefined : shared;
  }

  /** A user did something. */
  track(message: Track): boolean {
    return this.#call('track', message);
  }

  /** Who a user is: when an account is created, and when traits change. */
  identify(message: Identify): boolean {
    return this.#call('identify', message);
  }

  /** A user saw a page. */
  page(message: Page): boolean {
    return this.#call('page', message);
  }

  /** A user saw a screen of an app. */
  screen(message: Screen): boolean {
    return this.#call('screen', message);
  }

  /** A user belongs to a group. */
  group(message: Group): boolean {
    return this.#call('group', message);
  }

  /** A user has a new id. */
  alias(message: Alias): boolean {
    return this.#call('alias', message);
  }

  /** Resolves once the queue has room for a call: await it before each call of an import. */
  ready(): Promise<void> {
    return this.#sender.ready();
  }

  /** Sends what is queued without waiting for more; resolves once all of it is sent, or reported. */
  flush(): Promise<void> {
    return this.#sender.flush();
  }

  /**
   * Sends what is queued, until the deadline, and ends the connection. Calls after it throw. Never rejects; a second
   * `close` is the first.
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

/** The option, or its default: a whole number. */
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
