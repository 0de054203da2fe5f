/**
 * Simulated time: timers fire and clocks advance only when the test says so. It replaces the global timers and those of
 * `node:timers` and `node:timers/promises`, `Date`, `performance.now()` and the idle time of the event loop, for all code of
 * the process, until it is disposed of. Promises and `setImmediate` stay real.
 *
 * Time goes from timer to timer, and stands still until all code that can run without it has run. So the same happens at
 * the same time on every machine. Sockets, files and threads are not waited for.
 */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promises from 'node:timers/promises';

export interface SimulatedTime extends Disposable {
  /** Resolves when so much time has passed. */
  pass(ms: number): Promise<void>;
  /**
   * Lets time pass until `holds` returns true, which is asked before each timer.
   *
   * @throws Error where it does not hold within five simulated hours
   */
  until(holds: () => boolean): Promise<void>;
  /** Lets time pass until the promise is settled, and returns its value. */
  settled<T>(promise: Promise<T>): Promise<T>;
  /** Resolves with the value so much later. Does not let time pass. */
  after<T = void>(ms: number, value?: T): Promise<T>;
  /** Sets `Date` so much ahead of the time that has passed, as someone sets the clock of a machine; back, where negative. */
  setClock(aheadMs: number): void;
}

export interface SimulatedTimeOptions {
  /** The first value of `performance.now()`. */
  readonly monotonicMs?: number;
}

type Callback = (...args: unknown[]) => void;

/** The first value of `Date.now()`. */
export const simulatedStart = Date.UTC(2026, 0, 5);
const boundMs = 5 * 3_600_000;
/** In so many turns of the event loop a socket is closed. */
const turnsOfSocket = 10;

const real = {
  Date,
  now: Date.now,
  // Disposal puts them back where they were.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  performanceNow: performance.now,
  // eslint-disable-next-line @typescript-eslint/unbound-method
  eventLoopUtilization: performance.eventLoopUtilization,
  timers: { ...timers },
  promises: { setTimeout: promises.setTimeout, setImmediate: promises.setImmediate },
};

let isSimulated = false;
/** What runs on real time in this process. */
const onRealTime = new Set<{ readonly name: string }>();

/** Keeps time from being simulated beside what sets timers until it is disposed of. On simulated time it holds nothing. */
export function holdRealTime(name: string): Disposable {
  const holder = { name };
  if (!isSimulated) onRealTime.add(holder);
  return { [Symbol.dispose]: () => void onRealTime.delete(holder) };
}

/** @throws Error where time is simulated already, or real time is held: timers that are set meanwhile would never fire */
export function simulateTime({ monotonicMs = 1_000 }: SimulatedTimeOptions = {}): SimulatedTime {
  if (isSimulated) throw new Error('time is simulated already');
  if (onRealTime.size > 0) {
    const names = Array.from(onRealTime, ({ name }) => name).join(', ');
    throw new Error(`in this process, on real time: ${names}`);
  }
  isSimulated = true;
  const clock = new Clock();
  const immediates = new Immediates();
  install(clock, immediates, monotonicMs);

  const quiet = async (): Promise<void> => {
    do await nextTurn();
    while (immediates.waiting > 0);
  };
  const passUntil = async (holds: () => boolean, withinMs: number): Promise<boolean> => {
    const end = clock.elapsed + withinMs;
    for (;;) {
      await quiet();
      if (holds()) return true;
      if (!clock.fireNext(end)) return false;
    }
  };
  return {
    async pass(ms) {
      await passUntil(() => false, ms);
      await quiet();
    },
    async until(holds) {
      if (await passUntil(holds, boundMs)) return;
      throw new Error(`not within ${boundMs / 3_600_000} hours: ${String(holds)}`);
    },
    async settled(promise) {
      const settled = new AbortController();
      const settle = (): void => {
        settled.abort();
      };
      promise.then(settle, settle);
      for (const end = clock.elapsed + boundMs; ;) {
        for (let turn = 0; turn < turnsOfSocket && !settled.signal.aborted; turn += 1) await quiet();
        if (settled.signal.aborted || !clock.fireNext(end)) return promise;
      }
    },
    after: <T>(ms: number, value?: T) => waitFor(clock, ms, value as T),
    setClock(aheadMs) {
      clock.aheadMs = aheadMs;
    },
    [Symbol.dispose]() {
      restore();
      isSimulated = false;
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => real.timers.setImmediate(resolve));
}

/** The time, and the timers in the order in which they fire. */
class Clock {
  elapsed = 0;
  /** Of `Date` before the time that has passed. */
  aheadMs = 0;
  /** The next one is the last. */
  readonly #timers: SimulatedTimer[] = [];

  add(timer: SimulatedTimer): void {
    timer.dueAt = this.elapsed + timer.delayMs;
    let [from, to] = [0, this.#timers.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#timers[middle]?.dueAt ?? 0) > timer.dueAt) from = middle + 1;
      else to = middle;
    }
    this.#timers.splice(from, 0, timer);
  }

  remove(timer: SimulatedTimer): void {
    const place = this.#timers.indexOf(timer);
    if (place >= 0) this.#timers.splice(place, 1);
  }

  /** Advances to the next timer and fires it. Returns false, at `end`, where none is due by then. */
  fireNext(end: number): boolean {
    const timer = this.#timers.at(-1);
    if (!timer || timer.dueAt > end) {
      this.elapsed = end;
      return false;
    }
    this.#timers.pop();
    this.elapsed = timer.dueAt;
    if (timer.repeats) this.add(timer);
    timer.callback();
    return true;
  }
}

class SimulatedTimer {
  dueAt = 0;
  readonly delayMs: number;
  readonly callback: () => void;
  readonly repeats: boolean;
  readonly #clock: Clock;
  #isReferenced = true;

  constructor(clock: Clock, callback: () => void, delayMs = 1, repeats = false) {
    this.#clock = clock;
    this.callback = callback;
    // As Node does.
    this.delayMs = delayMs >= 1 && delayMs < 2 ** 31 ? Math.trunc(delayMs) : 1;
    this.repeats = repeats;
    clock.add(this);
  }

  ref(): this {
    this.#isReferenced = true;
    return this;
  }

  unref(): this {
    this.#isReferenced = false;
    return this;
  }

  hasRef(): boolean {
    return this.#isReferenced;
  }

  refresh(): this {
    this.close();
    this.#clock.add(this);
    return this;
  }

  close(): void {
    this.#clock.remove(this);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Counts the callbacks of `setImmediate` that have not run. */
class Immediates {
  readonly #waiting = new Set<NodeJS.Immediate>();

  get waiting(): number {
    return this.#waiting.size;
  }

  set(callback: Callback, ...args: unknown[]): NodeJS.Immediate {
    const immediate = real.timers.setImmediate(() => {
      this.#waiting.delete(immediate);
      callback(...args);
    });
    this.#waiting.add(immediate);
    return immediate;
  }

  clear(immediate: NodeJS.Immediate | undefined): void {
    if (immediate) this.#waiting.delete(immediate);
    real.timers.clearImmediate(immediate);
  }
}

function install(clock: Clock, immediates: Immediates, monotonicMs: number): void {
  const now = (): number => simulatedStart + clock.elapsed + clock.aheadMs;
  const clear = (timer: unknown): void => {
    if (timer instanceof SimulatedTimer) timer.close();
    // It began before time was simulated.
    else real.timers.clearTimeout(timer as NodeJS.Timeout);
  };
  const replaced = {
    setTimeout: (callback: Callback, ms?: number, ...args: unknown[]) =>
      new SimulatedTimer(
        clock,
        () => {
          callback(...args);
        },
        ms,
      ),
    setInterval: (callback: Callback, ms?: number, ...args: unknown[]) =>
      new SimulatedTimer(
        clock,
        () => {
          callback(...args);
        },
        ms,
        true,
      ),
    setImmediate: (callback: Callback, ...args: unknown[]) => immediates.set(callback, ...args),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: (immediate?: NodeJS.Immediate) => {
      immediates.clear(immediate);
    },
  };
  replace(
    replaced as unknown as typeof real.timers,
    {
      setTimeout: (ms?: number, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}) =>
        waitFor(clock, ms, value, signal),
      setImmediate: (value?: unknown) =>
        new Promise<unknown>((resolve) => {
          immediates.set(() => {
            resolve(value);
          });
        }),
    } as unknown as typeof real.promises,
  );
  real.Date.now = now;
  globalThis.Date = new Proxy(real.Date, {
    construct: (target, args: unknown[]) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args) as Date,
  });
  performance.now = () => monotonicMs + clock.elapsed;
  performance.eventLoopUtilization = () => ({ idle: clock.elapsed, active: 0, utilization: 0 });
}

function restore(): void {
  replace(real.timers, real.promises);
  globalThis.Date = real.Date;
  real.Date.now = real.now;
  performance.now = real.performanceNow;
  performance.eventLoopUtilization = real.eventLoopUtilization;
}

function replace(by: typeof real.timers, byPromises: typeof real.promises): void {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = by;
  const functions = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
  Object.assign(globalThis, functions);
  Object.assign(timers, functions);
  Object.assign(promises, byPromises);
  syncBuiltinESMExports();
}

function waitFor<T>(clock: Clock, ms: number | undefined, value: T, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      timer.close();
      reject(
        Object.assign(new Error('The operation was aborted', { cause: signal?.reason }), {
          name: 'AbortError',
          code: 'ABORT_ERR',
        }),
      );
    };
    const timer = new SimulatedTimer(
      clock,
      () => {
        signal?.removeEventListener('abort', abort);
        resolve(value);
      },
      ms,
    );
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
