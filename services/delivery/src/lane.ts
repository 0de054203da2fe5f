/**
 * One destination's lane: the deliveries that wait for their turn, how many may be in flight at once, how fast
 * they have been going, and when the ones put off to a tier have been promised a place.
 */

/** What an attempt says about how much its receiver can take. */
export type Signal =
  /** It answered quickly: more may be sent at once. */
  | 'quick'
  /** It answered, slowly or with an error; as many as now. */
  | 'steady'
  /** It timed out, or asked for less: fewer. */
  | 'overloaded'
  /** Nothing was sent. */
  | 'none';

export interface Task {
  readonly bytes: number;
  readonly run: () => Promise<Signal>;
}

const firstConcurrency = 8;
/** A measuring period of the rate, and the weight of the latest one. */
const ratePeriodMs = 500;
const rateWeight = 0.3;
/** A lane that finishes nothing is not taken to be slower than this. */
const leastRate = 0.1;

export class Lane {
  readonly name: string;
  readonly #mostConcurrency: number;
  /** Waiting tasks; those before `#head` have been taken. */
  readonly #tasks: Task[] = [];
  #head = 0;
  #running = 0;
  #concurrency: number;
  #lastShrunkAt = -Infinity;

  #rate: number | undefined;
  #periodStartedAt: number | undefined;
  #finishedInPeriod = 0;

  #promisedUntil = 0;
  waitingBytes = 0;

  constructor(name: string, mostConcurrency: number) {
    this.name = name;
    this.#mostConcurrency = mostConcurrency;
    this.#concurrency = Math.min(firstConcurrency, mostConcurrency);
  }

  get waiting(): number {
    return this.#tasks.length - this.#head;
  }

  get running(): number {
    return this.#running;
  }

  /** Requests it may have in flight now. */
  get concurrency(): number {
    return Math.floor(this.#concurrency);
  }

  get canStart(): boolean {
    return this.waiting > 0 && this.#running < this.concurrency;
  }

  /** Nothing in it, and nothing to remember. */
  idle(now: number): boolean {
    return this.waiting === 0 && this.#running === 0 && this.#promisedUntil <= now;
  }

  push(task: Task, now: number): void {
    // A lane is measured only while it is busy: an idle one tells nothing about its receiver.
    if (this.waiting === 0) this.#startPeriod(now);
    this.#tasks.push(task);
    this.waitingBytes += task.bytes;
  }

  take(): Task | undefined {
    const task = this.#tasks[this.#head];
    if (!task) return undefined;
    this.#head += 1;
    this.#running += 1;
    this.waitingBytes -= task.bytes;
    // Taking from the front of an array is slow; the front is cut off now and then.
    if (this.#head >= 256 && this.#head * 2 >= this.#tasks.length) {
      this.#tasks.splice(0, this.#head);
      this.#head = 0;
    }
    return task;
  }

  finished(signal: Signal, tookMs: number, now: number): void {
    this.#running -= 1;
    this.#finishedInPeriod += 1;
    if (this.waiting === 0) this.#periodStartedAt = undefined;
    else this.#measure(now);
    if (signal === 'overloaded') this.#shrink(tookMs, now);
    else if (signal === 'quick') this.#grow();
  }

  clear(): void {
    this.#tasks.length = 0;
    this.#head = 0;
    this.waitingBytes = 0;
  }

  /** How long what waits will take at the rate measured, in milliseconds; 0 where nothing was measured yet. */
  waitMs(now: number): number {
    if (this.waiting === 0) return 0;
    this.#measure(now);
    return this.#rate === undefined ? 0 : (this.waiting / this.#rate) * 1_000;
  }

  /** Whether deliveries that came earlier have been put off, so that a new one must queue behind them. */
  owes(now: number): boolean {
    return this.#promisedUntil > now + this.waitMs(now);
  }

  /** Promises a place behind all that have been put off, and says when it is, by the rate measured. */
  promise(now: number): number {
    const begin = Math.max(this.#promisedUntil, now + this.waitMs(now));
    this.#promisedUntil = begin + 1_000 / (this.#rate ?? leastRate);
    return this.#promisedUntil;
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

  /** By one for each quick answer while the limit is what holds the lane back: it doubles with each round of answers. */
  #grow(): void {
    if (this.#running + 1 < this.concurrency) return;
    this.#concurrency = Math.min(this.#concurrency + 1, this.#mostConcurrency);
  }

  /** By half, once for all the requests that were in flight together. */
  #shrink(tookMs: number, now: number): void {
    if (now - this.#lastShrunkAt < tookMs) return;
    this.#lastShrunkAt = now;
    this.#concurrency = Math.max(1, this.#concurrency / 2);
  }
}
