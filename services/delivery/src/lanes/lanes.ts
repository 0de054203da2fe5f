/**
 * One lane per destination, so that destinations share a process without sharing their trouble. Each lane has a
 * concurrency of its own, which follows what its receiver can take, and lanes that have work take turns for what
 * the process may have in flight altogether.
 *
 * What waits is bounded for all lanes together. A lane may hold a share of what is free, so that lanes that do
 * not get on, however many there are, never fill the buffer: the fuller it is, the less each may keep (the dynamic
 * thresholds of shared-memory switches, Choudhury and Hahne, 1998). What a slow lane has no room for is put off,
 * for as long as it will take to get to it. A lane that will be through what it holds in a moment is not put off,
 * and none is while it is this process that is too busy, which makes every lane look slow: then the buffer fills,
 * and reading pauses.
 */
import { Lane, type Signal, type Task } from './lane.ts';
import { watchLoop } from './loop.ts';

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
  /** The destination's limit, in requests a second. */
  readonly rateLimit?: number;
}

/** Of what is free, the part that one lane may hold. */
const share = 0.5;
/** A lane always has room for so many, so that it does not run dry between two fetches. */
const alwaysWaiting = 8;
/** A lane that gets through what it holds within this is busy, not slow. */
const patienceMs = 1_000;
/** While reading is paused, how often to look which lanes have turned out to be slow. */
const pressureCheckMs = 100;
/** Beyond 1,000 lanes, those with nothing in them are forgotten now and then. */
const lanesBeforeForgetting = 1_000;

export class Lanes {
  readonly #limits: LaneLimits;
  readonly #onPressure: (high: boolean) => void;
  readonly #isBusy: () => boolean;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes that may start a task now, in the order of their turns. */
  readonly #ready = new Set<Lane>();
  /** Lanes whose rate limit lets them go on later. */
  readonly #limited = new Map<Lane, NodeJS.Timeout>();
  #running = 0;
  #waiting = 0;
  #waitingBytes = 0;
  #pressure: NodeJS.Timeout | undefined;
  #held = false;
  #stopped = false;
  #onIdle: (() => void) | undefined;

  /**
   * @param onPressure told when reading should pause, and when it may go on
   * @param isBusy whether this process has no time to spare
   */
  constructor(
    limits: LaneLimits,
    onPressure: (high: boolean) => void = () => undefined,
    isBusy: () => boolean = watchLoop(),
  ) {
    this.#limits = limits;
    this.#onPressure = onPressure;
    this.#isBusy = isBusy;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Runs `task` when it is its turn, in the order of its lane; or puts it off, where the lane is slow and full. */
  submit(name: string, task: Task, { returned = false, rateLimit = Infinity }: SubmitOptions = {}): void {
    if (this.#stopped) return;
    const now = performance.now();
    const lane = this.#laneOf(name, now);
    lane.limitRate(rateLimit);
    if (!this.#hasRoom(lane, returned, now)) {
      task.putOff(lane.promise(now));
      return;
    }
    lane.push(task);
    this.#count(1, task.bytes);
    this.#schedule(lane, now);
    this.#startSome();
  }

  /** Whether everything waits where it is: nothing starts, and nothing is put off. */
  get held(): boolean {
    return this.#held;
  }

  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#startSome();
  }

  /** Forgets the tasks that have not started, and resolves when the others have finished. */
  async drain(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#pressure);
    for (const timer of this.#limited.values()) clearTimeout(timer);
    this.#ready.clear();
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #laneOf(name: string, now: number): Lane {
    let lane = this.#lanes.get(name);
    if (!lane) {
      if (this.#lanes.size >= lanesBeforeForgetting) this.#forgetIdle(now);
      this.#lanes.set(name, (lane = new Lane(this.#limits.perLane)));
    }
    return lane;
  }

  #forgetIdle(now: number): void {
    for (const [name, lane] of this.#lanes) if (lane.idle(now)) this.#lanes.delete(name);
  }

  #hasRoom(lane: Lane, returned: boolean, now: number): boolean {
    if (this.#held || lane.waiting < alwaysWaiting || !this.#isSlow(lane, now)) return true;
    return this.#withinShare(lane) && (returned || !lane.owes(now));
  }

  #isSlow(lane: Lane, now: number): boolean {
    return lane.waitMs(now) > patienceMs && !this.#isBusy();
  }

  #withinShare(lane: Lane): boolean {
    return (
      lane.waiting < (this.#limits.waiting - this.#waiting) * share &&
      lane.waitingBytes < (this.#limits.waitingBytes - this.#waitingBytes) * share
    );
  }

  #count(tasks: number, bytes: number): void {
    this.#waiting += tasks;
    this.#waitingBytes += bytes;
    const fill = Math.max(
      this.#waiting / this.#limits.waiting,
      this.#waitingBytes / this.#limits.waitingBytes,
    );
    if (fill >= 1 && !this.#pressure) {
      this.#pressure = setInterval(() => {
        this.#relieve();
      }, pressureCheckMs);
      this.#onPressure(true);
    } else if (fill < 0.5 && this.#pressure) {
      clearInterval(this.#pressure);
      this.#pressure = undefined;
      this.#onPressure(false);
    }
  }

  /** Puts off what lanes hold beyond their share that have turned out to be slow since they took it in. */
  #relieve(): void {
    if (this.#held) return;
    const now = performance.now();
    for (const lane of this.#lanes.values()) {
      while (lane.waiting > alwaysWaiting && !this.#withinShare(lane) && this.#isSlow(lane, now)) {
        const task = lane.dropLast();
        if (!task) break;
        this.#count(-1, -task.bytes);
        task.putOff(lane.promise(now));
      }
    }
  }

  /** Gives the lane a turn, now or when its rate limit lets it go on. */
  #schedule(lane: Lane, now: number): void {
    const delayMs = lane.startsIn(now);
    if (delayMs === 0) this.#ready.add(lane);
    else if (delayMs !== Infinity && !this.#limited.has(lane)) {
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
      if (this.#running >= this.#limits.total) return;
      // To the back of the turns; a lane with nothing to start leaves them.
      this.#ready.delete(lane);
      const now = performance.now();
      if (lane.startsIn(now) > 0) {
        this.#schedule(lane, now);
        continue;
      }
      const task = lane.start(now);
      if (!task) continue;
      this.#count(-1, -task.bytes);
      this.#running += 1;
      this.#schedule(lane, now);
      void task.run().then((signal) => {
        this.#finished(lane, signal, now);
      });
    }
  }

  #finished(lane: Lane, signal: Signal, startedAt: number): void {
    const now = performance.now();
    this.#running -= 1;
    lane.finished(signal, now - startedAt, now);
    if (this.#running === 0) this.#onIdle?.();
    this.#schedule(lane, now);
    this.#startSome();
  }
}
