/** The current state of all audiences, from the topic `audiences.syncs`. */
import type { Kafka } from '@tailrace/kafka';
import { audienceKey, decodeAudience, type Audience, type AudienceKey } from './records.ts';

export interface AudienceView {
  get(key: AudienceKey): Audience | undefined;
  /** The audiences of a source, by name. */
  ofSource(sourceId: string): Audience[];
  all(): Iterable<Audience>;
  /** Milliseconds since this instance last read a record of the audience. */
  silenceMs(key: AudienceKey): number;
  /** Resolves once every record that was readable at the call has been read. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A running sync writes at least every five seconds. A sync that is silent for this long is considered interrupted. Longer
 * than the restart of a broker.
 */
export const silentAfterMs = 30_000;

export async function openAudienceView(kafka: Pick<Kafka, 'follow'>, topic: string): Promise<AudienceView> {
  const audiences = new Map<string, Audience>();
  const readAt = new Map<string, number>();
  const follower = await kafka.follow({
    topic,
    onRecord({ key, value }) {
      const audience = value && decodeAudience(value);
      if (audience) {
        audiences.set(audienceKey(audience), audience);
        readAt.set(audienceKey(audience), performance.now());
      } else if (value === null) {
        audiences.delete(key?.toString() ?? '');
        readAt.delete(key?.toString() ?? '');
      }
    },
  });
  return {
    get: (key) => audiences.get(audienceKey(key)),
    ofSource: (sourceId) =>
      [...audiences.values()]
        .filter((audience) => audience.sourceId === sourceId)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    all: () => audiences.values(),
    silenceMs: (key) => performance.now() - (readAt.get(audienceKey(key)) ?? -Infinity),
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}
