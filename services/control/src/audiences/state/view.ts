/** The current state of all audiences, from the topic `audiences.syncs`. */
import type { Kafka } from '@tailrace/kafka';
import { audienceKey, decodeAudience, type Audience, type AudienceKey } from './records.ts';

/**
 * A running sync writes at least every five seconds. A sync that is silent for this long is considered interrupted. Longer
 * than the restart of a broker.
 */
const silentAfterMs = 30_000;

export type AudienceView = Awaited<ReturnType<typeof openAudienceView>>;

export async function openAudienceView(kafka: Pick<Kafka, 'follow'>, topic: string) {
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
    get: (key: AudienceKey) => audiences.get(audienceKey(key)),
    all: () => audiences.values(),
    /** By how long ago this instance has read the last record of the audience. */
    isSilent: (key: AudienceKey): boolean =>
      performance.now() - (readAt.get(audienceKey(key)) ?? -Infinity) > silentAfterMs,
    /** Resolves once every record that was readable at the call has been read. */
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  };
}
