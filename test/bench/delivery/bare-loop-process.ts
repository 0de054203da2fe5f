/**
 * The bare loop: a kafkajs consumer, HMAC and an undici POST, with a fixed number of requests in flight. It has no
 * lanes, retries, configuration or metrics, and treats a failure as a success. It finishes a batch before it reads the
 * next, which a consumer without a watermark must do to commit offsets safely. It records attempts only if it is given
 * a topic for them; the records then hold the same fields as those of the service. It logs nothing, because the service
 * does not log successful attempts.
 */
import { createHmac } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import kafkajs, { logLevel, type KafkaMessage, type Message } from 'kafkajs';
import { Agent } from 'undici';
import { connectToParent } from '../processes/children.ts';
import type { BareLoopSettings, FromBareLoop } from './bare-loop.ts';

const { brokers, topic, attemptsTopic, sharedSecret, urls, inFlight } = JSON.parse(
  process.argv[2] ?? '{}',
) as BareLoopSettings;
const report: (message: FromBareLoop) => void = connectToParent();

// The bench compresses records with zstd, as the router does; kafkajs has no codec for it.
kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
  compress: (encoder: { readonly buffer: Buffer }) => Promise.resolve(zstdCompressSync(encoder.buffer)),
  decompress: (buffer: Buffer) => Promise.resolve(zstdDecompressSync(buffer)),
});

const agent = new Agent({ connections: inFlight });
const targets = new Map(
  Object.entries(urls).map(([id, url]) => [id, { origin: new URL(url).origin, path: new URL(url).pathname }]),
);
const kafka = new kafkajs.Kafka({
  brokers: [...brokers],
  clientId: 'bare-loop',
  logLevel: logLevel.NOTHING,
});
const keep = attemptsTopic === undefined ? undefined : await startKeeping(attemptsTopic);

async function deliver({ headers = {}, value }: KafkaMessage): Promise<void> {
  const destinationId = headers['destination-id']?.toString() ?? '';
  const target = targets.get(destinationId);
  if (!target || !value) return;
  const startedAt = performance.now();
  const response = await agent.request({
    ...target,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-signature': createHmac('sha1', sharedSecret).update(value).digest('hex'),
    },
    body: value,
  });
  await response.body.dump();
  if (!keep) return;
  const latencyMs = performance.now() - startedAt;
  keep({
    deliveryId: headers['delivery-id']?.toString() ?? '',
    eventId: headers['event-id']?.toString(),
    sourceId: headers['source-id']?.toString(),
    destinationId,
    type: headers['type']?.toString(),
    attempt: 1,
    startedAt: new Date().toISOString(),
    latencyMs,
    outcome: 'delivered',
    urls: [{ url: urls[destinationId], latencyMs, status: response.statusCode }],
  });
}

/** Writes a record of each attempt, in one request every 100 ms, as the service does. */
async function startKeeping(
  attemptsTopic: string,
): Promise<(attempt: { readonly deliveryId: string; readonly [field: string]: unknown }) => void> {
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  let messages: Message[] = [];
  setInterval(() => {
    if (messages.length === 0) return;
    void producer.send({ topic: attemptsTopic, compression: kafkajs.CompressionTypes.ZSTD, messages });
    messages = [];
  }, 100);
  return (attempt) => {
    messages.push({ key: attempt.deliveryId, value: JSON.stringify(attempt) });
  };
}

const consumer = kafka.consumer({ groupId: `${topic}.bare-loop`, maxWaitTimeInMs: 100 });
await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
consumer.on(consumer.events.GROUP_JOIN, () => {
  report({ kind: 'joined' });
});
await consumer.run({
  autoCommitInterval: 500,
  async eachBatch(payload) {
    const { messages } = payload.batch;
    let next = 0;
    const caller = async (): Promise<void> => {
      for (let message = messages[next++]; message; message = messages[next++]) {
        await deliver(message);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, caller));
    await payload.heartbeat();
  },
});
