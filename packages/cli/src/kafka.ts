/** A Kafka connection for one command. */
import { isTailraceError, TailraceError } from '@tailrace/errors';
import { connectKafka, type Kafka } from '@tailrace/kafka';
import { readSettings } from '@tailrace/service';
import type { CommandContext } from './command.ts';
import { commandKafkaSettings, type SecretKeys, type TopicSettings } from './settings.ts';

const connectTimeoutMs = 6_000;
const workTimeoutMs = 60_000;
/** The limit of `setTimeout`. */
const neverMs = 2 ** 31 - 1;

/**
 * Connects, calls `work` and disconnects. With `timeLimit: false`, `work` has to detect by itself that Kafka does not
 * respond.
 *
 * @throws TailraceError `invalid-settings`, `kafka-unavailable`, `kafka-refused-credentials`, and the errors of `work`
 */
export async function withKafka<T>(
  { env, log, connect = connectKafka }: CommandContext,
  work: (kafka: Kafka, topics: TopicSettings, secretKeys: SecretKeys) => Promise<T>,
  { timeLimit = true } = {},
): Promise<T> {
  const settings = readSettings(env, commandKafkaSettings);
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const kafka = connect(settings.kafka, {
    ...log,
    // The client retries without end, as services need. The user of a command should not have to wait.
    warn(fields, message) {
      const { err } = fields as { err?: unknown };
      if (isTailraceError(err, 'kafka-permission-missing')) failed.reject(err);
      log.warn(fields, message);
    },
  });
  try {
    await kafka.ping({ timeoutMs: connectTimeoutMs });
    const result = await inTime(work(kafka, settings.topics, settings.secretKeys));
    await kafka.close();
    return result;
  } catch (error) {
    const closed = kafka.close();
    // A Kafka that does not respond does not respond to this either: the connections end in the background.
    if (isTailraceError(error, 'kafka-unavailable')) closed.catch(() => undefined);
    else await closed;
    throw error;
  }

  async function inTime(result: Promise<T>): Promise<T> {
    const timer = setTimeout(
      () => {
        const message =
          `Kafka did not respond within ${workTimeoutMs / 1_000} s. ` +
          'Run the command again with --verbose to see the log of the Kafka client.';
        failed.reject(new TailraceError('kafka-unavailable', message));
      },
      timeLimit ? workTimeoutMs : neverMs,
    );
    try {
      return await Promise.race([result, failed.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
