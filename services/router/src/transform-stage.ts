/**
 * Deliveries that wait for a transform. Those of a destination leave in the order in which they came, so the order of its users holds, also
 * when it gets or loses its transform meanwhile.
 *
 * What waits is bounded. The sources of a destination of which too much waits get no turns until less does (receive/source-turns.ts), and
 * while too much waits altogether, records that have waited for their schemas wait on (waiting/in-flight.ts).
 * Where its function has used too much CPU time lately, they do not wait for it, and neither for a slow one while the router holds so many
 * records that it reads no more: what is beyond the limit is not run, and becomes a dead letter as a failed run does. Else the events of all
 * others would wait too.
 */
import type { Destination } from '@tailrace/config';
import type { Delivery } from '@tailrace/records';
import {
  hasTransform,
  transformDelivery,
  withFailure,
  type TransformResult,
  type Transforming,
  type Transforms,
} from '@tailrace/transform';
import type { RouterMetrics } from './metrics.ts';

/** Of one destination. */
const mostWaiting = 128;
/** Of all destinations. When so much waits, those that have more than an equal share of it have too much. */
const mostBytes = 8 * 2 ** 20;
/** Of a delivery beside its body, about. */
const deliveryBytes = 1_024;
/** CPU time of a run that is slow; that of most is a fifth of it. On average, after so many runs. */
const slow = { ms: 1, runs: 100 };

interface Waiting {
  count: number;
  bytes: number;
  /** The runs since it waits, and their CPU time. */
  runs: number;
  cpuMs: number;
  /** Resolves when the last one has left. */
  last: Promise<unknown>;
}

export interface TransformStageDependencies {
  readonly transforms: Pick<Transforms, 'run' | 'isSuspect'>;
  readonly metrics: Pick<RouterMetrics, 'transforms'>;
  /** Called when what was held may go on. */
  readonly onRelease: () => void;
}

export class TransformStage {
  readonly #deps: TransformStageDependencies;
  readonly #waiting = new Map<string, Waiting>();
  /** By source, the destinations for which it is held. */
  readonly #held = new Map<string, Set<string>>();
  #bytes = 0;
  #count = 0;
  #mayHold = true;

  constructor(dependencies: TransformStageDependencies) {
    this.#deps = dependencies;
  }

  get waiting(): number {
    return this.#count;
  }

  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /** Whether nothing more should be made that can wait elsewhere. */
  get isFull(): boolean {
    return this.#bytes >= mostBytes;
  }

  /** To be called with false when nothing more may be held for a slow transform, and with true when it may again. */
  allowHolds(mayHold: boolean): void {
    this.#mayHold = mayHold;
    let isReleased = false;
    for (const [id, waiting] of this.#waiting) {
      if (!this.#mayWait(id, waiting)) isReleased = this.#unhold(id) || isReleased;
    }
    if (isReleased) this.#deps.onRelease();
  }

  /** Whether records of the source should wait. */
  holds(source: string): boolean {
    return this.#held.has(source);
  }

  /**
   * The delivery as it is to be published, or undefined where the transform filters it; a promise where it waits.
   *
   * @param delivery as `deliveriesOf` makes it
   * @param sources whose turn the event has had
   */
  make(
    delivery: Delivery,
    destination: Destination,
    sources: readonly string[],
  ): Delivery | Promise<Delivery | undefined> {
    const { id } = destination;
    const waiting = this.#waiting.get(id);
    const transforming = hasTransform(destination) ? destination : undefined;
    if (!transforming && !waiting) return delivery;
    const entry = waiting ?? newWaiting();
    const isTooMany = entry.count >= mostWaiting || (this.isFull && entry.bytes >= this.#share);
    if (isTooMany) {
      if (this.#mayWait(id, entry)) this.#hold(id, sources);
      // It is not sent, so it need not keep the order.
      else if (transforming) return this.#skip(delivery, transforming, entry.count);
    }
    const made = transforming ? this.#run(delivery, transforming, entry) : delivery;
    return this.#enter(
      id,
      entry,
      delivery.body.length + deliveryBytes,
      entry.last.then(() => made),
    );
  }

  /** Whether more may wait for it than its limit. */
  #mayWait(id: string, { runs, cpuMs }: Waiting): boolean {
    const isSlow = runs >= slow.runs && cpuMs > runs * slow.ms;
    return !this.#deps.transforms.isSuspect(id) && (this.#mayHold || !isSlow);
  }

  #run(delivery: Delivery, destination: Transforming, waiting: Waiting): Promise<Delivery | undefined> {
    const { transforms, metrics } = this.#deps;
    const run: Transforms['run'] = async (one) => {
      const result: TransformResult = await transforms.run(one);
      metrics.transforms.ran(result);
      waiting.runs += 1;
      waiting.cpuMs += result.cpuMs;
      return result;
    };
    return transformDelivery({ run }, delivery, destination);
  }

  #skip(delivery: Delivery, destination: Transforming, waiting: number): Delivery {
    this.#deps.metrics.transforms.skipped();
    return withFailure(
      delivery,
      destination,
      `not run, because it takes too long: ${waiting} events wait for it`,
    );
  }

  #enter(
    id: string,
    waiting: Waiting,
    bytes: number,
    made: Promise<Delivery | undefined>,
  ): Promise<Delivery | undefined> {
    this.#waiting.set(id, waiting);
    waiting.last = made;
    this.#add(waiting, 1, bytes);
    return made.then((delivery) => {
      const wasFull = this.isFull;
      this.#add(waiting, -1, -bytes);
      if (waiting.count === 0) this.#waiting.delete(id);
      this.#release(id, waiting, wasFull);
      return delivery;
    });
  }

  #add(waiting: Waiting, count: number, bytes: number): void {
    waiting.count += count;
    waiting.bytes += bytes;
    this.#count += count;
    this.#bytes += bytes;
  }

  #hold(id: string, sources: readonly string[]): void {
    for (const source of sources) {
      const destinations = this.#held.get(source);
      if (destinations) destinations.add(id);
      else this.#held.set(source, new Set([id]));
    }
  }

  get #share(): number {
    return mostBytes / this.#waiting.size;
  }

  #release(id: string, waiting: Waiting, wasFull: boolean): void {
    const { count, bytes } = waiting;
    const isLittle = this.#bytes < mostBytes / 2 || bytes < this.#share / 2;
    const mayGoOn = isLittle && (count < mostWaiting / 2 || !this.#mayWait(id, waiting));
    const isReleased = mayGoOn && this.#unhold(id);
    if (isReleased || (wasFull && !this.isFull)) this.#deps.onRelease();
  }

  /** Returns whether a source is not held any more. */
  #unhold(id: string): boolean {
    const before = this.#held.size;
    for (const [source, destinations] of this.#held) {
      if (destinations.delete(id) && destinations.size === 0) this.#held.delete(source);
    }
    return this.#held.size < before;
  }
}

function newWaiting(): Waiting {
  return { count: 0, bytes: 0, runs: 0, cpuMs: 0, last: Promise.resolve() };
}
