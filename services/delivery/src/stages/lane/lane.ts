/**
 * The lane of one destination: the deliveries that wait for their turn, how many may be in flight, how fast they may follow
 * each other, and how long the waiting ones will take.
 *
 * All of this follows from one model of the receiver: the duration of a task and the number in flight make a rate
 * (Little's law), which a rate limit, or the pace that the receiver asked for with 429, may lower. The rate turns the
 * number of waiting tasks into a time.
 *
 * Times are milliseconds of monotonic clocks. There are two: the wall clock, and the idle clock, which stops while this
 * process is working. Time on the idle clock was spent waiting for the receiver and not for this process, so it decides
 * whether a receiver keeps up.
 */
import { Answers } from './answers.ts';
import type { Amount, Standing } from './budget.ts';
import { Credit } from './credit.ts';
import { PromisedTurns } from './promised-turns.ts';
import { Rate } from './rate.ts';
import type { LaneFull, LaneHold } from '../../delivery.ts';
import type { LimitsNow } from './own-limits.ts';
import type { Feedback, Moment, Started, Task, Traffic } from './task.ts';
import { WaitingTasks } from './waiting-tasks.ts';

/** A dead receiver should hold little from the first second on; one that answers reaches its maximum in six rounds. */
const firstConcurrency = 1;
/** How long a receiver may be silent and still be quick, or keep up: one that has answered before, and a new one. */
const silence = { quick: { known: 500, fresh: 100 }, keepsUp: { known: 2_000, fresh: 1_000 } };
/** A limit that makes the waiting tasks take longer than this is what holds the lane back. */
const limitedMs = 1_000;
/** An answer within this earns credit. */
const earningMs = 250;
/** For how long reading may be paused for a lane: briefly for one that has not answered yet. */
const creditTerms = { firstMs: 1_500, mostMs: 30_000, regained: 0.1 };
/** A silent receiver pays more. */
const silentCost = 5;
/** A longer back-off means that no task waits in the lane meanwhile. */
const shortBackoffMs = 1_000;

export class Lane {
  readonly #mostConcurrency: number;
  readonly #limits: LimitsNow;
  readonly #waiting = new WaitingTasks();
  readonly #runningTasks = { live: 0, background: 0 };
  #runningBytes = 0;
  #concurrency: number;
  #shrunkAt = -Infinity;
  readonly #answers = new Answers();
  /** When the last task ended, or was started after a pause. */
  #lastSignalAt: Moment = { now: 0, idle: 0 };
  #finished = 0;
  readonly #credit: Credit;
  readonly #rate: Rate;
  /** Until when the receiver asked for a pause with `Retry-After`. */
  #backoffUntil = 0;
  readonly #promised = new PromisedTurns();
  /** When tasks last waited for the rate, and for others in flight. */
  #rateHeldAt = -Infinity;
  #fullAt = -Infinity;

  /** @param limits those of the destination; none by default */
  constructor(mostConcurrency: number, now: number, limits: LimitsNow = () => undefined) {
    this.#mostConcurrency = mostConcurrency;
    this.#limits = limits;
    this.#rate = new Rate(limits);
    this.#credit = new Credit(creditTerms, now);
    this.#concurrency = Math.min(firstConcurrency, mostConcurrency);
  }

  get waiting(): number {
    return this.#waiting.count;
  }

  waitingOf(traffic: Traffic): Amount {
    return this.#waiting.of(traffic);
  }

  get running(): number {
    return this.#runningTasks.live + this.#runningTasks.background;
  }

  get inFlight(): Amount {
    return { count: this.running, bytes: this.#runningBytes };
  }

  /** The number of tasks that may be in flight now. */
  get concurrency(): number {
    return Math.min(Math.floor(this.#concurrency), this.#mostAllowed);
  }

  /** By the settings of the destination. */
  get #mostAllowed(): number {
    return this.#limits()?.inFlight ?? Infinity;
  }

  /** Requests a second that may be sent now; Infinity for no limit. */
  get rate(): number {
    return this.#rate.perSecond;
  }

  /** Whether the lane is empty, has promised nothing, and the receiver has not asked for less. */
  isForgettable(now: number): boolean {
    const isFree = !this.#rate.isPaced && now >= this.#backoffUntil && !this.hasPromised(now);
    return isFree && this.waiting === 0 && this.running === 0;
  }

  /**
   * Returns in how many whole milliseconds a task may start: 0 for now, Infinity where none waits or the lane is at its
   * concurrency.
   */
  startsIn(now: number): number {
    if (this.waiting === 0) return Infinity;
    const next = this.#waiting.next(this.#mayUseBackground);
    if (!next || this.running >= this.concurrency) {
      this.#fullAt = now;
      return Infinity;
    }
    const backoffMs = Math.ceil(this.#backoffUntil - now);
    const delayMs = backoffMs > 0 ? backoffMs : this.#rate.delayMs(next.requests, now);
    if (delayMs > 0) this.#rateHeldAt = now;
    return delayMs;
  }

  push(task: Task): void {
    this.#waiting.push(task);
  }

  /** Takes the next task, which counts as running until `finished` gets it back. */
  start(at: Moment): Started | undefined {
    const task = this.#waiting.takeNext(this.#mayUseBackground);
    if (!task) return undefined;
    if (this.running === 0) this.#lastSignalAt = at;
    this.#runningTasks[task.traffic] += 1;
    this.#runningBytes += task.bytes;
    this.#rate.use(task.requests);
    return { task, at, heldBy: this.#heldBySince(task.since) };
  }

  get #mayUseBackground(): boolean {
    return this.#runningTasks.background < Math.max(1, this.concurrency / 2);
  }

  /** Returns the cause for which tasks have waited since this time. */
  #heldBySince(since: number): LaneHold {
    if (this.#rateHeldAt >= since) return 'rate';
    return this.#fullAt >= since ? 'lane' : 'none';
  }

  /** Removes the last waiting task. */
  dropLast(traffic: Traffic): Task | undefined {
    return this.#waiting.takeLast(traffic);
  }

  /** Removes the waiting tasks of revoked partitions. */
  dropRevoked(): readonly Task[] {
    return this.#waiting.takeRevoked();
  }

  finished({ task, at: startedAt }: Started, { signal, retryAfterMs = 0 }: Feedback, at: Moment): void {
    this.#lastSignalAt = at;
    this.#runningTasks[task.traffic] -= 1;
    this.#runningBytes -= task.bytes;
    if (signal === 'none') {
      this.#rate.refund(task.requests);
      return;
    }
    const tookMs = at.now - startedAt.now;
    this.#answers.count(signal, tookMs);
    this.#finished += 1;
    if (signal === 'quick' && tookMs <= earningMs) this.#credit.earn();
    this.#rate.answered(signal === 'throttled', at.now);
    if (retryAfterMs > 0) this.#backoffUntil = Math.max(this.#backoffUntil, at.now + retryAfterMs);
    const isTooMuch = signal === 'overloaded' || signal === 'throttled';
    if (isTooMuch || (signal === 'failed' && this.#answers.isMostlyFailing)) this.#shrink(tookMs, at.now);
    else if (signal === 'quick') this.#grow(1);
    // One for each round, because a slow receiver may still take many requests in parallel.
    else if (signal === 'steady') this.#grow(1 / this.concurrency);
  }

  standing({ idle }: Moment): Standing {
    const isSilent = this.#isSilent(silence.quick, idle);
    if (this.#answers.isNew) return isSilent ? 'slow' : 'new';
    return this.#answers.isQuick && !isSilent ? 'quick' : 'slow';
  }

  /** Whether reading may be paused for this lane. Where it may not, deliveries beyond the lane's share are deferred. */
  keepsUp({ now, idle }: Moment, traffic: Traffic): boolean {
    const { timedOut, isMostlyBad } = this.#answers;
    if (timedOut || isMostlyBad || this.isBackingOff(now)) return false;
    if (this.#isSilent(silence.keepsUp, idle)) return false;
    const waiting = this.waitingOf(traffic).count + 1;
    const isLimited = waiting * Math.max(this.#msPerRate(), this.#msPerAllowed()) > limitedMs;
    return !isLimited && this.#credit.isLeft(now);
  }

  /** Whether the receiver asked for a pause that has more than a second left. */
  isBackingOff(now: number): boolean {
    return now + shortBackoffMs < this.#backoffUntil;
  }

  /** Charges a pause of reading, measured by the idle clock, to a lane that holds much of the buffer. */
  charge(pausedMs: number, { now, idle }: Moment): void {
    this.#credit.charge(pausedMs * (this.#silentMs(idle) > silence.quick.fresh ? silentCost : 1), now);
  }

  exhaustCredit(now: number): void {
    this.#credit.exhaust(now);
  }

  /** Returns how many tasks have finished since the last call. */
  takeFinished(): number {
    const finished = this.#finished;
    this.#finished = 0;
    return finished;
  }

  #isSilent({ known, fresh }: { readonly known: number; readonly fresh: number }, idle: number): boolean {
    return this.#silentMs(idle) > (this.#answers.isNew ? fresh : known);
  }

  #silentMs(idle: number): number {
    return this.running > 0 ? idle - this.#lastSignalAt.idle : 0;
  }

  /** Returns how long the waiting tasks will take; 0 where nothing is known yet. */
  waitMs(now: number): number {
    return this.waiting * this.#msPerTask(now);
  }

  /** Whether deliveries that came earlier are still deferred, so that a new one belongs behind them. */
  hasPromised(now: number): boolean {
    return this.#promised.areOpen(now, this.#msPerTask(now), this.#backoffUntil);
  }

  /**
   * Promises the turn behind all deferred deliveries. Returns in how many milliseconds it comes. The background gets an
   * estimate and no promise, because live deliveries would have to wait for it.
   */
  promiseTurn(now: number, traffic: Traffic): number {
    const backoffMs = Math.max(0, this.#backoffUntil - now);
    if (traffic === 'background') return backoffMs + this.waitMs(now);
    return backoffMs + this.#promised.add(now, this.waiting, this.#msPerTask(now), this.#backoffUntil);
  }

  /** Promises a turn, and says what the task is deferred for. */
  deferral(now: number, traffic: Traffic): LaneFull {
    const isBackoff = this.isBackingOff(now);
    const heldBy = isBackoff || this.#msPerRate() > this.#msInFlight(now) ? 'rate' : 'lane';
    return { kind: 'full', waitMs: this.promiseTurn(now, traffic), isBackoff, heldBy };
  }

  #msPerTask(now: number): number {
    return Math.max(this.#msInFlight(now), this.#msPerRate());
  }

  /** The time for each task by what is in flight, and by the rate; the longer one holds the lane back. */
  #msInFlight(now: number): number {
    const silentMs = this.running > 0 ? now - this.#lastSignalAt.now : 0;
    return Math.max(this.#answers.taskMs, silentMs) / this.concurrency;
  }

  #msPerRate(): number {
    return (this.#waiting.requests * 1_000) / this.rate;
  }

  /** The time for each task by the number that the destination allows in flight, where the lane would have more. */
  #msPerAllowed(): number {
    const allowed = this.#mostAllowed;
    return allowed < this.#concurrency ? this.#answers.taskMs / allowed : 0;
  }

  /** Only while the concurrency holds the lane back. One for each quick answer doubles it with each round. */
  #grow(by: number): void {
    if (this.waiting === 0 && this.running + 1 < this.concurrency) return;
    this.#concurrency = Math.min(this.#concurrency + by, this.#mostConcurrency);
  }

  /** Halves the concurrency, once for all tasks that were in flight together. */
  #shrink(tookMs: number, now: number): void {
    if (now - this.#shrunkAt < tookMs) return;
    this.#shrunkAt = now;
    this.#concurrency = Math.max(1, this.#concurrency / 2);
  }
}
