/** The destinations as they are configured now. */
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

  /** Where the destination is unknown or disabled, reads the configuration to its end before it answers. */
  async find(id: string): Promise<Destination | undefined> {
    const known = this.#config.destination(id);
    if (known?.enabled) return known;
    await this.#refresh();
    return this.#config.destination(id);
  }

  /** Waits for Kafka as long as necessary, because without it nothing can be decided about the delivery. */
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
