/** Whether one recall may dispatch more: by the state of its receiver and its lane, and by what all recalls have in flight. */
import type { RecallKind, RecallRequest } from '@tailrace/records';
import type { Receivers } from '../../receivers/receivers.ts';
import type { Lanes } from '../../stages/lane/lanes.ts';
import type { Budget } from './budget.ts';
import type { Entry } from './part.ts';

/** Why deliveries are recalled. */
type Cause =
  | { readonly kind: 'recovery' }
  /** The deliveries that waited while the destination was paused are recalled too, as by a request. */
  | { readonly kind: 'resume' }
  | { readonly kind: 'request'; readonly request: RecallRequest };

export interface RecallSpec {
  readonly destinationId: string;
  readonly kind: RecallKind;
  readonly cause: Cause;
}

export interface CapacityDependencies {
  readonly lanes: Pick<Lanes, 'paused' | 'hasCapacityFor'>;
  readonly receivers: Pick<Receivers, 'isBlocked'>;
  readonly budget: Budget;
}

/** An operator may know of a recovery before the next probe, which is sent at least once a minute. */
const blockedPatienceMs = 120_000;

export class Capacity {
  readonly #spec: RecallSpec;
  readonly #deps: CapacityDependencies;
  #inFlight = 0;
  #blockedSince: number | undefined;
  #waiting: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(spec: RecallSpec, dependencies: CapacityDependencies) {
    this.#spec = spec;
    this.#deps = dependencies;
  }

  /** The deliveries of this recall in flight. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Whether nothing could be sent, when this was last asked. */
  get isBlocked(): boolean {
    return this.#blockedSince !== undefined;
  }

  /** Whether that has lasted for longer than the recall waits. */
  get isHopeless(): boolean {
    const patienceMs = this.#spec.cause.kind === 'request' ? blockedPatienceMs : 0;
    return performance.now() - (this.#blockedSince ?? Infinity) >= patienceMs;
  }

  admits({ job, bytes }: Entry): boolean {
    const { lanes, receivers, budget } = this.#deps;
    const { kind, destinationId } = this.#spec;
    // What was started now could not be committed.
    if (lanes.paused) return false;
    if (kind === 'retry' && receivers.isBlocked(job.delivery)) {
      this.#blockedSince ??= performance.now();
      return false;
    }
    this.#blockedSince = undefined;
    const hasTurns = kind === 'drain' || lanes.hasCapacityFor(destinationId);
    return hasTurns && budget.admits(this.#inFlight, bytes);
  }

  acquire({ bytes }: Entry): void {
    this.#inFlight += 1;
    this.#deps.budget.acquire(bytes);
  }

  release({ bytes }: Entry): void {
    this.#inFlight -= 1;
    this.#deps.budget.release(bytes);
  }

  /** Resolves when capacity may have become free. */
  changed(): Promise<void> {
    return this.#waiting.promise;
  }

  wake(): void {
    this.#waiting.resolve();
    this.#waiting = Promise.withResolvers();
  }
}
