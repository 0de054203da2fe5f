/** Writes one tracking call into the topic `events`, with the client that the services use. */
import { randomUUID } from 'node:crypto';
import { connectKafka } from '@tailrace/kafka';

const {
  KAFKA_BROKERS: brokers = '127.0.0.1:9092',
  TAILRACE_TOPIC_PREFIX: prefix = 'tailrace.',
  WRITE_KEY: writeKey = 'wk_demo',
} = process.env;

const call = {
  type: 'track',
  userId: 'ada',
  // Without a messageId, a call that is written twice arrives twice.
  messageId: randomUUID(),
  event: 'Order Completed',
  properties: { total: 25.5 },
};

const silent = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };
const kafka = connectKafka({ brokers: brokers.split(','), clientId: 'example-producer' }, silent);
const publisher = kafka.publisher({ giveUpAfterMs: 10_000 });
await publisher.publish({
  topic: `${prefix}events`,
  // The key decides the partition, and with it order and the recognition of repeats.
  key: call.userId,
  value: JSON.stringify(call),
  headers: { 'write-key': writeKey },
});
console.log(`written ${call.messageId}`);
await kafka.close();
