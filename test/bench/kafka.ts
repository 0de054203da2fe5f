/** The project's own Kafka handle, for setting things up; what is measured never goes through it. */
import { connectKafka, type Kafka, type KafkaLog } from '@tailrace/kafka';

const silent = (): void => undefined;
const quiet: KafkaLog = { debug: silent, info: silent, warn: silent, error: silent };

export async function withKafka<T>(
  brokers: readonly string[],
  work: (kafka: Kafka) => Promise<T>,
): Promise<T> {
  const kafka = connectKafka({ brokers, clientId: 'tailrace-bench' }, quiet);
  try {
    return await work(kafka);
  } finally {
    await kafka.close();
  }
}
