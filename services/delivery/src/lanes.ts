/**
 * One lane per destination, so that they share a process without sharing their trouble: each has a concurrency
 * limit of its own, and lanes that have work take turns for what the whole process may have in flight.
 */

export interface LaneLimits {
  /** Tasks in flight for one destination. */
  readonly perLane: number;
  /** Tasks in flight altogether. */
  readonly total: number;
}

type Task = () => Promise<void>;

interface Lane {
  readonly waiting: Task[];
  /** Where the waiting ones begin; what is before has been taken. */
  head: number;
  running: number;
}

export class Lanes {
  readonly #limits: LaneLimits;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes that may start a task now, in the order of their turns. */
  readonly #ready = new Set<string>();
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  /** Runs `task` when it is its turn; tasks of one lane start in the order they came. It must not reject. */
  submit(name: string, task: Task): void {
    let lane = this.#lanes.get(name);
    if (!lane) this.#lanes.set(name, (lane = { waiting: [], head: 0, running: 0 }));
    lane.waiting.push(task);
    if (lane.running < this.#limits.perLane) this.#ready.add(name);
    this.#startSome();
  }

  /** Forgets the tasks that have not started, and resolves when the others have finished. */
  async drain(): Promise<void> {
    for (const lane of this.#lanes.values()) {
      lane.waiting.length = 0;
      lane.head = 0;
    }
    this.#ready.clear();
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #startSome(): void {
    for (const name of this.#ready) {
      if (this.#running >= this.#limits.total) return;
      // To the back of the turns; a lane with nothing to start leaves them.
      this.#ready.delete(name);
      const lane = this.#lanes.get(name);
      const task = lane?.waiting[lane.head];
      if (!lane || !task) continue;
      takeFirst(lane);
      lane.running += 1;
      this.#running += 1;
      if (lane.head < lane.waiting.length && lane.running < this.#limits.perLane) this.#ready.add(name);
      void task().finally(() => {
        this.#finished(name, lane);
      });
    }
  }

  #finished(name: string, lane: Lane): void {
    lane.running -= 1;
    this.#running -= 1;
    if (lane.head < lane.waiting.length) this.#ready.add(name);
    else if (lane.running === 0) this.#lanes.delete(name);
    if (this.#running === 0) this.#onIdle?.();
    this.#startSome();
  }
}

/** Taking from the front of an array is slow; the front is cut off now and then. */
function takeFirst(lane: Lane): void {
  lane.head += 1;
  if (lane.head < 256 || lane.head * 2 < lane.waiting.length) return;
  lane.waiting.splice(0, lane.head);
  lane.head = 0;
}
