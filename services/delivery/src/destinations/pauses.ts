/**
 * Destinations that are paused, and when they were resumed. Their deliveries wait in a retry topic (`FollowUps.pause`), and
 * are recalled when the destination is resumed through the API or by another change.
 */
import type { ConfigView } from '@tailrace/config';
import type { Delivery } from '@tailrace/topics';
import type { Breakers } from '../isolation/breakers.ts';

export interface PausesDependencies {
  readonly config: Pick<ConfigView, 'destination' | 'destinations' | 'onChange'>;
  readonly breakers: Pick<Breakers, 'close'>;
  readonly now: () => number;
}

/** Memory: an id for each existing destination that is paused, and a number for each that was. */
export class Pauses {
  readonly #deps: PausesDependencies;
  readonly #paused: Set<string>;
  readonly #resumedAt = new Map<string, number>();
  readonly #listeners: ((destinationId: string) => void)[] = [];

  constructor(dependencies: PausesDependencies) {
    this.#deps = dependencies;
    const { config } = dependencies;
    this.#paused = new Set(config.destinations().flatMap(({ id, paused }) => (paused ? [id] : [])));
    config.onChange(({ kind, id }) => {
      if (kind === 'destination') this.#changed(id);
    });
  }

  /** Calls `listener` for each destination that is resumed from now on. */
  onResume(listener: (destinationId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** When the destination was resumed, in milliseconds since the epoch; -Infinity where that is not known. */
  resumedAt(destinationId: string): number {
    return this.#resumedAt.get(destinationId) ?? -Infinity;
  }

  /** Whether the delivery waits because of a pause that has ended. */
  isOver({ reason, destinationId }: Pick<Delivery, 'reason' | 'destinationId'>): boolean {
    return reason === 'paused' && this.#deps.config.destination(destinationId)?.paused !== true;
  }

  #changed(id: string): void {
    const destination = this.#deps.config.destination(id);
    if (!destination) {
      this.#paused.delete(id);
      this.#resumedAt.delete(id);
    } else if (destination.paused) this.#paused.add(id);
    else if (this.#paused.delete(id)) {
      this.#resumedAt.set(id, this.#deps.now());
      // Nothing is known of its receiver any more.
      this.#deps.breakers.close(id);
      for (const listener of this.#listeners) listener(id);
    }
  }
}
