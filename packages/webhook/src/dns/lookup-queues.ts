/**
 * Limits how many look-ups run at the same time. There are three queues: names that resolved before, new names, and
 * names whose last look-up failed. No queue waits for another, so dead names delay only other dead names.
 *
 * A look-up occupies a slot until it ends, and for 100 ms at most. A hanging look-up therefore blocks its queue
 * only briefly. The number of unfinished look-ups has a separate limit.
 */
export type LookupQueue = 'known' | 'new' | 'failed';

interface QueueLimits {
  /** Look-ups that occupy a slot at the same time. This bounds the burst of questions to a name server. */
  readonly slots: number;
  /** Look-ups that have not ended, including hanging ones. */
  readonly unfinished: number;
  /** Look-ups that wait for a slot. */
  readonly waiting: number;
}

/** With slots of 100 ms, 1,280 new names a second can start even where none of them is ever answered. */
const limits: Readonly<Record<LookupQueue, QueueLimits>> = {
  known: { slots: 128, unfinished: 2_048, waiting: 4_096 },
  new: { slots: 128, unfinished: 4_096, waiting: 4_096 },
  failed: { slots: 16, unfinished: 256, waiting: 64 },
};
const slotMs = 100;

export class LookupQueues {
  readonly #queues = {
    known: new Queue(limits.known),
    new: new Queue(limits.new),
    failed: new Queue(limits.failed),
  };

  /** Runs `work` when a slot is free. Returns false where the queue is full. `work` must not reject. */
  add(queue: LookupQueue, work: () => Promise<void>): boolean {
    return this.#queues[queue].add(work);
  }
}

class Queue {
  readonly #limits: QueueLimits;
  readonly #waiting: (() => Promise<void>)[] = [];
  #slotsInUse = 0;
  #unfinished = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  add(work: () => Promise<void>): boolean {
    if (this.#waiting.length >= this.#limits.waiting) return false;
    this.#waiting.push(work);
    this.#startNext();
    return true;
  }

  #startNext(): void {
    while (this.#slotsInUse < this.#limits.slots && this.#unfinished < this.#limits.unfinished) {
      const work = this.#waiting.shift();
      if (!work) return;
      void this.#run(work);
    }
  }

  async #run(work: () => Promise<void>): Promise<void> {
    this.#slotsInUse += 1;
    this.#unfinished += 1;
    let hasSlot = true;
    const release = (): void => {
      if (hasSlot) this.#slotsInUse -= 1;
      hasSlot = false;
      this.#startNext();
    };
    // After a busy event loop the answer may be waiting to be read. It is read before immediates run.
    const timer = setTimeout(() => setImmediate(release), slotMs);
    await work();
    clearTimeout(timer);
    this.#unfinished -= 1;
    release();
  }
}
