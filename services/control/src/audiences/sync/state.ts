/** The state of a sync, which is written with each of its transactions. It may be ahead of Kafka. */
import type { ExclusivePublisher, ExclusiveRecord, OutgoingRecord } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import { audienceKey, encodeAudience, type Audience, type AudienceSync } from '../state/records.ts';

export class SyncState {
  readonly #names: Pick<TopicNames, 'audiences' | 'audiencesSyncs'>;
  #audience: Audience;
  #writtenAt = 0;

  constructor(audience: Audience, names: Pick<TopicNames, 'audiences' | 'audiencesSyncs'>) {
    this.#audience = audience;
    this.#names = names;
  }

  get audience(): Audience {
    return this.#audience;
  }

  /** Milliseconds since the last transaction. */
  get silenceMs(): number {
    return performance.now() - this.#writtenAt;
  }

  with(update: Partial<AudienceSync>, members = this.#audience.members): Audience {
    const updatedAt = new Date().toISOString();
    return { ...this.#audience, members, sync: { ...this.#audience.sync, ...update, updatedAt } };
  }

  set(update: Partial<AudienceSync>, members?: number): void {
    this.#audience = this.with(update, members);
  }

  /** Writes the records together with the state after them. */
  async publish(
    publisher: ExclusivePublisher,
    records: readonly OutgoingRecord[],
    next: Audience = this.with({}),
  ): Promise<void> {
    const state = { ...encodeAudience(this.#names.audiencesSyncs, next), partition: 0 };
    await publisher.publish([...(records as ExclusiveRecord[]), state]);
    this.#audience = next;
    this.#writtenAt = performance.now();
  }

  /** Deletes the audience: its mark in each partition, and its state. */
  async publishTombstones(publisher: ExclusivePublisher, partitions: number): Promise<void> {
    const key = audienceKey(this.#audience);
    const marks = Array.from({ length: partitions }, (_, partition) => ({
      topic: this.#names.audiences,
      partition,
    }));
    const all = [...marks, { topic: this.#names.audiencesSyncs, partition: 0 }];
    await publisher.publish(all.map((place) => ({ ...place, key, value: null })));
    this.set({ state: 'done' });
  }
}
