/** What is known now of the receivers of deliveries: their destinations, their pauses, their circuit breakers and deleted users. */
import type { ConfigView, Destination } from '@tailrace/config';
import type { DeletedUsers, Delivery } from '@tailrace/topics';
import type { Target } from '@tailrace/webhook';
import { isOfDeletedUser } from './deleted-users.ts';
import { Destinations } from './destinations/destinations.ts';
import { Pauses } from './destinations/pauses.ts';
import type { Breakers } from './isolation/breakers.ts';
import { openTargets, type Received } from './job.ts';
import { receiverOf, type Receiver } from './retry/window.ts';

export interface ReceiversDependencies {
  readonly config: Pick<ConfigView, 'destination' | 'destinations' | 'refresh' | 'onChange'>;
  readonly breakers: Breakers;
  readonly deletedUsers: DeletedUsers;
  readonly now: () => number;
}

export class Receivers {
  readonly destinations: Destinations;
  readonly pauses: Pauses;
  readonly breakers: Breakers;
  readonly #deletedUsers: DeletedUsers;
  readonly #now: () => number;

  constructor({ config, breakers, deletedUsers, now }: ReceiversDependencies) {
    this.destinations = new Destinations(config);
    this.pauses = new Pauses({ config, breakers, now });
    this.breakers = breakers;
    this.#deletedUsers = deletedUsers;
    this.#now = now;
  }

  destinationOf({ delivery }: Received): Destination | undefined {
    return this.destinations.known(delivery.destinationId);
  }

  /** Whether the delivery must not be sent any more, because its user was deleted. */
  isOfDeletedUser({ work, delivery }: Received): boolean {
    return isOfDeletedUser(delivery, work.timestamp, this.#deletedUsers);
  }

  /** Whether the breakers of all these URLs are open, so that nothing may be sent now. */
  isDown({ destinationId }: Delivery, targets: readonly Target[]): boolean {
    return (
      targets.length > 0 &&
      targets.every(({ fingerprint }) => this.breakers.isBlocked(destinationId, fingerprint))
    );
  }

  /** Whether nothing would be sent now: the destination is disabled or paused, or all its circuit breakers are open. */
  isBlocked(job: Received): boolean {
    const destination = this.destinationOf(job);
    if (!destination?.enabled || destination.paused) return true;
    return this.isDown(job.delivery, openTargets(job.delivery, destination));
  }

  /** The state of these URLs. */
  stateOf({ destinationId }: Delivery, targets: readonly Target[]): Receiver {
    const urls = targets.map(({ fingerprint }) => this.breakers.stateOf(destinationId, fingerprint));
    return receiverOf(urls, this.#now() - performance.now());
  }

  /** The state of all open URLs of a delivery. A receiver counts as up since its destination was resumed. */
  receiverOf({ delivery }: Received): Receiver {
    const destination = this.destinations.known(delivery.destinationId);
    const receiver = this.stateOf(delivery, destination ? openTargets(delivery, destination) : []);
    const since = Math.max(receiver.since, this.pauses.resumedAt(delivery.destinationId));
    return receiver.isDown ? receiver : { ...receiver, since };
  }
}
