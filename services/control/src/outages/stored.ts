/** Outages, for all instances and after a restart: the records `outage/<destination>` of `destinations.health`. A release before ignores them. */
import type { ExclusiveRecord } from '@tailrace/kafka';
import { objectIn } from '@tailrace/records';
import type { Outage } from './outage.ts';

const prefix = 'outage/';

export class StoredOutages {
  readonly #outages = new Map<string, Outage>();

  /** Takes a record of the topic. */
  accept(name: string, value: Buffer | null): void {
    if (!name.startsWith(prefix)) return;
    const id = name.slice(prefix.length);
    const outage = objectIn<Outage>(value) as Outage | undefined;
    if (outage) this.#outages.set(id, outage);
    else this.#outages.delete(id);
  }

  find(destinationId: string): Outage | undefined {
    return this.#outages.get(destinationId);
  }

  /** Undefined unless the destination was disabled. */
  failedSince(destinationId: string): number | undefined {
    const outage = this.find(destinationId);
    return outage?.state === 'disabled' ? outage.since : undefined;
  }

  destinations(): readonly string[] {
    return [...this.#outages.keys()];
  }
}

/** @param outage undefined removes the record */
export function encodeOutage(topic: string, destinationId: string, outage?: Outage): ExclusiveRecord {
  const value = outage ? JSON.stringify(outage) : null;
  return { topic, partition: 0, key: `${prefix}${destinationId}`, value };
}
