/** All audiences as they are now: the topic `audiences.syncs`, followed live. */
import type { Kafka } from '@tailrace/kafka';
import { audienceKey, decodeAudience, type Audience, type AudienceKey } from './records.ts';

export interface AudienceView {
  get(key: AudienceKey): Audience | undefined;
  /** Of one source, by name. */
  ofSource(sourceId: string): Audience[];
  all(): Iterable<Audience>;
  /** Resolves once it has seen what could be read when this was called. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A sync that has said nothing for so long is not running: it writes at least every five seconds. Longer than an
 * outage of a broker that is restarted.
 */
export const silentAfterMs = 30_000;

export async function openAudienceView(kafka: Pick<Kafka, 'follow'>, topic: string): Promise<AudienceView> {
  const audiences = new Map<string, Audience>();
  const follower = await kafka.follow({
    topic,
    onRecord({ key, value }) {
      const audience = value && decodeAudience(value);
      if (audience) audiences.set(audienceKey(audience), audience);
      else if (value === null) audiences.delete(key?.toString() ?? '');
    },
  });
  return {
    get: (key) => audiences.get(audienceKey(key)),
    ofSource: (sourceId) =>
      [...audiences.values()]
        .filter((audience) => audience.sourceId === sourceId)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    all: () => audiences.values(),
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}
