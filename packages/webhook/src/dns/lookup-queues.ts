/**
 * How many look-ups run at a time. There are three lanes, and none waits for another: names that have resolved before,
 * new names, and names that failed the last time they were asked. So names that are dead, once that is known, take no
 * turn of any other.
 *
 * A look-up gives its turn back when it ends, and in any case after a moment: one that hangs costs its lane no more than
 * that. How many may be unfinished is bounded apart.
 */
export type LookupLane = 'known' | 'new' | 'failed';

interface LaneLimits {
  /** Holding a turn at the same time. It bounds what is sent to a name server in one moment. */
  readonly turns: number;
  /** Unfinished, those that hang included. */
  readonly unfinished: number;
  /** Waiting for a turn. */
  readonly waiting: number;
}

/** With turns of 100 ms that is 1,280 new names a second, even where none of them is ever answered. */
const limits: Readonly<Record<LookupLane, LaneLimits>> = {
  known: { turns: 128, unfinished: 2_048, waiting: 4_096 },
  new: { turns: 128, unfinished: 4_096, waiting: 4_096 },
  failed: { turns: 16, unfinished: 256, waiting: 64 },
};
const turnMs = 100;

export class LookupTurns {
  readonly #lanes = {
    known: new Lane(limits.known),
    new: new Lane(limits.new),
    failed: new Lane(limits.failed),
  };

  /** Starts `work` when it is its turn; says no where too many wait. `work` never rejects. */
  take(lane: LookupLane, work: () => Promise<void>): boolean {
    return this.#lanes[lane].take(work);
  }
}

class Lane {
  readonly #limits: LaneLimits;
  readonly #waiting: (() => Promise<void>)[] = [];
  #turns = 0;
  #unfinished = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  take(work: () => Promise<void>): boolean {
    if (this.#waiting.length >= this.#limits.waiting) return false;
    this.#waiting.push(work);
    this.#startNext();
    return true;
  }

  #startNext(): void {
    while (this.#turns < this.#limits.turns && this.#unfinished < this.#limits.unfinished) {
      const work = this.#waiting.shift();
      if (!work) return;
      void this.#run(work);
    }
  }

  async #run(work: () => Promise<void>): Promise<void> {
    this.#turns += 1;
    this.#unfinished += 1;
    let hasTurn = true;
    const giveBack = (): void => {
      if (hasTurn) this.#turns -= 1;
      hasTurn = false;
      this.#startNext();
    };
    // Where this process was busy for so long, the answer may have come: it is read before the immediates.
    const timer = setTimeout(() => setImmediate(giveBack), turnMs);
    await work();
    clearTimeout(timer);
    this.#unfinished -= 1;
    giveBack();
  }
}
