/**
 * One destination's lane: the deliveries that wait for their turn, how many may be in flight at once, how fast
 * they have been going, and when those that were put off to a tier have been promised a place.
 *
 * Times are milliseconds of a clock that only goes forward.
 */

/** What an attempt says about how much its receiver can take. */
export type Signal =
  /** It answered quickly: more may be sent at once. */
  | 'quick'
  /** It answered, slowly or with an error: as many as now. */
  | 'steady'
  /** It timed out, or asked for less: fewer. */
  | 'overloaded'
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
/** A measuring period of the rate, and the weight of the latest one. */
const ratePeriodMs = 500;
const rateWeight = 0.3;
/** A receiver that takes so long, or says nothing for so long, is slow; and the weight of the latest attempt. */
const lateMs = 1_000;
const silentMs = 2_000;
const tookWeight = 0.1;
/** Tasks a second: a lane that finishes nothing is not taken to be slower than this. */
const leastRate = 0.1;
/** How much of a second's allowance may be used at once. */
const burstSeconds = 0.1;
/** An allowance that is short of a request by less than this is a whole one. */
const roundingError = 1e-6;

export class Lane {
  readonly #mostConcurrency: number;
  /** Waiting tasks; those before `#head` have been taken. */
  readonly #tasks: Task[] = [];
  #head = 0;
  #waitingBytes = 0;
  #running = 0;
  #concurrency: number;
  #shrunkAt = -Infinity;

  /** How long attempts take, and when the last one ended, or began after a pause. */
  #tookMs = 0;
  #heardAt = 0;

  #rate: number | undefined;
  #periodStartedAt: number | undefined;
  #finishedInPeriod = 0;

  /** When the last of those that were put off has its place. */
  #promisedUntil = 0;

  #rateLimit = Infinity;
  /** Full at first. */
  #allowance = Infinity;
  #allowedAt = 0;

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

  /**
   * Whether its receiver holds it back, and not this process: it timed out or asked for less, answers late, does not
   * answer at all, or has a rate limit. A process that is busy or stood still for a moment looks slow to every lane.
   */
  slow(now: number): boolean {
    const silent = this.#running > 0 && now - this.#heardAt > silentMs;
    return (
      this.#rateLimit !== Infinity ||
      this.#concurrency < Math.min(firstConcurrency, this.#mostConcurrency) ||
      this.#tookMs > lateMs ||
      silent
    );
  }

  /** There is nothing in it, and nothing to remember of it. */
  idle(now: number): boolean {
    return this.waiting === 0 && this.#running === 0 && this.#promisedUntil <= now;
  }

  /** Requests a second; Infinity for no limit. */
  limitRate(requestsPerSecond: number): void {
    this.#rateLimit = requestsPerSecond;
  }

  /** In how many whole milliseconds a task may start: 0 for now, Infinity where none waits or the lane is at its concurrency. */
  startsIn(now: number): number {
    const next = this.#tasks[this.#head];
    if (!next || this.#running >= this.concurrency) return Infinity;
    if (this.#rateLimit === Infinity) return 0;
    this.#refill(now);
    const missing = Math.min(next.requests, this.#burst) - this.#allowance;
    return missing <= roundingError ? 0 : Math.ceil(((missing - roundingError) / this.#rateLimit) * 1_000);
  }

  push(task: Task, now: number): void {
    // A lane is measured only while it is busy: an idle one tells nothing about its receiver.
    if (this.waiting === 0) this.#startPeriod(now);
    this.#tasks.push(task);
    this.#waitingBytes += task.bytes;
  }

  /** The first task, which counts as running from now on. */
  start(): Task | undefined {
    const task = this.#tasks[this.#head];
    if (!task) return undefined;
    this.#head += 1;
    if (this.#running === 0) this.#heardAt = performance.now();
    this.#running += 1;
    this.#waitingBytes -= task.bytes;
    if (this.#rateLimit !== Infinity) this.#allowance -= task.requests;
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
    this.#tookMs += (tookMs - this.#tookMs) * tookWeight;
    this.#running -= 1;
    this.#finishedInPeriod += 1;
    if (this.waiting > 0) this.#measure(now);
    else this.#periodStartedAt = undefined;
    if (signal === 'overloaded') this.#shrink(tookMs, now);
    else if (signal === 'quick') this.#grow();
  }

  /** How long what waits will take at the rate measured; 0 where nothing was measured yet. */
  waitMs(now: number): number {
    if (this.waiting === 0) return 0;
    this.#measure(now);
    return this.#rate === undefined ? 0 : (this.waiting / this.#rate) * 1_000;
  }

  /** Whether some that came earlier are put off still, so that a new one belongs behind them. */
  owes(now: number): boolean {
    return this.#promisedUntil > now + this.waitMs(now);
  }

  /** Promises the place behind all those put off, and says in how many milliseconds it is. */
  promise(now: number): number {
    const begin = Math.max(this.#promisedUntil, now + this.waitMs(now));
    this.#promisedUntil = begin + 1_000 / (this.#rate ?? leastRate);
    return this.#promisedUntil - now;
  }

  #startPeriod(now: number): void {
    this.#periodStartedAt = now;
    this.#finishedInPeriod = 0;
  }

  #measure(now: number): void {
    if (this.#periodStartedAt === undefined) return;
    const elapsedMs = now - this.#periodStartedAt;
    if (elapsedMs < ratePeriodMs) return;
    const rate = Math.max(leastRate, (this.#finishedInPeriod * 1_000) / elapsedMs);
    this.#rate = this.#rate === undefined ? rate : this.#rate + (rate - this.#rate) * rateWeight;
    this.#startPeriod(now);
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

  get #burst(): number {
    return Math.max(1, this.#rateLimit * burstSeconds);
  }

  #refill(now: number): void {
    const earned = ((now - this.#allowedAt) / 1_000) * this.#rateLimit;
    this.#allowance = Math.min(this.#burst, this.#allowance + earned);
    this.#allowedAt = now;
  }
}
