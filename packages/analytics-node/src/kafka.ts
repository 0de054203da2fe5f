/** Batches straight into Kafka, in place of HTTP: each call a record of the topic `events`. */
import { reasonOf } from './errors.ts';
import type { KafkaMessage, KafkaProducer } from './kafka-producer.ts';
import { maxBatchBytes, maxBatchCalls, type Outcome, type Transport } from './transport.ts';

export interface KafkaSettings {
  /** Connected; the client neither connects nor disconnects it. */
  readonly producer: KafkaProducer;
  readonly topic: string;
  readonly writeKey: string;
}

export function kafkaTransport({ producer, topic, writeKey }: KafkaSettings): Transport {
  const headers = { 'write-key': writeKey };
  return {
    limits: { bytes: maxBatchBytes, calls: maxBatchCalls },
    send(calls, signal) {
      const messages = calls.map(({ json, userKey }) => ({ key: userKey, value: json, headers }));
      // A producer that is asked to send cannot be told to stop; only the waiting for it ends.
      return new Promise((resolve) => {
        const stop = (): void => {
          resolve({ kind: 'failed', reason: 'the client was closed', afterMs: 0 });
        };
        signal.addEventListener('abort', stop);
        void produce(producer, topic, messages).then((outcome) => {
          signal.removeEventListener('abort', stop);
          resolve(outcome);
        });
      });
    },
    close: () => undefined,
  };
}

async function produce(producer: KafkaProducer, topic: string, messages: KafkaMessage[]): Promise<Outcome> {
  try {
    await producer.send({ topic, messages });
    return { kind: 'sent', rejected: [] };
  } catch (error) {
    const reason = reasonOf(error);
    return mayPass(error) ? { kind: 'failed', reason, afterMs: 0 } : { kind: 'refused', reason };
  }
}

/**
 * kafkajs marks what is of no use to try again, among it that it has tried often enough, which says nothing of the next
 * time. Errors without a mark, and of other clients, may pass.
 */
function mayPass(error: unknown): boolean {
  const { name, retriable, cause } = Object(error) as {
    name?: unknown;
    retriable?: unknown;
    cause?: unknown;
  };
  if (name === 'KafkaJSNumberOfRetriesExceeded') return cause === undefined || mayPass(cause);
  return retriable !== false;
}
