/** The client, for every platform and transport. */
import type { CallStoreOpener } from '../queue/call-store.ts';
import { encodeCall, maxCallBytes } from './encode.ts';
import { AnalyticsError, invalidOption, reasonOf } from './errors.ts';
import type {
  Alias,
  AnyEvents,
  CallType,
  EventMap,
  Group,
  Identify,
  Messages,
  Middleware,
  Page,
  Screen,
  Track,
} from './messages.ts';
import { longestMs, positive, positiveOrInfinity, type CommonOptions } from './options.ts';
import type { Platform } from './platform.ts';
import { debugOf, reporter, reportLines, type Debug } from './report.ts';
import { createSender, type Sender } from '../queue/sender.ts';
import type { Transport } from './transport.ts';

const hourMs = 3_600_000;

export interface CloseOptions {
  /** Calls that are not sent within this time, in milliseconds, are reported, or kept. Default 10,000. */
  readonly deadlineMs?: number | undefined;
}

export interface CloseResult {
  /**
   * The number of calls that were reported as unsent since the client was made, for any reason. 0 means that every
   * call was accepted by the server, or kept.
   */
  readonly unsent: number;
  /** The number of calls that the file queue keeps for the next start. 0 without one. */
  readonly kept: number;
}

export interface Stats {
  /** Calls in the queue and in flight. */
  readonly queued: number;
  /** Calls that the server has accepted. */
  readonly sent: number;
  /** Calls that were reported to `onError`. */
  readonly unsent: number;
  /** Calls that middleware dropped. */
  readonly dropped: number;
}

export interface Parts {
  readonly transport: Transport;
  readonly platform: Platform;
  /** Added to the context of each call where the transport has no batch context. */
  readonly sharedContext?: object | undefined;
  readonly openStore?: CallStoreOpener | undefined;
}

/**
 * Queues calls, and sends them in batches in the background.
 *
 * Each of the six methods returns true once the call is queued, or dropped by middleware, and false where the queue
 * is full. They throw an AnalyticsError: `invalid-message`, `message-too-large`, or `closed`. Queued calls are sent
 * in order, at least once.
 */
export class Client<Events extends EventMap<Events> = AnyEvents> {
  readonly #sender: Sender;
  readonly #debug: Debug;
  readonly #platform: Platform;
  readonly #sharedContext: object | undefined;
  readonly #middleware: readonly Middleware[];
  readonly #stopWatching: (() => void) | undefined;
  #dropped = 0;
  #closing: Promise<CloseResult> | undefined;

  /** @throws AnalyticsError `invalid-options`; its `field` is the option */
  constructor(options: CommonOptions, { transport, platform, sharedContext, openStore }: Parts) {
    const debug = debugOf(platform);
    const { onError = reportLines(platform.write), middleware = [] } = options;
    if (!Array.isArray(middleware) || middleware.some((step) => typeof step !== 'function')) {
      throw invalidOption('middleware', 'must be a list of functions');
    }
    const report = reporter(onError, platform.write, debug);
    const settings = {
      flushAt: positive(options, 'flushAt', 20),
      flushAfterMs: positive(options, 'flushAfterMs', 5_000),
      maxQueueSize: positive(options, 'maxQueueSize', 10_000),
      maxQueueBytes: positive(options, 'maxQueueBytes', 64 * 1024 * 1024, maxCallBytes),
      maxAttempts: positiveOrInfinity(options, 'maxAttempts', Infinity),
      maxAgeMs: positiveOrInfinity(options, 'maxAgeMs', hourMs),
    };
    this.#debug = debug;
    this.#platform = platform;
    this.#sharedContext = sharedContext;
    this.#middleware = middleware;
    // Last, because it holds files.
    const { page } = platform;
    const sender = createSender(transport, { ...settings, debug, report, store: openStore?.(report), page });
    this.#sender = sender;
    this.#stopWatching = page?.onHide(sender.leave);
  }

  /** Records an action of a user. */
  track<Name extends keyof Events & string>(message: Track<Events, Name>): boolean {
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

  /** The outcomes of the calls so far. */
  stats(): Stats {
    return { ...this.#sender.counts(), dropped: this.#dropped };
  }

  /**
   * Sends the queued calls until the deadline, then closes the connection. Later calls throw. Never rejects. A
   * second `close` returns the result of the first.
   */
  close({ deadlineMs = 10_000 }: CloseOptions = {}): Promise<CloseResult> {
    this.#closing ??= this.#sender.close(Math.min(deadlineMs, longestMs)).then((kept) => {
      this.#stopWatching?.();
      const { unsent } = this.#sender.counts();
      this.#debug?.(`closed, with ${unsent} calls unsent and ${kept} kept`);
      return { unsent, kept };
    });
    return this.#closing;
  }

  #call<T extends CallType>(type: T, message: Messages[T]): boolean {
    this.#refuseIfClosed(type);
    const changed = this.#middleware.length === 0 ? message : runMiddleware(type, message, this.#middleware);
    if (changed === undefined) {
      this.#dropped++;
      return true;
    }
    const call = encodeCall(type, changed, this.#platform, this.#sharedContext);
    // Middleware, or a toJSON, may have closed it.
    this.#refuseIfClosed(type);
    return this.#sender.add(call);
  }

  #refuseIfClosed(type: CallType): void {
    if (!this.#closing) return;
    throw new AnalyticsError('closed', `The client is closed; the ${type} call is not sent.`);
  }
}

/** The message that is sent, or undefined where it was dropped. */
function runMiddleware<T extends CallType>(
  type: T,
  message: Messages[T],
  middleware: readonly Middleware[],
): Messages[T] | undefined {
  try {
    let call = { ...message, type };
    for (const step of middleware) {
      const result = step(call);
      if (result === null || result === undefined) return undefined;
      call = result as typeof call;
    }
    return call;
  } catch (cause) {
    const sentence = `The ${type} call cannot be sent: middleware threw: ${reasonOf(cause)}.`;
    throw new AnalyticsError('invalid-message', sentence, { cause });
  }
}
