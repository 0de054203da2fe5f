/** The options that all transports share, and their checks. */
import { maxCallBytes } from './encode.ts';
import { invalidOption, reasonOf, type AnalyticsError } from './errors.ts';
import type { Middleware } from './messages.ts';
import { library } from './transport.ts';

/** The longest delay of a timer, and the upper limit of every number option. */
export const longestMs = 2 ** 31 - 1;

export interface CommonOptions {
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
  /** Context for all calls, such as `app`, at most 32 KB as JSON. Keys in the context of a call override it. */
  readonly context?: object | undefined;
  /** Attempts for a call before it is reported as `exhausted`. Default unlimited. */
  readonly maxAttempts?: number | undefined;
  /**
   * The age in milliseconds, since it was queued, at which a call is reported as `expired` if an attempt fails.
   * Default 3,600,000, an hour. Infinity for no limit.
   */
  readonly maxAgeMs?: number | undefined;
  /** Functions that change or drop calls, in this order. */
  readonly middleware?: readonly Middleware[] | undefined;
  /**
   * Receives every call that was not sent, once. Nothing is sent until it returns. Default: a line on standard error or
   * the console, at most every ten seconds.
   */
  readonly onError?: ((error: AnalyticsError) => void) | undefined;
}

/** The limits of the queue, with their defaults. */
export type QueueLimits = Readonly<Record<'maxQueueSize' | 'maxQueueBytes', number>>;

export interface HttpCommonOptions extends CommonOptions {
  /**
   * The URL of ingest, such as `https://events.example.com`, with or without `/v1/batch`. A path in it precedes
   * `/v1/batch`.
   */
  readonly endpoint: string;
  /** Timeout of a request in milliseconds. A request that times out is sent again. Default 10,000. */
  readonly timeoutMs?: number | undefined;
}

export function writeKeyOf({ writeKey }: Pick<CommonOptions, 'writeKey'>): string {
  if (typeof writeKey !== 'string' || writeKey === '') throw invalidOption('writeKey', 'is required');
  return writeKey;
}

/** The context of every batch, as JSON: the library, and that of the options. */
export function contextOf({ context }: Pick<CommonOptions, 'context'>): string {
  let json: string;
  try {
    json = JSON.stringify({ library, ...context });
  } catch (cause) {
    // A cycle, a BigInt, or a toJSON that throws.
    throw invalidOption('context', `cannot be written as JSON: ${reasonOf(cause)}`, cause);
  }
  const bytes = new TextEncoder().encode(json).length;
  if (bytes <= maxCallBytes) return json;
  throw invalidOption('context', `has ${bytes} bytes as JSON, and ${maxCallBytes} are allowed`);
}

/** The option as a whole number, or its default. */
export function positive<K extends string>(
  options: Readonly<Partial<Record<K, number | undefined>>>,
  name: K,
  otherwise: number,
  least = 1,
): number {
  const value = options[name] ?? otherwise;
  if (Number.isInteger(value) && value >= least && value <= longestMs) return value;
  throw invalidOption(name, `must be a whole number from ${least} to ${longestMs}`);
}

/** Like `positive`, or Infinity. */
export function positiveOrInfinity<K extends string>(
  options: Readonly<Partial<Record<K, number | undefined>>>,
  name: K,
  otherwise: number,
): number {
  return (options[name] ?? otherwise) === Infinity ? Infinity : positive(options, name, otherwise);
}
