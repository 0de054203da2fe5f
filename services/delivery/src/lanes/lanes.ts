/**
 * One lane per destination, so that destinations share a process without sharing their trouble. Lanes take turns for
 * what the process may have in flight, and for the buffer in which deliveries wait for their turn; both are shared in one
 * way (budget.ts). README.md explains it.
 *
 * What a slow lane has no room for in the buffer is deferred. A lane that keeps up is never deferred: where such lanes
 * fill the buffer, reading pauses until they have made room, which takes a moment.
 */
import type { Breaker, BreakerState, Permission } from './breaker.ts';
import { Budget } from './budget.ts';
import { Credit } from './credit.ts';
import { Lane, type Feedback, type Moment, type Task } from './lane.ts';

export interface LaneLimits {
  /** Tasks in flight for one destination, at most. */
  readonly perLane: number;
  /** Tasks in flight altogether. */
  readonly total: number;
  /** Tasks that wait, and their bytes, beyond which reading pauses. */
  readonly waiting: number;
  readonly waitingBytes: number;
}

export interface SubmitOptions {
  /** It comes back from a tier, and goes before those that come now. */
  readonly returned?: boolean;
  /** It gives way to live traffic: a replay, or what is brought forward. */
  readonly background?: boolean;
  /** The destination's limit, in requests a second. */
  readonly rateLimit?: number;
}

export interface LanesOptions {
  /** Told when reading of live or background deliveries should pause, and when it may go on. */
  readonly onPressure?: (kind: 'live' | 'background', high: boolean) => void;
  readonly onBreaker?: (change: BreakerChange) => void;
  /** Milliseconds for which this process has had nothing to do. */
  readonly idleMs?: () => number;
}

export interface BreakerChange {
  readonly lane: string;
  readonly url: string;
  readonly state: BreakerState;
}

/** The parts that only lanes with quick answers may use. */
const reserve = { inFlight: 0.25, waiting: 0.5 };
/** Bodies in flight, at most. */
const bytesInFlight = 32 * 2 ** 20;
/** What may wait in the background, as a part of what may wait altogether. */
const backgroundPart = 0.25;
/** Probes of open breakers, as a part of what may be in flight. */
const probePart = 0.125;
/** Reading that was paused goes on when the buffer is no fuller than this. */
const resumeAt = 0.75;
/** For how long reading may be paused for the sake of all lanes together. */
const creditTerms = { firstMs: 30_000, mostMs: 30_000, regained: 0.05 };
/** Tasks in a millisecond: where so many end, it is this process that everything waits for, and nobody pays. */
const fastest = 2;
/** While reading is paused, how often to look which lanes have turned out to be slow. */
const pressureCheckMs = 100;
/** Beyond 1,000 lanes, those with nothing in them are forgotten now and then. */
const lanesBeforeForgetting = 1_000;

export class Lanes {
  readonly #limits: LaneLimits;
  readonly #onPressure: (kind: 'live' | 'background', high: boolean) => void;
  readonly #onBreaker: (change: BreakerChange) => void;
  readonly #idleMs: () => number;
  readonly #lanes = new Map<string, Lane>();
  #forgetAt = lanesBeforeForgetting;
  /** Lanes that may start a task now, in the order of their turns. */
  readonly #ready = new Set<Lane>();
  /** Lanes that could, and have to wait until others give back what they hold. */
  readonly #crowdedOut = new Set<Lane>();
  /** Lanes whose rate limit, or receiver, lets them go on later. */
  readonly #limited = new Map<Lane, NodeJS.Timeout>();
  readonly #inFlight: Budget;
  readonly #live: Budget;
  readonly #background: Budget;
  readonly #breakers = { open: 0, 'half-open': 0 };
  readonly #pressure = { live: false, background: false };
  /** While there is pressure. */
  #relief: NodeJS.Timeout | undefined;
  #relievedAt = 0;
  readonly #credit = new Credit(creditTerms, performance.now());
  #held = false;
  #stopped = false;
  #onIdle: (() => void) | undefined;

  constructor(
    limits: LaneLimits,
    {
      onPressure = () => undefined,
      onBreaker = () => undefined,
      idleMs = () => performance.eventLoopUtilization().idle,
    }: LanesOptions = {},
  ) {
    this.#limits = limits;
    this.#onPressure = onPressure;
    this.#onBreaker = onBreaker;
    this.#idleMs = idleMs;
    const waiting = { count: limits.waiting, bytes: limits.waitingBytes };
    this.#inFlight = new Budget({ count: limits.total, bytes: bytesInFlight }, reserve.inFlight);
    this.#live = new Budget(waiting, reserve.waiting);
    this.#background = new Budget(
      { count: waiting.count * backgroundPart, bytes: waiting.bytes * backgroundPart },
      reserve.waiting,
    );
  }

  get running(): number {
    return this.#inFlight.count;
  }

  get waiting(): number {
    return this.#live.count + this.#background.count;
  }

  /** Runs `task` when it is its turn, in the order of its lane; or defers it, where the lane is slow and full. */
  submit(
    name: string,
    task: Task,
    { returned = false, background = false, rateLimit = Infinity }: SubmitOptions = {},
  ): void {
    if (this.#stopped) return;
    const lane = this.#laneOf(name);
    const at = this.#moment();
    lane.limitRate(rateLimit);
    if (!this.#hasRoom(lane, { returned, background }, at)) {
      task.defer(lane.promise(at.now, background), lane.isLeftAlone(at.now));
      return;
    }
    lane.push(task, background);
    this.#budget(background).take(task.bytes);
    this.#watchPressure();
    this.#schedule(lane, at.now);
    this.#startSome();
  }

  /** Whether nothing would be sent to this URL now. */
  parks(name: string, url: string): boolean {
    return this.#lanes.get(name)?.breaker(url).parks(performance.now()) ?? false;
  }

  /** What is known of this URL. */
  stateOf(name: string, url: string): Pick<Breaker, 'state' | 'since'> {
    return this.#lanes.get(name)?.breaker(url) ?? { state: 'closed', since: -Infinity };
  }

  /** Whether to send a request to this URL. Whoever is told `send` or `probe` has to `report`. */
  ask(name: string, url: string): Permission {
    const breaker = this.#laneOf(name).breaker(url);
    const isCrowded = this.#breakers['half-open'] >= Math.max(1, this.#limits.total * probePart);
    if (breaker.state !== 'closed' && isCrowded) return 'park';
    return breaker.ask(performance.now());
  }

  /** Tells whether the URL is well. */
  report(name: string, url: string, succeeded: boolean): void {
    this.#laneOf(name).breaker(url).report(succeeded, performance.now());
  }

  /** In how many milliseconds the one delivery that asks first is to come back as the next probe; undefined for others. */
  claimProbe(name: string, url: string): number | undefined {
    return this.#laneOf(name).breaker(url).claimProbe(performance.now());
  }

  /** Whether there is room for one more of the background. */
  hasRoomFor(name: string): boolean {
    const lane = this.#lanes.get(name);
    return !lane || this.#hasRoom(lane, { returned: false, background: true }, this.#moment());
  }

  /** URLs whose breaker is in this state. */
  countBreakers(state: 'open' | 'half-open'): number {
    return this.#breakers[state];
  }

  /** Whether everything waits where it is: nothing starts, and nothing is deferred. */
  get held(): boolean {
    return this.#held;
  }

  hold(): void {
    this.#held = true;
  }

  /** Goes on, without what belongs to another member now. */
  release(): void {
    this.#held = false;
    for (const lane of this.#lanes.values()) {
      const revoked = lane.dropRevoked();
      for (const { bytes } of revoked.live) this.#live.giveBack(bytes);
      for (const { bytes } of revoked.background) this.#background.giveBack(bytes);
    }
    this.#watchPressure();
    this.#letIn();
    this.#startSome();
  }

  /** Forgets the tasks that have not started, and resolves when the others have finished. */
  async drain(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#relief);
    for (const timer of this.#limited.values()) clearTimeout(timer);
    this.#ready.clear();
    if (this.running === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #moment(): Moment {
    return { now: performance.now(), idle: this.#idleMs() };
  }

  #laneOf(name: string): Lane {
    let lane = this.#lanes.get(name);
    if (!lane) {
      if (this.#lanes.size >= this.#forgetAt) this.#forgetIdle();
      lane = new Lane(this.#limits.perLane, performance.now(), (url, state, before) => {
        if (before !== 'closed') this.#breakers[before] -= 1;
        if (state !== 'closed') this.#breakers[state] += 1;
        this.#onBreaker({ lane: name, url, state });
      });
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #forgetIdle(): void {
    const now = performance.now();
    for (const [name, lane] of this.#lanes) if (lane.isForgettable(now)) this.#lanes.delete(name);
    this.#forgetAt = Math.max(lanesBeforeForgetting, this.#lanes.size * 2);
  }

  #hasRoom(
    lane: Lane,
    { returned, background }: { readonly returned: boolean; readonly background: boolean },
    at: Moment,
  ): boolean {
    if (this.#held || lane.keepsUp(at, background)) return true;
    if (lane.isLeftAlone(at.now)) return false;
    // Who has nothing at all is let in even where the others have left nothing, or it could never show that it is well.
    if (lane.waiting === 0 && lane.running === 0 && this.#budget(background).fill < 1) return true;
    const isNext = returned || background || !lane.owes(at.now);
    return isNext && this.#withinShare(lane, background);
  }

  #withinShare(lane: Lane, background: boolean): boolean {
    return this.#budget(background).admits(lane.waitingOf(background), 'slow');
  }

  #budget(background: boolean): Budget {
    return background ? this.#background : this.#live;
  }

  #watchPressure(): void {
    this.#watch('live', this.#live);
    this.#watch('background', this.#background);
    const isHigh = this.#pressure.live || this.#pressure.background;
    if (isHigh && !this.#relief) {
      this.#relievedAt = this.#idleMs();
      this.#relief = setInterval(() => {
        this.#relieve();
      }, pressureCheckMs);
    } else if (!isHigh && this.#relief) {
      clearInterval(this.#relief);
      this.#relief = undefined;
    }
  }

  #watch(kind: 'live' | 'background', { fill }: Budget): void {
    const isHigh = this.#pressure[kind] ? fill > resumeAt : fill >= 1;
    if (isHigh === this.#pressure[kind]) return;
    this.#pressure[kind] = isHigh;
    this.#onPressure(kind, isHigh);
  }

  /** Has those pay for whose sake reading is paused, and defers what lanes hold beyond their share that do not keep up. */
  #relieve(): void {
    const at = this.#moment();
    const pausedMs = at.idle - this.#relievedAt;
    this.#relievedAt = at.idle;
    if (this.#held) return;
    for (const background of [false, true]) {
      if (this.#pressure[background ? 'background' : 'live']) this.#charge(background, pausedMs, at);
    }
    for (const lane of this.#lanes.values()) {
      if (lane.waiting === 0) continue;
      for (const background of [false, true]) {
        if (!lane.keepsUp(at, background)) this.#trim(lane, background, at);
      }
    }
    this.#watchPressure();
  }

  /** Those who hold no less than the others do. */
  #charge(background: boolean, pausedMs: number, at: Moment): void {
    const waiting = [...this.#lanes.values()].filter((lane) => lane.waitingOf(background).count > 0);
    const finished = waiting.reduce((sum, lane) => sum + lane.takeFinished(), 0);
    if (finished >= fastest * pausedMs) return;
    this.#credit.charge(pausedMs, at.now);
    const isUsedUp = !this.#credit.isLeft(at.now);
    const mean = this.#budget(background).count / waiting.length;
    for (const lane of waiting) {
      if (lane.waitingOf(background).count < mean) continue;
      if (isUsedUp) lane.useUp(at.now);
      else lane.charge(pausedMs, at);
    }
  }

  #trim(lane: Lane, background: boolean, at: Moment): void {
    const keepOne = lane.running === 0 && !lane.isLeftAlone(at.now) ? 1 : 0;
    while (lane.waitingOf(background).count > keepOne && !this.#withinShare(lane, background)) {
      this.#deferLast(lane, background, at);
    }
  }

  /** Its receiver asked to be left alone: what would wait for that here, may do so in a tier. */
  #clear(lane: Lane, at: Moment): void {
    for (const background of [false, true]) {
      while (lane.waitingOf(background).count > 0) this.#deferLast(lane, background, at);
    }
  }

  #deferLast(lane: Lane, background: boolean, at: Moment): void {
    const task = lane.dropLast(background);
    if (!task) return;
    this.#budget(background).giveBack(task.bytes);
    task.defer(lane.promise(at.now, background), lane.isLeftAlone(at.now));
  }

  /** Gives the lane a turn, now or when its rate limit lets it go on. */
  #schedule(lane: Lane, now: number): void {
    const delayMs = lane.startsIn(now);
    if (delayMs === 0) {
      this.#crowdedOut.delete(lane);
      this.#ready.add(lane);
    } else if (delayMs !== Infinity && !this.#limited.has(lane)) {
      const timer = setTimeout(() => {
        this.#limited.delete(lane);
        this.#schedule(lane, performance.now());
        this.#startSome();
      }, delayMs);
      this.#limited.set(lane, timer);
    }
  }

  #startSome(): void {
    if (this.#stopped || this.#held) return;
    for (const lane of this.#ready) {
      // To the back of the turns; a lane with nothing to start leaves them.
      this.#ready.delete(lane);
      const at = this.#moment();
      if (lane.startsIn(at.now) > 0) {
        this.#schedule(lane, at.now);
        continue;
      }
      if (!this.#inFlight.admits(lane.inFlight, lane.standing(at))) {
        this.#crowdedOut.add(lane);
        continue;
      }
      const started = lane.start(at);
      if (!started) continue;
      const { task, background } = started;
      this.#budget(background).giveBack(task.bytes);
      this.#inFlight.take(task.bytes);
      this.#schedule(lane, at.now);
      void task.run().then((feedback) => {
        this.#finished(lane, started, feedback, at);
      });
    }
    this.#watchPressure();
  }

  #finished(
    lane: Lane,
    started: { readonly task: Task; readonly background: boolean },
    feedback: Feedback,
    startedAt: Moment,
  ): void {
    const at = this.#moment();
    this.#inFlight.giveBack(started.task.bytes);
    lane.finished(started, feedback, startedAt, at);
    if (this.running === 0) this.#onIdle?.();
    if (!this.#held && !this.#stopped && lane.isLeftAlone(at.now)) this.#clear(lane, at);
    this.#letIn();
    this.#schedule(lane, at.now);
    this.#startSome();
  }

  /** One place is free: for the first that still has use for it. */
  #letIn(): void {
    const now = performance.now();
    for (const lane of this.#crowdedOut) {
      this.#crowdedOut.delete(lane);
      this.#schedule(lane, now);
      if (this.#ready.has(lane)) return;
    }
  }
}
