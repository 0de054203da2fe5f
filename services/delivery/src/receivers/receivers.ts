/** What is known now of the receivers of deliveries: their destinations and pauses, their circuit breakers, and deleted users. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigView, Destination } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import type { Delivery } from '@tailrace/records';
import { isOfDeletedUser, type DeletedUsers } from '@tailrace/suppressions';
import { tokenServerOf, type Target, type TokenServer } from '@tailrace/webhook';
import { openTargets, type Down, type Received, type Receiver } from '../delivery.ts';
import type { Breaker } from './breaker.ts';
import type { Breakers } from './breakers.ts';
import { windowBegan } from '../transition.ts';

export interface ReceiversDependencies {
  readonly config: Pick<ConfigView, 'destination' | 'destinations' | 'refresh' | 'onChange'>;
  readonly breakers: Breakers;
  readonly deletedUsers: DeletedUsers;
  readonly now: () => number;
}

/** The part of a delivery that its receiver's state depends on. */
type Waiting = Pick<Delivery, 'destinationId' | 'attempt' | 'firstAttemptAt' | 'closedUrls' | 'onlyUrl'>;

type Listener = (destinationId: string) => void;

const refreshPauseMs = 1_000;

/** Memory: an id for each existing destination that is paused or disabled, and a number for each that was paused. */
export class Receivers {
  readonly breakers: Breakers;
  readonly #deps: ReceiversDependencies;
  readonly #paused: Set<string>;
  readonly #resumedAt = new Map<string, number>();
  readonly #disabled: Set<string>;
  readonly #listeners = { resume: [] as Listener[], enable: [] as Listener[] };

  constructor(dependencies: ReceiversDependencies) {
    this.#deps = dependencies;
    this.breakers = dependencies.breakers;
    const { config } = dependencies;
    this.#paused = new Set(config.destinations().flatMap(({ id, paused }) => (paused ? [id] : [])));
    this.#disabled = new Set(config.destinations().flatMap(({ id, enabled }) => (enabled ? [] : [id])));
    config.onChange(({ kind, id }) => {
      if (kind === 'destination') this.#changed(id);
    });
  }

  /** Calls `listener` for each destination that is resumed from now on, through the API or by another change. */
  onResume(listener: Listener): void {
    this.#listeners.resume.push(listener);
  }

  /** The same for each that is enabled. */
  onEnable(listener: Listener): void {
    this.#listeners.enable.push(listener);
  }

  #changed(id: string): void {
    const destination = this.#deps.config.destination(id);
    if (!destination) {
      this.#paused.delete(id);
      this.#resumedAt.delete(id);
      this.#disabled.delete(id);
      return;
    }
    if (destination.paused) this.#paused.add(id);
    else if (this.#paused.delete(id)) {
      this.#resumedAt.set(id, this.#deps.now());
      // Nothing is known of its receiver any more.
      this.breakers.close(id);
      for (const listener of this.#listeners.resume) listener(id);
    }
    if (!destination.enabled) this.#disabled.add(id);
    else if (this.#disabled.delete(id)) for (const listener of this.#listeners.enable) listener(id);
  }

  /** The destination of a delivery as it is configured now. */
  known({ destinationId }: Pick<Delivery, 'destinationId'>): Destination | undefined {
    return this.#deps.config.destination(destinationId);
  }

  /** Where the destination is unknown or disabled, reads the configuration to its end before it answers. */
  async find(delivery: Delivery): Promise<Destination | undefined> {
    const known = this.known(delivery);
    if (known?.enabled) return known;
    await this.#refresh();
    return this.known(delivery);
  }

  /** Waits for Kafka as long as necessary, because without it nothing can be decided about the delivery. */
  async #refresh(): Promise<void> {
    for (;;) {
      try {
        await this.#deps.config.refresh();
        return;
      } catch (error) {
        if (!isTailraceError(error, 'kafka-unavailable')) throw error;
        await sleep(refreshPauseMs);
      }
    }
  }

  /** Whether the delivery waits because of a pause that has ended. */
  isPauseOver(delivery: Pick<Delivery, 'reason' | 'destinationId'>): boolean {
    return delivery.reason === 'paused' && this.known(delivery)?.paused !== true;
  }

  /** Whether the delivery must not be sent any more, because its user was deleted. */
  isOfDeletedUser({ work, delivery }: Received): boolean {
    return isOfDeletedUser(delivery, work.timestamp, this.#deps.deletedUsers);
  }

  /** Where a delivery that may be sent gets its token; undefined where it needs none. */
  tokenServerOf(delivery: Pick<Delivery, 'destinationId'>): TokenServer | undefined {
    const destination = this.known(delivery);
    return destination?.enabled && !destination.paused ? tokenServerOf(destination) : undefined;
  }

  /** Whether the breakers of all these URLs are open, or that of their token server, so that nothing may be sent now. */
  isDown({ destinationId }: Pick<Delivery, 'destinationId'>, targets: readonly Target[]): boolean {
    return (
      targets.length > 0 &&
      this.#gatesOf(destinationId, targets).every((gate) => this.breakers.isBlocked(destinationId, gate))
    );
  }

  /** What decides whether anything may be sent to these URLs: their token server while it is down, or else each of them. */
  #gatesOf(destinationId: string, targets: readonly Target[]): readonly string[] {
    const token = targets[0]?.tokenServer?.fingerprint;
    if (token !== undefined && this.breakers.stateOf(destinationId, token).state !== 'closed') return [token];
    return targets.map(({ fingerprint }) => fingerprint);
  }

  /** Whether nothing would be sent now: the destination is disabled or paused, or all its circuit breakers are open. */
  isBlocked(delivery: Delivery): boolean {
    const destination = this.known(delivery);
    if (!destination?.enabled || destination.paused) return true;
    return this.isDown(delivery, openTargets(delivery, destination));
  }

  /** The state of the open URLs of a delivery. They count as up since its destination was resumed. */
  receiverOf(delivery: Waiting, targets = this.#openTargets(delivery)): Receiver {
    const { destinationId } = delivery;
    const gates = this.#gatesOf(destinationId, targets).map((gate) =>
      this.breakers.stateOf(destinationId, gate),
    );
    const receiver = receiverOf(gates, this.#deps.now() - performance.now());
    if (receiver.isDown) return receiver;
    return { ...receiver, since: Math.max(receiver.since, this.#resumedAt.get(destinationId) ?? -Infinity) };
  }

  #openTargets(delivery: Waiting): readonly Target[] {
    const destination = this.known(delivery);
    return destination ? openTargets(delivery, destination) : [];
  }

  /** Returns when the retry window of a delivery with these open URLs began, in milliseconds since the epoch; now where it has not begun. */
  windowBegan(delivery: Waiting, targets: readonly Target[]): number {
    const now = this.#deps.now();
    if (delivery.firstAttemptAt === undefined) return now;
    return windowBegan(delivery, this.receiverOf(delivery, targets), now) ?? now;
  }

  /** For a delivery whose open URLs are all down. Where it is to be parked, it may claim the next probe. */
  claimProbe(delivery: Waiting, targets: readonly Target[], windowMs: number): Down {
    const firstAttemptAt = this.windowBegan(delivery, targets);
    const isOver = this.#deps.now() >= firstAttemptAt + windowMs;
    const claims = this.#gatesOf(delivery.destinationId, targets).map((gate) =>
      isOver ? undefined : this.breakers.claimProbe(delivery.destinationId, gate),
    );
    return { kind: 'down', firstAttemptAt, probeInMs: Math.min(...claims.map((inMs) => inMs ?? Infinity)) };
  }
}

/**
 * Summarises the circuit breakers of all open URLs.
 *
 * @param epoch the wall-clock time at which the breakers' clock shows 0
 */
export function receiverOf(breakers: readonly Pick<Breaker, 'state' | 'since'>[], epoch: number): Receiver {
  const up = breakers.filter(({ state }) => state === 'closed');
  const isDown = breakers.length > 0 && up.length === 0;
  const sinces = (isDown ? breakers : up).map(({ since }) => since);
  const since = isDown ? Math.max(...sinces) : Math.min(...sinces);
  return { isDown, since: sinces.length > 0 ? Math.round(epoch + since) : -Infinity };
}
