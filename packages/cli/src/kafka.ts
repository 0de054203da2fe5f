/** A Kafka connection for one command. */
import { isTailraceError, TailraceError } from '@tailrace/errors';
import { connectKafka, patiently, startPatience, type Kafka, type Patience } from '@tailrace/kafka';
import { readSettings } from '@tailrace/service';
import type { CommandContext } from './command.ts';
import { commandKafkaSettings, type SecretKeys, type TopicSettings } from './settings.ts';

const connectTimeoutMs = 6_000;
const workTimeoutMs = 60_000;
/** A new cluster on a busy machine is slow. What waits patiently itself ends before this limit, and says what it waited for. */
const patientWorkTimeoutMs = 150_000;
/** The limit of `setTimeout`. */
const neverMs = 2 ** 31 - 1;

/**
 * Connects, calls `work` and disconnects. With `timeLimit: false`, `work` has to detect by itself that Kafka does not
 * respond. A command that sets up a new cluster is `patient`: it waits two minutes, and shows what it waits for.
 *
 * @throws TailraceError `invalid-settings`, `kafka-unavailable`, `kafka-refused-credentials`, and the errors of `work`
 */
export async function withKafka<T>(
  { env, log, terminal, connect = connectKafka }: CommandContext,
  work: (kafka: Kafka, topics: TopicSettings, secretKeys: SecretKeys, patience: Patience) => Promise<T>,
  { timeLimit = true, patient = false } = {},
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
      else if (patient && err instanceof Error) terminal.progress(`Waiting for Kafka: ${err.message}`);
      log.warn(fields, message);
    },
  });
  const patience = startPatience((what) => terminal.progress(`Waiting for ${what}`));
  try {
    if (patient) {
      const { limitMs } = patience;
      await patiently(patience, 'an answer from Kafka', () => kafka.ping({ timeoutMs: limitMs }));
    } else {
      await kafka.ping({ timeoutMs: connectTimeoutMs });
    }
    const result = await inTime(work(kafka, settings.topics, settings.secretKeys, patience));
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
    const limitMs = patient ? patientWorkTimeoutMs : workTimeoutMs;
    const timer = setTimeout(
      () => {
        const message =
          `Kafka did not respond within ${limitMs / 1_000} s. ` +
          'Run the command again with --verbose to see the log of the Kafka client.';
        failed.reject(new TailraceError('kafka-unavailable', message));
      },
      timeLimit ? limitMs : neverMs,
    );
    try {
      return await Promise.race([result, failed.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
