/** A Kafka connection for one command. */
import { TailraceError } from '@tailrace/errors';
import { connectKafka, type Kafka } from '@tailrace/kafka';
import { readSettings } from '@tailrace/service';
import type { CommandContext } from './command.ts';
import { commandKafkaSettings, type SecretKeys, type TopicSettings } from './settings.ts';

const connectTimeoutMs = 6_000;
/** The client retries some failures without end, such as a missing permission for a consumer group. */
const workTimeoutMs = 60_000;

/**
 * Connects, calls `work` and disconnects. With `timeLimit: false`, `work` has to detect by itself that Kafka does not
 * respond.
 *
 * @throws TailraceError `invalid-settings`, `kafka-unavailable`, `kafka-refused-credentials`, and the errors of `work`
 */
export async function withKafka<T>(
  { env, log }: CommandContext,
  work: (kafka: Kafka, topics: TopicSettings, secretKeys: SecretKeys) => Promise<T>,
  { timeLimit = true } = {},
): Promise<T> {
  const settings = readSettings(env, commandKafkaSettings);
  const kafka = connectKafka(settings.kafka, log);
  await kafka.ping({ timeoutMs: connectTimeoutMs });

  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    if (!timeLimit) return;
    timer = setTimeout(() => {
      const message =
        `Kafka did not respond within ${workTimeoutMs / 1_000} s. ` +
        'Run the command again with --verbose to see the log of the Kafka client.';
      reject(new TailraceError('kafka-unavailable', message));
    }, workTimeoutMs);
  });
  try {
    const result = await Promise.race([work(kafka, settings.topics, settings.secretKeys), timeout]);
    await kafka.close();
    return result;
  } finally {
    clearTimeout(timer);
  }
}
