/**
 * The globals of a transform, and what calls it. The text of {@link sandbox} runs in QuickJS before the script, so it uses nothing of
 * this module. The script may change every global, so what runs after it uses only what was taken here, and syntax.
 */

/** What the text returns. */
export interface Sandbox {
  /** Takes the function. Returns whether it is one. */
  load(value: unknown): boolean;
  /**
   * Calls the function. Returns `N` for null, `B`, the JSON of `{ headers, url }`, a line break and the JSON of the body, or `E` and the
   * JSON of `{ message, stack }`.
   *
   * The time is the `timestamp` of the event.
   *
   * @param mark begins texts that stand for numbers that a double does not hold; empty where there are none
   */
  run(event: string, keepsLogs: boolean, mark: string): string;
  /** The lines of the console of the last run, as JSON. */
  logs(): string;
}

type Callable = (event: unknown) => unknown;

/** @param longest text of a result, in characters */
export function sandbox(logLines: number, logCharacters: number, longest: number): Sandbox {
  const { parse, stringify } = JSON;
  const { keys, hasOwn, defineProperty, create } = Object;
  const { isArray } = Array;
  const { construct } = Reflect;
  const [toText, toNumber, AnyError, AnyPromise] = [String, Number, Error, Promise];
  const GivenDate = Date;
  const parseTime = Date.parse;
  const mostError = 4_096;
  let fn: Callable | undefined;
  let clock: number | undefined;
  let logs: string[] = [];
  let logRoom = 0;

  const now = (): number => {
    if (clock === undefined) throw new TypeError('there is no time before the function is called');
    return clock;
  };
  const EventDate = function Date(...parts: unknown[]): unknown {
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- Date() without new is a text
    return new.target
      ? construct(GivenDate, parts.length === 0 ? [now()] : parts, new.target)
      : toText(new GivenDate(now()));
  };
  for (const [name, value] of [
    ['prototype', GivenDate.prototype],
    ['now', now],
    ['parse', GivenDate.parse],
    ['UTC', GivenDate.UTC],
  ] as const) {
    defineProperty(EventDate, name, { value });
  }
  const define = (target: object, name: string, value: unknown): void => {
    defineProperty(target, name, { value, writable: true, configurable: true });
  };
  define(GivenDate.prototype, 'constructor', EventDate);
  define(globalThis, 'Date', EventDate);
  define(Math, 'random', () => {
    throw new TypeError('Math.random is not available, because an event always has the same result');
  });
  Reflect.deleteProperty(globalThis, 'performance');

  /** Its first characters. */
  const beginOf = (text: string, most: number): string => {
    let begin = '';
    for (let at = 0; at < text.length && at < most; at += 1) begin += text[at] ?? '';
    return begin;
  };

  const shown = (value: unknown): string => {
    if (typeof value === 'string') return value;
    try {
      if (value instanceof AnyError) return toText(value);
      const json: unknown = stringify(value);
      return typeof json === 'string' ? json : toText(value);
    } catch {
      return 'a value that has no text';
    }
  };
  const log = (...values: unknown[]): void => {
    if (logRoom <= 0 || logs.length >= logLines) return;
    let line = '';
    for (let at = 0; at < values.length; at += 1) line += (at > 0 ? ' ' : '') + shown(values[at]);
    const text = beginOf(line, logRoom);
    logRoom -= text.length + 1;
    defineProperty(logs, logs.length, { value: text, enumerable: true });
  };
  // A long stack takes long to write, each time that it is at its end.
  define(AnyError, 'stackTraceLimit', 10);
  define(globalThis, 'console', { log, info: log, warn: log, error: log, debug: log });

  /** A number that a double does not hold. JSON has all its digits. */
  class ExactNumber {
    readonly #digits: string;
    readonly #mark: string;
    constructor(digits: string, mark: string) {
      this.#digits = digits;
      this.#mark = mark;
    }
    toString(): string {
      return this.#digits;
    }
    valueOf(): number {
      return toNumber(this.#digits);
    }
    toJSON(): string {
      return this.#mark + this.#digits;
    }
  }
  const exactly = (mark: string) => (_key: string, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark)
      ? new ExactNumber(value.slice(mark.length), mark)
      : value;

  /** Whether it has a body of its own, beside at most headers and url. */
  const isParts = (value: object): boolean => {
    if (!hasOwn(value, 'body')) return false;
    const names = keys(value);
    // oxlint-disable-next-line typescript/prefer-for-of -- the script may have changed the iterators
    for (let at = 0; at < names.length; at += 1) {
      const name = names[at];
      if (name !== 'body' && name !== 'headers' && name !== 'url') return false;
    }
    return true;
  };

  /** A value that JSON does not have would be left out, or written as something else. */
  const bodyOf = (value: unknown): string => {
    if (value instanceof AnyPromise)
      throw new TypeError('the function returned a promise; async functions are not supported');
    const json = typeof value === 'function' ? undefined : (stringify(value) as string | undefined);
    if (json === undefined) {
      throw new TypeError(
        `the function returned ${value === undefined ? 'nothing' : 'no value of JSON'}; return a body, or null to filter the event`,
      );
    }
    if (json.length > longest) throw new RangeError(`the result has more than ${longest} characters`);
    return json;
  };

  const resultOf = (value: unknown): string => {
    if (value === null) return 'N';
    if (typeof value !== 'object' || isArray(value) || !isParts(value)) return `B{}\n${bodyOf(value)}`;
    const { body, headers, url } = value as { body: unknown; headers?: unknown; url?: unknown };
    const parts = create(null) as { headers: unknown; url: unknown };
    parts.headers = headers;
    parts.url = url;
    return body === null ? 'N' : `B${bodyOf(parts)}\n${bodyOf(body)}`;
  };

  const errorOf = (error: unknown): string => {
    const told = create(null) as { message: string; stack: string };
    told.message = 'a value without a text was thrown';
    told.stack = '';
    try {
      if (error instanceof AnyError) told.stack = beginOf(toText(error.stack), mostError);
      told.message = error instanceof AnyError ? toText(error) : `thrown: ${shown(error)}`;
    } catch {
      // A getter of it has thrown.
    }
    told.message = beginOf(told.message, mostError);
    return stringify(told);
  };
  return {
    load(value) {
      if (typeof value === 'function') fn = value as Callable;
      return fn !== undefined;
    },
    run(json, keepsLogs, mark) {
      logs = [];
      logRoom = keepsLogs ? logCharacters : 0;
      try {
        const event = parse(json, mark === '' ? undefined : exactly(mark)) as {
          readonly timestamp?: unknown;
        };
        clock = parseTime(toText(event.timestamp));
        return resultOf(fn?.(event));
      } catch (error) {
        return `E${errorOf(error)}`;
      }
    },
    logs: () => stringify(logs),
  };
}
