/**
 * One destination's lane: the deliveries that wait for their turn, how many may be in flight at once, how fast
 * they may follow each other, and how long what waits will take.
 *
 * There is one model of the receiver, and everything follows from it. A task takes so long, and so many may be in
 * flight: that makes a rate (Little's law), which a rate limit, or a pace that the receiver has asked for with
 * 429, may lower. The rate turns what waits into a time.
 *
 * Times are milliseconds of a clock that only goes forward.
 */
import { Pace } from './pace.ts';

/** What an attempt says about how much its receiver can take. */
export type Signal =
  /** It answered quickly: more may be sent at once. */
  | 'quick'
  /** It answered, slowly or with an error: as many as now. */
  | 'steady'
  /** It timed out: fewer at once. */
  | 'overloaded'
  /** It asked for less: fewer at once, and no faster than what it took. */
  | 'throttled'
  /** Nothing was sent. */
  | 'none';

export interface Task {
  readonly bytes: number;
  /** Requests it will make, which a rate limit counts. */
  readonly requests: number;
  /** Must not reject. */
  run(): Promise<Signal>;
  /** Called instead of `run` where the lane has no room: a place is promised in `waitMs`. */
  putOff(waitMs: number): void;
}

const firstConcurrency = 8;
/** The weight of the latest task in how long tasks take. */
const tookWeight = 0.1;
/** How much of a second's allowance may be used at once. */
const burstSeconds = 0.1;
/** An allowance that is short of a request by less than this is a whole one. */
const roundingError = 1e-6;
/** A promise reaches no further ahead than this many times the time for which the lane has been putting off. */
const promiseReach = 10;

export class Lane {
  readonly #mostConcurrency: number;
  /** Waiting tasks; those before `#head` have been taken. */
  readonly #tasks: Task[] = [];
  #head = 0;
  #waitingBytes = 0;
  #running = 0;
  #concurrency: number;
  #shrunkAt = -Infinity;

  /** How long tasks take, and when the last one ended, or began after a pause. */
  #tookMs = 0;
  #heardAt = 0;

  readonly #pace = new Pace();
  /** Requests a second that the destination's configuration allows. */
  #rateLimit = Infinity;
  /** Full at first. */
  #allowance = Infinity;
  #allowedAt = 0;

  /** Places promised to tasks that were put off; they are used up at the lane's rate. */
  #owed = 0;
  #owedAt = 0;
  /** Since when some have been owed without a break. */
  #owesSince = 0;

  constructor(mostConcurrency: number) {
    this.#mostConcurrency = mostConcurrency;
    this.#concurrency = Math.min(firstConcurrency, mostConcurrency);
  }

  get waiting(): number {
    return this.#tasks.length - this.#head;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get running(): number {
    return this.#running;
  }

  /** Tasks it may have in flight now. */
  get concurrency(): number {
    return Math.floor(this.#concurrency);
  }

  /** Requests a second that it may send now; Infinity for no limit. */
  get rate(): number {
    return Math.min(this.#rateLimit, this.#pace.rate);
  }

  /** There is nothing in it, and no promise to keep. */
  idle(now: number): boolean {
    return this.waiting === 0 && this.#running === 0 && !this.owes(now);
  }

  /** Requests a second; Infinity for no limit. */
  limitRate(requestsPerSecond: number): void {
    this.#rateLimit = requestsPerSecond;
  }

  /** In how many whole milliseconds a task may start: 0 for now, Infinity where none waits or the lane is at its concurrency. */
  startsIn(now: number): number {
    const next = this.#tasks[this.#head];
    if (!next || this.#running >= this.concurrency) return Infinity;
    const rate = this.rate;
    if (rate === Infinity) return 0;
    const burst = Math.max(1, rate * burstSeconds);
    this.#allowance = Math.min(burst, this.#allowance + ((now - this.#allowedAt) / 1_000) * rate);
    this.#allowedAt = now;
    const missing = Math.min(next.requests, burst) - this.#allowance;
    return missing <= roundingError ? 0 : Math.ceil(((missing - roundingError) / rate) * 1_000);
  }

  push(task: Task): void {
    this.#tasks.push(task);
    this.#waitingBytes += task.bytes;
  }

  /** The first task, which counts as running from now on. */
  start(now: number): Task | undefined {
    const task = this.#tasks[this.#head];
    if (!task) return undefined;
    this.#head += 1;
    if (this.#running === 0) this.#heardAt = now;
    this.#running += 1;
    this.#waitingBytes -= task.bytes;
    if (this.rate !== Infinity) this.#allowance -= task.requests;
    // Taking from the front of an array is slow; the front is cut off now and then.
    if (this.#head >= 256 && this.#head * 2 >= this.#tasks.length) {
      this.#tasks.splice(0, this.#head);
      this.#head = 0;
    }
    return task;
  }

  /** Gives up the last task that waits. */
  dropLast(): Task | undefined {
    if (this.waiting === 0) return undefined;
    const task = this.#tasks.pop();
    if (task) this.#waitingBytes -= task.bytes;
    return task;
  }

  finished(signal: Signal, tookMs: number, now: number): void {
    this.#heardAt = now;
    this.#running -= 1;
    if (signal === 'none') return;
    this.#tookMs += (tookMs - this.#tookMs) * tookWeight;
    this.#pace.heard(signal === 'throttled', now);
    if (signal === 'overloaded' || signal === 'throttled') this.#shrink(tookMs, now);
    else if (signal === 'quick') this.#grow();
  }

  /** How long what waits will take; 0 where nothing is known yet. */
  waitMs(now: number): number {
    return this.waiting * this.#msPerTask(now);
  }

  /** Whether some that came earlier are put off still, so that a new one belongs behind them. */
  owes(now: number): boolean {
    this.#settle(now);
    return this.#owed > 0;
  }

  /** Promises the place behind all those put off, and says in how many milliseconds it is. */
  promise(now: number): number {
    if (!this.owes(now)) this.#owesSince = now;
    this.#owed += 1;
    const waitMs = (this.waiting + this.#owed) * this.#msPerTask(now);
    // A rate is not known well enough to look further ahead than one has looked back, or not by much.
    return Math.min(waitMs, promiseReach * (now - this.#owesSince));
  }

  #msPerTask(now: number): number {
    const silentMs = this.#running > 0 ? now - this.#heardAt : 0;
    const inFlightMs = Math.max(this.#tookMs, silentMs) / this.concurrency;
    const requests = this.#tasks[this.#head]?.requests ?? 1;
    return Math.max(inFlightMs, (requests * 1_000) / this.rate);
  }

  #settle(now: number): void {
    if (this.#owed > 0) this.#owed = Math.max(0, this.#owed - (now - this.#owedAt) / this.#msPerTask(now));
    this.#owedAt = now;
  }

  /** By one for each quick answer while the limit is what holds the lane back: it doubles with each round. */
  #grow(): void {
    if (this.#running + 1 < this.concurrency) return;
    this.#concurrency = Math.min(this.#concurrency + 1, this.#mostConcurrency);
  }

  /** By half, once for all that were in flight together. */
  #shrink(tookMs: number, now: number): void {
    if (now - this.#shrunkAt < tookMs) return;
    this.#shrunkAt = now;
    this.#concurrency = Math.max(1, this.#concurrency / 2);
  }
}
