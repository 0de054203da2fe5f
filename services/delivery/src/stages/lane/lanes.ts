/**
 * One lane for each destination, so that a bad receiver does not delay the others. Lanes take turns for the deliveries that
 * the process may have in flight, and share a buffer in which deliveries wait for their turn (buffer.ts). Both are shared
 * by the same rule (budget.ts). README.md explains it.
 */
import { Breakers, type BreakerChange, type ProxyOptions } from '../../receivers/breakers.ts';
import { Budget, type Amount } from './budget.ts';
import { LaneBuffer } from './buffer.ts';
import { Lane } from './lane.ts';
import type { OwnLimits } from './own-limits.ts';
import type { Feedback, Moment, Started, Task, Traffic } from './task.ts';

export interface LaneLimits {
  /** Tasks in flight for one destination. */
  readonly perLane: number;
  /** Tasks in flight for all destinations. */
  readonly total: number;
  /** Waiting tasks, and their bytes, at which reading pauses. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Waiting tasks of lanes that keep up, and their bytes, beyond the shares of these lanes. Default: none. */
  readonly readAhead?: Amount;
}

export interface LanesOptions {
  /** The present limits of a destination; none by default. */
  readonly limitsOf?: (destinationId: string) => OwnLimits | undefined;
  /** Called when reading should pause (`high`), and when it should resume. */
  readonly onPressure?: (traffic: Traffic, high: boolean) => void;
  readonly onBreaker?: (change: BreakerChange) => void;
  readonly proxy?: ProxyOptions;
  /** Milliseconds for which this process has been idle. */
  readonly idleMs?: () => number;
}

/** The part of what may be in flight that only lanes with quick answers may use. */
const reserve = 0.25;
/** The bytes of bodies in flight. */
const bytesInFlight = 32 * 2 ** 20;
/** The part of what may be in flight that may be probes of open circuit breakers. */
const probePart = 0.125;
/** Beyond this number, unused lanes are removed now and then. */
const lanesBeforeForgetting = 1_000;
/** Limits may change, so a lane that waits for its rate looks at it again after this time. */
const mostWaitMs = 1_000;

export class Lanes {
  /** By destination. */
  readonly breakers: Breakers;
  readonly #perLane: number;
  readonly #limitsOf: (destinationId: string) => OwnLimits | undefined;
  readonly #idleMs: () => number;
  readonly #lanes = new Map<string, Lane>();
  #forgetAt = lanesBeforeForgetting;
  readonly #buffer: LaneBuffer;
  readonly #inFlight: Budget;
  /** Lanes that may start a task now, in the order of their turns. */
  readonly #ready = new Set<Lane>();
  /** Lanes that could start a task, and wait for others to release what they have in flight. */
  readonly #crowdedOut = new Set<Lane>();
  /** Lanes that wait for their rate limit, or for the end of a back-off. */
  readonly #limited = new Map<Lane, NodeJS.Timeout>();
  #paused = false;
  #stopped = false;
  #onIdle: (() => void) | undefined;

  constructor(
    limits: LaneLimits,
    {
      limitsOf = () => undefined,
      onPressure = () => undefined,
      onBreaker = () => undefined,
      proxy,
      idleMs = () => performance.eventLoopUtilization().idle,
    }: LanesOptions = {},
  ) {
    this.#perLane = limits.perLane;
    this.#limitsOf = limitsOf;
    this.#idleMs = idleMs;
    this.breakers = new Breakers(Math.max(1, limits.total * probePart), onBreaker, proxy);
    this.#inFlight = new Budget({ count: limits.total, bytes: bytesInFlight }, reserve);
    this.#buffer = new LaneBuffer({
      count: limits.waiting,
      bytes: limits.waitingBytes,
      onPressure,
      readAhead: limits.readAhead ?? { count: 0, bytes: 0 },
      lanes: () => this.#lanes.values(),
      clock: () => this.#moment(),
    });
  }

  get running(): number {
    return this.#inFlight.count;
  }

  get waiting(): number {
    return this.#buffer.count;
  }

  /** Runs `task` when it is its turn, in the order of its lane, or defers it where the lane is slow and full. */
  submit(destinationId: string, task: Task): void {
    if (this.#stopped) return;
    const lane = this.#laneOf(destinationId);
    const at = this.#moment();
    if (!this.#buffer.admits(lane, task, at)) {
      task.defer(lane.deferral(at.now, task.traffic));
      return;
    }
    this.#buffer.add(lane, task);
    this.#schedule(lane, at.now);
    this.#startReady();
  }

  /** Whether the lane has capacity for one more background delivery. */
  hasCapacityFor(destinationId: string): boolean {
    const lane = this.#lanes.get(destinationId);
    return !lane || this.#buffer.admits(lane, { traffic: 'background', returned: false }, this.#moment());
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Starts and defers nothing until `resume`, because nothing can be committed: during a rebalance, or while commits are late. */
  pause(): void {
    this.#paused = true;
    this.#buffer.isPaused = true;
  }

  /** Continues, without the tasks of revoked partitions. */
  resume(): void {
    this.#paused = false;
    this.#buffer.isPaused = false;
    this.#buffer.dropRevoked();
    this.#admitCrowdedOut();
    this.#startReady();
  }

  /** Drops the tasks that have not started, and resolves when the others have finished. */
  async drain(): Promise<void> {
    this.#stopped = true;
    this.#buffer.stop();
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

  #laneOf(destinationId: string): Lane {
    let lane = this.#lanes.get(destinationId);
    if (!lane) {
      if (this.#lanes.size >= this.#forgetAt) this.#forgetUnused();
      lane = new Lane(this.#perLane, performance.now(), () => this.#limitsOf(destinationId));
      this.#lanes.set(destinationId, lane);
    }
    return lane;
  }

  #forgetUnused(): void {
    const now = performance.now();
    for (const [id, lane] of this.#lanes) {
      if (lane.isForgettable(now) && this.breakers.isIdle(id)) this.#lanes.delete(id);
    }
    this.breakers.forgetIdle((id) => this.#lanes.has(id));
    this.#forgetAt = Math.max(lanesBeforeForgetting, this.#lanes.size * 2);
  }

  /** Gives the lane a turn, now or when its rate limit permits. */
  #schedule(lane: Lane, now: number): void {
    if (this.#stopped) return;
    const delayMs = lane.startsIn(now);
    if (delayMs === 0) {
      this.#crowdedOut.delete(lane);
      this.#ready.add(lane);
    } else if (delayMs !== Infinity && !this.#limited.has(lane)) {
      const again = (): void => {
        this.#limited.delete(lane);
        this.#schedule(lane, performance.now());
        this.#startReady();
      };
      this.#limited.set(lane, setTimeout(again, Math.min(delayMs, mostWaitMs)));
    }
  }

  #startReady(): void {
    if (this.#stopped || this.#paused) return;
    for (const lane of this.#ready) {
      // The lane moves to the end of the turns; without a task that may start it leaves them.
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
      const { task, heldBy } = started;
      this.#buffer.release(task);
      this.#inFlight.acquire(task.bytes);
      this.#schedule(lane, at.now);
      void task.run(heldBy).then((feedback) => this.#finished(lane, started, feedback));
    }
  }

  #finished(lane: Lane, started: Started, feedback: Feedback): void {
    const at = this.#moment();
    this.#inFlight.release(started.task.bytes);
    lane.finished(started, feedback, at);
    if (this.running === 0) this.#onIdle?.();
    if (!this.#paused && !this.#stopped && lane.isBackingOff(at.now)) this.#buffer.clear(lane, at);
    this.#admitCrowdedOut();
    this.#schedule(lane, at.now);
    this.#startReady();
  }

  /** Capacity for one task is free: gives a turn to the first lane that still has a task. */
  #admitCrowdedOut(): void {
    const now = performance.now();
    for (const lane of this.#crowdedOut) {
      this.#crowdedOut.delete(lane);
      this.#schedule(lane, now);
      if (this.#ready.has(lane)) return;
    }
  }
}
