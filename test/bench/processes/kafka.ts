/** The project's Kafka handle, for set-up only; measured traffic does not use it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import { connectKafka, type Kafka, type KafkaLog } from '@tailrace/kafka';

const takenWithinMs = 30_000;
const silent = (): void => undefined;
const quiet: KafkaLog = { debug: silent, info: silent, warn: silent, error: silent };

export function openKafka(brokers: readonly string[]): Kafka {
  return connectKafka({ brokers, clientId: 'tailrace-bench' }, quiet);
}

/**
 * Repeats `work`, which must be idempotent, while brokers refuse it: shortly after topics were created, their partitions
 * have no leader.
 */
export async function untilTaken<T>(work: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + takenWithinMs; ;) {
    try {
      return await work();
    } catch (error) {
      if (!isTailraceError(error, 'kafka-unavailable') || performance.now() > deadline) throw error;
      await sleep(200);
    }
  }
}

export async function withKafka<T>(
  brokers: readonly string[],
  work: (kafka: Kafka) => Promise<T>,
): Promise<T> {
  const kafka = openKafka(brokers);
  try {
    return await work(kafka);
  } finally {
    await kafka.close();
  }
}
