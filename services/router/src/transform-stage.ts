/**
 * Deliveries that wait for a transform. Those of a source to a destination leave in the order in which they came, so the order of its users
 * holds, also when the destination gets or loses its transform meanwhile.
 *
 * What waits is bounded. A source of which too much waits for a destination gets no turns until less does (receive/source-turns.ts), and
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

/** From one source to one destination. */
const mostWaiting = 128;
/** Altogether. Sources have equal shares of it, and so have the destinations of each. Who has more when so much waits has too much. */
const mostBytes = 8 * 2 ** 20;
/** Of a delivery beside its body, about. */
const deliveryBytes = 1_024;
/** Counts beside these, because each may become a body of 64 KB: so at most about 1,000 wait, and those of one more event. */
const reservedBytes = 7 * 1_024;
/** CPU time of a run that is slow; that of most is a fifth of it. On average, after so many runs. */
const slow = { ms: 1, runs: 100 };

/** From a source to a destination. */
interface Waiting {
  readonly source: string;
  readonly destination: string;
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
  /** By source and destination. */
  readonly #waiting = new Map<string, Map<string, Waiting>>();
  /** By turn, for what its sources are held. */
  readonly #held = new Map<string, Set<Waiting>>();
  #bytes = 0;
  #count = 0;
  #mayHold = true;

  constructor(dependencies: TransformStageDependencies) {
    this.#deps = dependencies;
  }

  get waiting(): number {
    return this.#count;
  }

  /** Of what waits, about. */
  get waitingBytes(): number {
    return this.#bytes;
  }

  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /** Whether nothing more should be made that can wait elsewhere. */
  get isFull(): boolean {
    return this.#size >= mostBytes;
  }

  get #size(): number {
    return this.#bytes + this.#count * reservedBytes;
  }

  /** To be called with false when nothing more may be held for a slow transform, and with true when it may again. */
  allowHolds(mayHold: boolean): void {
    this.#mayHold = mayHold;
    let isReleased = false;
    for (const ofSource of this.#waiting.values()) {
      for (const waiting of ofSource.values()) {
        if (!this.#mayWait(waiting)) isReleased = this.#unhold(waiting) || isReleased;
      }
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
   * @param turns that the event may have had
   */
  make(
    delivery: Delivery,
    destination: Destination,
    turns: readonly string[],
  ): Delivery | Promise<Delivery | undefined> {
    const known = this.#waiting.get(delivery.sourceId)?.get(destination.id);
    const transforming = hasTransform(destination) ? destination : undefined;
    if (!transforming && !known) return delivery;
    const waiting = known ?? newWaiting(delivery.sourceId, destination.id);
    if (waiting.count >= mostWaiting || (this.isFull && sizeOf(waiting) >= this.#shareOf(waiting))) {
      if (this.#mayWait(waiting)) this.#hold(waiting, turns);
      // It is not sent, so it need not keep the order.
      else if (transforming) return this.#skip(delivery, transforming, waiting.count);
    }
    const made = transforming ? this.#run(delivery, transforming, waiting) : delivery;
    const bytes = delivery.body.length + deliveryBytes;
    return this.#enter(
      waiting,
      bytes,
      waiting.last.then(() => made),
    );
  }

  /** Whether more may wait than the limit. */
  #mayWait({ destination, runs, cpuMs }: Waiting): boolean {
    const isSlow = runs >= slow.runs && cpuMs > runs * slow.ms;
    return !this.#deps.transforms.isSuspect(destination) && (this.#mayHold || !isSlow);
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
    waiting: Waiting,
    bytes: number,
    made: Promise<Delivery | undefined>,
  ): Promise<Delivery | undefined> {
    const { source, destination } = waiting;
    const ofSource = this.#waiting.get(source) ?? new Map<string, Waiting>();
    this.#waiting.set(source, ofSource.set(destination, waiting));
    waiting.last = made;
    this.#add(waiting, 1, bytes);
    return made.then((delivery) => {
      const wasFull = this.isFull;
      this.#add(waiting, -1, -bytes);
      if (waiting.count === 0) ofSource.delete(destination);
      if (ofSource.size === 0) this.#waiting.delete(source);
      this.#release(waiting, wasFull);
      return delivery;
    });
  }

  #add(waiting: Waiting, count: number, bytes: number): void {
    waiting.count += count;
    waiting.bytes += bytes;
    this.#count += count;
    this.#bytes += bytes;
  }

  #hold(waiting: Waiting, turns: readonly string[]): void {
    for (const turn of turns) {
      const held = this.#held.get(turn);
      if (held) held.add(waiting);
      else this.#held.set(turn, new Set([waiting]));
    }
  }

  #shareOf({ source }: Waiting): number {
    return mostBytes / this.#waiting.size / (this.#waiting.get(source)?.size ?? 1);
  }

  #release(waiting: Waiting, wasFull: boolean): void {
    const isLittle = this.#size < mostBytes / 2 || sizeOf(waiting) < this.#shareOf(waiting) / 2;
    const mayGoOn = isLittle && (waiting.count < mostWaiting / 2 || !this.#mayWait(waiting));
    const isReleased = mayGoOn && this.#unhold(waiting);
    if (isReleased || (wasFull && !this.isFull)) this.#deps.onRelease();
  }

  /** Returns whether a turn is not held any more. */
  #unhold(waiting: Waiting): boolean {
    const before = this.#held.size;
    for (const [turn, held] of this.#held) {
      if (held.delete(waiting) && held.size === 0) this.#held.delete(turn);
    }
    return this.#held.size < before;
  }
}

function sizeOf({ count, bytes }: Waiting): number {
  return bytes + count * reservedBytes;
}

function newWaiting(source: string, destination: string): Waiting {
  return { source, destination, count: 0, bytes: 0, runs: 0, cpuMs: 0, last: Promise.resolve() };
}
