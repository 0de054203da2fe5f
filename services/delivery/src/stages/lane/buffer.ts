/**
 * The buffer in which deliveries wait for their turn in a lane. A lane that keeps up is never deferred: where such lanes
 * fill the buffer, reading pauses until a quarter of it is free. A lane that does not keep up may use its share of the
 * buffer, and further deliveries are deferred.
 *
 * What a lane that keeps up holds beyond its share is read ahead, beside the buffer. So reading continues, and the
 * deliveries of others behind a flood for one lane are found.
 *
 * A pause delays all destinations, so the lanes that cause it are charged (credit.ts), and stop being waited for when
 * their credit runs out.
 */
import { Budget, type Amount } from './budget.ts';
import { Credit } from './credit.ts';
import type { Lane } from './lane.ts';
import type { Moment, Task, Traffic } from './task.ts';

export interface LaneBufferOptions {
  readonly count: number;
  readonly bytes: number;
  /** What lanes that keep up may hold beyond their shares. */
  readonly readAhead: Amount;
  readonly lanes: () => Iterable<Lane>;
  readonly clock: () => Moment;
  /** Called when reading should pause (`high`), and when it should resume. */
  readonly onPressure: (traffic: Traffic, high: boolean) => void;
}

const traffics: readonly Traffic[] = ['live', 'background'];
/** The part for lanes with quick answers only. */
const reserve = 0.5;
/** The part of the background, beside the buffer for live deliveries. */
const backgroundPart = 0.25;
/** Reading resumes when the buffer is no fuller than this. */
const resumeAt = 0.75;
/** For how long reading may be paused for all lanes together. */
const creditTerms = { firstMs: 30_000, mostMs: 30_000, regained: 0.05 };
/** Finished tasks in a millisecond from which this process itself is the bottleneck, and no lane is charged. */
const fastest = 2;
/** While reading is paused, or something is read ahead, how often slow lanes are looked for. */
const checkEveryMs = 100;

export class LaneBuffer {
  readonly #options: LaneBufferOptions;
  readonly #budgets: Readonly<Record<Traffic, Budget>>;
  readonly #ahead: Budget;
  readonly #readAhead = new Set<Task>();
  readonly #isHigh = { live: false, background: false };
  /** Runs while reading is paused, or lanes hold more than their shares. */
  #check: NodeJS.Timeout | undefined;
  #checkedAt = 0;
  readonly #credit = new Credit(creditTerms, performance.now());
  #isPaused = false;

  constructor(options: LaneBufferOptions) {
    this.#options = options;
    const { count, bytes, readAhead } = options;
    this.#ahead = new Budget(readAhead, 0);
    const part = { count: count * backgroundPart, bytes: bytes * backgroundPart };
    this.#budgets = { live: new Budget({ count, bytes }, reserve), background: new Budget(part, reserve) };
  }

  get count(): number {
    return this.#budgets.live.count + this.#budgets.background.count + this.#ahead.count;
  }

  /** While lanes are paused, nothing is deferred and no lane is charged. */
  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused;
  }

  /** Whether such a task may wait in this lane. */
  admits(lane: Lane, { traffic, returned }: Pick<Task, 'traffic' | 'returned'>, at: Moment): boolean {
    if (this.#isPaused || lane.keepsUp(at, traffic)) return true;
    if (lane.isBackingOff(at.now)) return false;
    // An empty lane is admitted even without a share, or it could never show that its receiver has recovered.
    if (lane.waiting === 0 && lane.running === 0 && this.#budgets[traffic].fill < 1) return true;
    const isNext = returned || traffic === 'background' || !lane.hasPromised(at.now);
    return isNext && this.#isWithinShare(lane, traffic);
  }

  add(lane: Lane, task: Task): void {
    const { traffic, bytes } = task;
    if (traffic === 'live' && this.#ahead.fill < 1 && !this.#isWithinShare(lane, traffic)) {
      this.#readAhead.add(task);
      this.#ahead.acquire(bytes);
    } else {
      this.#budgets[traffic].acquire(bytes);
    }
    lane.push(task);
    this.#updatePressure();
  }

  /** Frees the place of a task that leaves the buffer, so that reading may resume. */
  release(task: Task): void {
    this.#free(task);
    this.#updatePressure();
  }

  /** Removes the tasks of revoked partitions. */
  dropRevoked(): void {
    for (const lane of this.#options.lanes()) for (const task of lane.dropRevoked()) this.#free(task);
    this.#updatePressure();
  }

  /** Defers all tasks of a lane whose receiver asked for a pause: they can wait for its end in a retry topic. */
  clear(lane: Lane, at: Moment): void {
    for (const traffic of traffics) {
      while (lane.waitingOf(traffic).count > 0) this.#deferLast(lane, traffic, at);
    }
    this.#updatePressure();
  }

  stop(): void {
    clearInterval(this.#check);
  }

  #isWithinShare(lane: Lane, traffic: Traffic): boolean {
    return this.#budgets[traffic].admits(lane.waitingOf(traffic), 'slow');
  }

  #free(task: Task): void {
    const budget = this.#readAhead.delete(task) ? this.#ahead : this.#budgets[task.traffic];
    budget.release(task.bytes);
  }

  /** Pauses or resumes reading, by how full the buffer is. */
  #updatePressure(): void {
    const { live, background } = this.#budgets;
    const hasReadAhead = this.#options.readAhead.count > 0;
    this.#update('live', hasReadAhead ? Math.min(live.fill, this.#ahead.fill) : live.fill);
    this.#update('background', background.fill);
    const isWatched = this.#isHigh.live || this.#isHigh.background || this.#readAhead.size > 0;
    if (isWatched && !this.#check) {
      this.#checkedAt = this.#options.clock().idle;
      this.#check = setInterval(() => this.#relieve(), checkEveryMs);
    } else if (!isWatched && this.#check) {
      clearInterval(this.#check);
      this.#check = undefined;
    }
  }

  #update(traffic: Traffic, fill: number): void {
    const isHigh = this.#isHigh[traffic] ? fill > resumeAt : fill >= 1;
    if (isHigh === this.#isHigh[traffic]) return;
    this.#isHigh[traffic] = isHigh;
    this.#options.onPressure(traffic, isHigh);
  }

  /** Charges the lanes for which reading is paused, and defers what slow lanes hold beyond their share. */
  #relieve(): void {
    const at = this.#options.clock();
    const pausedMs = at.idle - this.#checkedAt;
    this.#checkedAt = at.idle;
    if (this.#isPaused) return;
    for (const traffic of traffics) if (this.#isHigh[traffic]) this.#charge(traffic, pausedMs, at);
    for (const lane of this.#options.lanes()) {
      if (lane.waiting === 0) continue;
      for (const traffic of traffics) if (!lane.keepsUp(at, traffic)) this.#trim(lane, traffic, at);
    }
    this.#updatePressure();
  }

  /** Charges the lanes that hold at least the average. */
  #charge(traffic: Traffic, pausedMs: number, at: Moment): void {
    const waiting = Array.from(this.#options.lanes()).filter((lane) => lane.waitingOf(traffic).count > 0);
    const finished = waiting.reduce((sum, lane) => sum + lane.takeFinished(), 0);
    if (finished >= fastest * pausedMs) return;
    this.#credit.charge(pausedMs, at.now);
    const isExhausted = !this.#credit.isLeft(at.now);
    // With what is read ahead, which is beside the buffer.
    const mean = waiting.reduce((sum, lane) => sum + lane.waitingOf(traffic).count, 0) / waiting.length;
    for (const lane of waiting) {
      if (lane.waitingOf(traffic).count < mean) continue;
      if (isExhausted) lane.exhaustCredit(at.now);
      else lane.charge(pausedMs, at);
    }
  }

  #trim(lane: Lane, traffic: Traffic, at: Moment): void {
    const keepOne = lane.running === 0 && !lane.isBackingOff(at.now) ? 1 : 0;
    while (lane.waitingOf(traffic).count > keepOne && !this.#isWithinShare(lane, traffic)) {
      this.#deferLast(lane, traffic, at);
    }
  }

  #deferLast(lane: Lane, traffic: Traffic, at: Moment): void {
    const task = lane.dropLast(traffic);
    if (!task) return;
    this.#free(task);
    task.defer(lane.deferral(at.now, traffic));
  }
}
