/** Kafka for the time of one command. */
import { TailraceError } from '@tailrace/errors';
import { connectKafka, type Kafka } from '@tailrace/kafka';
import { readSettings } from '@tailrace/service';
import type { CommandContext } from './command.ts';
import { commandKafkaSettings, type SecretKeys, type TopicSettings } from './settings.ts';

/** A person waits: brokers that are there answer well within this. */
const connectWithinMs = 6_000;
/** The client tries some failures for ever, such as a missing right to a group. */
const finishWithinMs = 60_000;

/**
 * Calls `work` with a Kafka that answers. What `mayTakeLong` has to notice by itself that Kafka does nothing more.
 *
 * @throws TailraceError `invalid-settings`, `kafka-unavailable`, `kafka-refused-credentials`, and what `work` throws
 */
export async function withKafka<T>(
  { env, log }: CommandContext,
  work: (kafka: Kafka, topics: TopicSettings, secretKeys: SecretKeys) => Promise<T>,
  { mayTakeLong = false } = {},
): Promise<T> {
  const settings = readSettings(env, commandKafkaSettings);
  const kafka = connectKafka(settings.kafka, log);
  await kafka.ping({ timeoutMs: connectWithinMs });

  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    if (mayTakeLong) return;
    timer = setTimeout(() => {
      const message =
        `Kafka did not finish the work within ${finishWithinMs / 1_000} s. ` +
        'Run it again with --verbose to see what its client says.';
      reject(new TailraceError('kafka-unavailable', message));
    }, finishWithinMs);
  });
  try {
    const result = await Promise.race([work(kafka, settings.topics, settings.secretKeys), late]);
    await kafka.close();
    return result;
  } finally {
    clearTimeout(timer);
  }
}
