/** Writes batches directly to Kafka, without HTTP: each call is a record of the topic `events`. */
import { reasonOf } from '../core/errors.ts';
import type { KafkaMessage, KafkaProducer } from './kafka-producer.ts';
import { maxBatchBytes, maxBatchCalls, type Outcome, type Transport } from '../core/transport.ts';

export interface KafkaSettings {
  /** A connected producer. The client neither connects nor disconnects it. */
  readonly producer: KafkaProducer;
  readonly topic: string;
  readonly writeKey: string;
}

export function kafkaTransport({ producer, topic, writeKey }: KafkaSettings): Transport {
  const headers = { 'write-key': writeKey };
  return {
    limits: { bytes: maxBatchBytes, calls: maxBatchCalls },
    timeoutMs: Infinity,
    send(calls, signal) {
      const messages = calls.map(({ json, userKey }) => ({ key: userKey, value: json, headers }));
      // A send cannot be cancelled. Only waiting for it ends.
      return new Promise((resolve) => {
        const stop = (): void => resolve({ kind: 'failed', reason: 'the client was closed' });
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
    return isRetryable(error) ? { kind: 'failed', reason } : { kind: 'refused', reason };
  }
}

/**
 * kafkajs marks errors for which a retry does not help, including "number of retries exceeded", which may still
 * pass later. Unmarked errors, and those of other clients, count as retryable.
 */
function isRetryable(error: unknown): boolean {
  const { name, retriable, cause } = Object(error) as {
    name?: unknown;
    retriable?: unknown;
    cause?: unknown;
  };
  if (name === 'KafkaJSNumberOfRetriesExceeded') return cause === undefined || isRetryable(cause);
  return retriable !== false;
}
