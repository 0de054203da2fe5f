/** Destinations as they are configured at this moment, and the news of them that may be on its way. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigView, Destination } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';

const refreshPauseMs = 1_000;

export class Destinations {
  readonly #config: Pick<ConfigView, 'destination' | 'refresh'>;

  constructor(config: Pick<ConfigView, 'destination' | 'refresh'>) {
    this.#config = config;
  }

  known(id: string): Destination | undefined {
    return this.#config.destination(id);
  }

  /** That one exists, or is enabled, may be news that has not reached this process yet; then it is awaited. */
  async find(id: string): Promise<Destination | undefined> {
    const known = this.#config.destination(id);
    if (known?.enabled) return known;
    await this.#refresh();
    return this.#config.destination(id);
  }

  /** Without an answer from Kafka nothing can be said of a destination, so its deliveries wait for one. */
  async #refresh(): Promise<void> {
    for (;;) {
      try {
        await this.#config.refresh();
        return;
      } catch (error) {
        if (!isTailraceError(error, 'kafka-unavailable')) throw error;
        await sleep(refreshPauseMs);
      }
    }
  }
}
