/**
 * Deliveries that wait for a transform. Those of a destination leave in the order in which they came, so the order of its users holds, also
 * when it gets or loses its transform meanwhile.
 *
 * What waits is bounded. The sources of a destination of which too much waits get no turns until less does (receive/source-turns.ts), and
 * while too much waits altogether, records that have waited for their schemas wait on (waiting/in-flight.ts).
 * Where its function has used too much CPU time lately, or the router holds so many records that it reads no more, they do not wait for it:
 * what is beyond the limit is not run, and becomes a dead letter as a failed run does. Else the events of all others would wait too.
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

interface Waiting {
  count: number;
  bytes: number;
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

  /** To be called with false when nothing more may be held for a transform, and with true when it may again. */
  allowHolds(mayHold: boolean): void {
    this.#mayHold = mayHold;
    if (mayHold || !this.isHolding) return;
    this.#held.clear();
    this.#deps.onRelease();
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
    const { count, bytes, last } = waiting ?? { count: 0, bytes: 0, last: Promise.resolve() };
    const isTooMany = count >= mostWaiting || (this.isFull && bytes >= this.#share);
    if (isTooMany) {
      const isSkipped = !this.#mayHold || this.#deps.transforms.isSuspect(id);
      // It is not sent, so it need not keep the order.
      if (isSkipped && transforming) return this.#skip(delivery, transforming, count);
      if (!isSkipped) this.#hold(id, sources);
    }
    const made = transforming ? this.#run(delivery, transforming) : delivery;
    return this.#enter(
      id,
      delivery.body.length + deliveryBytes,
      last.then(() => made),
    );
  }

  #run(delivery: Delivery, destination: Transforming): Promise<Delivery | undefined> {
    const { transforms, metrics } = this.#deps;
    const run: Transforms['run'] = async (one) => {
      const result: TransformResult = await transforms.run(one);
      metrics.transforms.ran(result);
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

  #enter(id: string, bytes: number, made: Promise<Delivery | undefined>): Promise<Delivery | undefined> {
    let waiting = this.#waiting.get(id);
    if (!waiting) this.#waiting.set(id, (waiting = { count: 0, bytes: 0, last: made }));
    waiting.last = made;
    this.#add(waiting, 1, bytes);
    const entered = waiting;
    return made.then((delivery) => {
      const wasFull = this.isFull;
      this.#add(entered, -1, -bytes);
      if (entered.count === 0) this.#waiting.delete(id);
      this.#release(id, entered, wasFull);
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

  #release(id: string, { count, bytes }: Waiting, wasFull: boolean): void {
    const before = this.#held.size;
    const isLittle = this.#bytes < mostBytes / 2 || bytes < this.#share / 2;
    if (isLittle && (count < mostWaiting / 2 || this.#deps.transforms.isSuspect(id))) {
      for (const [source, destinations] of this.#held) {
        if (destinations.delete(id) && destinations.size === 0) this.#held.delete(source);
      }
    }
    if (this.#held.size < before || (wasFull && !this.isFull)) this.#deps.onRelease();
  }
}
