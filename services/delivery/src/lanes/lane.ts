/**
 * One destination's lane: the deliveries that wait for their turn, how many may be in flight, how fast they may follow
 * each other, whether each URL is known to be dead, and how long what waits will take.
 *
 * There is one model of the receiver, and everything follows from it. A task takes so long, and so many may be in
 * flight: that makes a rate (Little's law), which a rate limit, or a pace that the receiver has asked for with
 * 429, may lower. The rate turns what waits into a time.
 *
 * Times are milliseconds of a clock that only goes forward. There are two: the wall's, and the idle clock, which stands
 * still while this process is working. What a receiver took by the idle clock is time for which it, and nothing in this
 * process, was waited for; so whether a receiver keeps up is judged by that.
 */
import { Breaker, type BreakerState } from './breaker.ts';
import type { Amount, Standing } from './budget.ts';
import { Credit } from './credit.ts';
import { Pace } from './pace.ts';
import { TaskQueue } from './queue.ts';

/** What an attempt says about how much its receiver can take. */
export type Signal =
  /** It answered quickly: more may be sent. */
  | 'quick'
  /** It answered slowly: as many as now. */
  | 'steady'
  /** It failed: fewer at once, where most do. */
  | 'failed'
  /** It timed out: fewer at once. */
  | 'overloaded'
  /** It asked for less: fewer at once, and no faster than what it took. */
  | 'throttled'
  /** Nothing was sent. */
  | 'none';

export interface Feedback {
  readonly signal: Signal;
  /** The receiver asked to be left alone for so long. */
  readonly retryAfterMs?: number;
}

export interface Task {
  readonly bytes: number;
  /** Requests it will make, which a rate limit counts. */
  readonly requests: number;
  /** Its partition belongs to another member now. */
  readonly revoked: boolean;
  /** Must not reject. */
  run(): Promise<Feedback>;
  /**
   * Called instead of `run` where the lane has no room: a place is promised in `waitMs`. `isRest` where that is because
   * the receiver asked to be left alone.
   */
  defer(waitMs: number, isRest: boolean): void;
}

export interface Moment {
  readonly now: number;
  /** Of the idle clock. */
  readonly idle: number;
}

/** A dead receiver should hold little from the first second on; one that answers has all it needs after six rounds. */
const firstConcurrency = 1;
/** The weight of the latest task in how long tasks take, and in what share of them fails. */
const weight = 0.1;
/** A receiver that says nothing for so long is not quick, or does not keep up: one that did, and one that is new. */
const silence = { quick: { known: 500, fresh: 100 }, keepsUp: { known: 2_000, fresh: 1_000 } };
/** A receiver that fails more often than this is slowed down; it does not keep up, and is not quick. */
const mostlyBad = 0.8;
/** A rate limit that makes what waits take longer is what holds the lane back. */
const limitedMs = 1_000;
/** An answer within this is worth waiting for the next. */
const earningMs = 250;
/** An answer within this is quick, on average. */
const quickMs = 1_000;
/** For how long reading may be paused for its sake: little for one that has not shown what it can do. */
const creditTerms = { firstMs: 1_500, mostMs: 30_000, regained: 0.1 };
/** One that says nothing at all while it is waited for pays more. */
const silentCost = 5;
/** To be left alone for longer means that nothing waits in the lane meanwhile. */
const shortRestMs = 1_000;
/** Of tasks that start while live ones wait, every so many are from the background. */
const backgroundEvery = 4;
/** Twice as many as a destination has, so that those it had before are forgotten in the end. */
const mostUrls = 10;
/** How much of a second's allowance may be used at once. */
const burstSeconds = 0.1;
/** An allowance that is short of a request by less than this is a whole one. */
const roundingError = 1e-6;
/** A promise reaches no further ahead than this many times the time for which the lane has been deferring. */
const promiseReach = 10;

export class Lane {
  readonly #mostConcurrency: number;
  readonly #onBreaker: (url: string, state: BreakerState, before: BreakerState) => void;
  readonly #live = new TaskQueue();
  /** What is replayed or brought forward: it has a share of its own, and never the whole lane. */
  readonly #background = new TaskQueue();
  readonly #runningTasks = { live: 0, background: 0 };
  #runningBytes = 0;
  #liveSinceBackground = 0;
  #concurrency: number;
  #shrunkAt = -Infinity;

  /** How long tasks take, and when the last one ended, or began after a pause. */
  #tookMs = 0;
  #heardAt: Moment = { now: 0, idle: 0 };
  /** The last one that was sent ran out of time. */
  #timedOut = false;
  /** Of late, the share of tasks that came to nothing, and of those that failed; undefined before any ended. */
  #badShare: number | undefined;
  #failedShare = 0;
  /** How long it took, on average, for those that did not come to nothing. */
  #goodMs = 0;
  #finished = 0;

  readonly #credit: Credit;

  readonly #pace = new Pace();
  /** Requests a second that the destination's configuration allows. */
  #rateLimit = Infinity;
  /** Full at first. */
  #allowance = Infinity;
  #allowedAt = 0;
  /** Until when the receiver asked to be left alone. */
  #leftAloneUntil = 0;

  /** Places promised to tasks that were deferred; they are used up at the lane's rate. */
  #owed = 0;
  #owedAt = 0;
  /** Since when some have been owed without a break. */
  #owesSince = 0;

  /** By URL, in the order in which they were first used. */
  readonly #breakers = new Map<string, Breaker>();

  constructor(
    mostConcurrency: number,
    now: number,
    onBreaker: (url: string, state: BreakerState, before: BreakerState) => void = () => undefined,
  ) {
    this.#mostConcurrency = mostConcurrency;
    this.#credit = new Credit(creditTerms, now);
    this.#onBreaker = onBreaker;
    this.#concurrency = Math.min(firstConcurrency, mostConcurrency);
  }

  get waiting(): number {
    return this.#live.count + this.#background.count;
  }

  /** What waits of the background, or of the live ones. */
  waitingOf(background: boolean): Amount {
    return this.#queue(background);
  }

  get running(): number {
    return this.#runningTasks.live + this.#runningTasks.background;
  }

  get inFlight(): Amount {
    return { count: this.running, bytes: this.#runningBytes };
  }

  /** Tasks it may have in flight now. */
  get concurrency(): number {
    return Math.floor(this.#concurrency);
  }

  /** Requests a second that it may send now; Infinity for no limit. */
  get rate(): number {
    return Math.min(this.#rateLimit, this.#pace.rate);
  }

  /** There is nothing in it, no promise to keep, and nothing is known of its URLs that would be missed. */
  isForgettable(now: number): boolean {
    const remembers = [...this.#breakers.values()].some((breaker) => !breaker.idle);
    const isFree = this.#pace.rate === Infinity && now >= this.#leftAloneUntil && !this.owes(now);
    return !remembers && isFree && this.waiting === 0 && this.running === 0;
  }

  breaker(url: string): Breaker {
    let breaker = this.#breakers.get(url);
    if (!breaker) {
      const [oldest] = this.#breakers;
      if (oldest && this.#breakers.size >= mostUrls) {
        this.#breakers.delete(oldest[0]);
        oldest[1].forget();
      }
      breaker = new Breaker((state, before) => {
        this.#onBreaker(url, state, before);
      });
      this.#breakers.set(url, breaker);
    }
    return breaker;
  }

  /** Requests a second; Infinity for no limit. */
  limitRate(requestsPerSecond: number): void {
    this.#rateLimit = requestsPerSecond;
  }

  /** In how many whole milliseconds a task may start: 0 for now, Infinity where none waits or the lane is at its concurrency. */
  startsIn(now: number): number {
    const next = this.#nextQueue()?.first;
    if (!next || this.running >= this.concurrency) return Infinity;
    if (now < this.#leftAloneUntil) return Math.ceil(this.#leftAloneUntil - now);
    const rate = this.rate;
    if (rate === Infinity) return 0;
    const burst = Math.max(1, rate * burstSeconds);
    this.#allowance = Math.min(burst, this.#allowance + ((now - this.#allowedAt) / 1_000) * rate);
    this.#allowedAt = now;
    const missing = Math.min(next.requests, burst) - this.#allowance;
    return missing <= roundingError ? 0 : Math.ceil(((missing - roundingError) / rate) * 1_000);
  }

  push(task: Task, background = false): void {
    this.#queue(background).push(task);
  }

  /** The task whose turn it is, which counts as running until it is told to have `finished`. */
  start(at: Moment): { readonly task: Task; readonly background: boolean } | undefined {
    const queue = this.#nextQueue();
    const task = queue?.takeFirst();
    if (!task) return undefined;
    const background = queue === this.#background;
    this.#liveSinceBackground = background ? 0 : this.#liveSinceBackground + 1;
    if (this.running === 0) this.#heardAt = at;
    this.#runningTasks[background ? 'background' : 'live'] += 1;
    this.#runningBytes += task.bytes;
    if (this.rate !== Infinity) this.#allowance -= task.requests;
    return { task, background };
  }

  #queue(background: boolean): TaskQueue {
    return background ? this.#background : this.#live;
  }

  /** The live ones first, but for a share; and the background never takes all of a lane. */
  #nextQueue(): TaskQueue | undefined {
    const mayStartBackground =
      this.#background.count > 0 && this.#runningTasks.background < Math.max(1, this.concurrency / 2);
    if (this.#live.count === 0) return mayStartBackground ? this.#background : undefined;
    const isTurn = this.#liveSinceBackground >= backgroundEvery - 1;
    return mayStartBackground && isTurn ? this.#background : this.#live;
  }

  /** Gives up the last task that waits. */
  dropLast(background: boolean): Task | undefined {
    return this.#queue(background).takeLast();
  }

  /** Gives up what belongs to another member now. */
  dropRevoked(): { readonly live: readonly Task[]; readonly background: readonly Task[] } {
    return { live: this.#live.takeRevoked(), background: this.#background.takeRevoked() };
  }

  finished(
    { task, background }: { readonly task: Task; readonly background: boolean },
    { signal, retryAfterMs = 0 }: Feedback,
    startedAt: Moment,
    at: Moment,
  ): void {
    this.#heardAt = at;
    this.#runningTasks[background ? 'background' : 'live'] -= 1;
    this.#runningBytes -= task.bytes;
    if (signal === 'none') {
      if (this.rate !== Infinity) this.#allowance += task.requests;
      return;
    }
    const tookMs = at.now - startedAt.now;
    this.#tookMs = closer(this.#tookMs, tookMs);
    const isGood = signal === 'quick' || signal === 'steady';
    if (isGood) this.#goodMs = closer(this.#goodMs, tookMs);
    this.#badShare = this.#badShare === undefined ? (isGood ? 0 : 1) : closer(this.#badShare, isGood ? 0 : 1);
    this.#timedOut = signal === 'overloaded';
    this.#finished += 1;
    if (signal === 'quick' && tookMs <= earningMs) this.#credit.earn();
    this.#failedShare = closer(this.#failedShare, signal === 'failed' ? 1 : 0);
    this.#pace.heard(signal === 'throttled', at.now);
    if (retryAfterMs > 0) this.#leftAloneUntil = Math.max(this.#leftAloneUntil, at.now + retryAfterMs);
    const isTooMuch = signal === 'overloaded' || signal === 'throttled';
    if (isTooMuch || (signal === 'failed' && this.#failedShare > mostlyBad)) this.#shrink(tookMs, at.now);
    else if (signal === 'quick') this.#grow(1);
    // By one a round: slowness is no reason to have no more than one in flight for ever.
    else if (signal === 'steady') this.#grow(1 / this.concurrency);
  }

  standing({ idle }: Moment): Standing {
    if (this.#badShare === undefined) return this.#isSilent(silence.quick, idle) ? 'slow' : 'new';
    const answers = this.#badShare <= mostlyBad && !this.#timedOut && !this.#isSilent(silence.quick, idle);
    return answers && this.#goodMs <= quickMs ? 'quick' : 'slow';
  }

  /** Whether reading may be paused for its sake, rather than that what it has no room for is deferred. */
  keepsUp({ now, idle }: Moment, background = false): boolean {
    if (this.#timedOut || (this.#badShare ?? 0) > mostlyBad || this.isLeftAlone(now)) return false;
    if (this.#isSilent(silence.keepsUp, idle)) return false;
    const requests = this.#live.first?.requests ?? 1;
    const waiting = this.waitingOf(background).count + 1;
    const isLimited = (waiting * requests * 1_000) / this.rate > limitedMs;
    return !isLimited && this.#credit.isLeft(now);
  }

  /** Whether its receiver asked to be left alone for more than a moment. */
  isLeftAlone(now: number): boolean {
    return now + shortRestMs < this.#leftAloneUntil;
  }

  /** Reading was paused for so long, by the idle clock, and the lane holds much of what waits. */
  charge(pausedMs: number, { now, idle }: Moment): void {
    this.#credit.charge(pausedMs * (this.#silentMs(idle) > silence.quick.fresh ? silentCost : 1), now);
  }

  /** There is no more waiting for it, whatever credit it has. */
  useUp(now: number): void {
    this.#credit.useUp(now);
  }

  /** Tasks that have ended since this was last asked. */
  takeFinished(): number {
    const finished = this.#finished;
    this.#finished = 0;
    return finished;
  }

  #isSilent({ known, fresh }: { readonly known: number; readonly fresh: number }, idle: number): boolean {
    return this.#silentMs(idle) > (this.#badShare === undefined ? fresh : known);
  }

  #silentMs(idle: number): number {
    return this.running > 0 ? idle - this.#heardAt.idle : 0;
  }

  /** How long what waits will take; 0 where nothing is known yet. */
  waitMs(now: number): number {
    return this.waiting * this.#msPerTask(now);
  }

  /** Whether some that came earlier are deferred still, so that a new one belongs behind them. */
  owes(now: number): boolean {
    this.#settle(now);
    return this.#owed > 0;
  }

  /**
   * Promises the place behind all those deferred, and says in how many milliseconds it is. One of the background gets
   * none that others would have to wait for.
   */
  promise(now: number, background = false): number {
    const restMs = Math.max(0, this.#leftAloneUntil - now);
    if (background) return restMs + this.waitMs(now);
    if (!this.owes(now)) this.#owesSince = now;
    this.#owed += 1;
    const waitMs = (this.waiting + this.#owed) * this.#msPerTask(now);
    // A rate is not known well enough to look further ahead than one has looked back, or not by much.
    return restMs + Math.min(waitMs, promiseReach * (now - this.#owesSince));
  }

  #msPerTask(now: number): number {
    const silentMs = this.running > 0 ? now - this.#heardAt.now : 0;
    const inFlightMs = Math.max(this.#tookMs, silentMs) / this.concurrency;
    const requests = this.#live.first?.requests ?? 1;
    return Math.max(inFlightMs, (requests * 1_000) / this.rate);
  }

  #settle(now: number): void {
    // Nothing is sent while it is left alone.
    const restedUntil = Math.min(now, Math.max(this.#owedAt, this.#leftAloneUntil));
    if (this.#owed > 0) this.#owed = Math.max(0, this.#owed - (now - restedUntil) / this.#msPerTask(now));
    this.#owedAt = now;
  }

  /** While the limit is what holds the lane back. By one for each quick answer, it doubles with each round. */
  #grow(by: number): void {
    if (this.waiting === 0 && this.running + 1 < this.concurrency) return;
    this.#concurrency = Math.min(this.#concurrency + by, this.#mostConcurrency);
  }

  /** By half, once for all that were in flight together. */
  #shrink(tookMs: number, now: number): void {
    if (now - this.#shrunkAt < tookMs) return;
    this.#shrunkAt = now;
    this.#concurrency = Math.max(1, this.#concurrency / 2);
  }
}

function closer(average: number, latest: number): number {
  return average + (latest - average) * weight;
}
