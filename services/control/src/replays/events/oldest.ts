/** The age of a topic. */
import type { Kafka } from '@tailrace/kafka';

const longestMs = 400 * 86_400_000;
const exactMs = 1_000;

/**
 * When the oldest record that still exists was written, to the second, in milliseconds since the epoch; undefined where there is none.
 * Found by a search in time, because reading a record takes a consumer group, which brokers need seconds for.
 *
 * @throws TailraceError `kafka-unavailable`
 */
export async function oldestAt(
  kafka: Pick<Kafka, 'offsets' | 'offsetsAt'>,
  topic: string,
  now = Date.now(),
): Promise<number | undefined> {
  const kept = [...(await kafka.offsets(topic))].filter(([, { low, high }]) => low < high);
  if (kept.length === 0) return undefined;
  let [before, after] = [now - longestMs, now];
  while (after - before > exactMs) {
    const middle = Math.floor((before + after) / 2);
    const found = await kafka.offsetsAt(topic, middle);
    if (kept.every(([partition, { low }]) => (found.get(partition) ?? 0) <= low)) before = middle;
    else after = middle;
  }
  return before;
}
