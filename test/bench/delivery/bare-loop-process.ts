/**
 * The bare loop: a kafkajs consumer, HMAC, and an undici POST, so many at a time, with nothing around them. No lane,
 * no retry, no configuration, no log, no metrics, no record of attempts; a failure is a success to it. It finishes
 * a batch before it takes the next, as whoever commits offsets without a watermark must.
 */
import { createHmac } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import kafkajs, { logLevel, type KafkaMessage } from 'kafkajs';
import { Agent } from 'undici';
import { connectToParent } from '../children.ts';
import type { BareLoopSettings, FromBareLoop } from './bare-loop.ts';

const { brokers, topic, sharedSecret, urls, inFlight } = JSON.parse(
  process.argv[2] ?? '{}',
) as BareLoopSettings;
const tell: (message: FromBareLoop) => void = connectToParent();

// What the bench writes is compressed so, as by the router; the library has no codec of its own for it.
kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
  compress: (encoder: { readonly buffer: Buffer }) => Promise.resolve(zstdCompressSync(encoder.buffer)),
  decompress: (buffer: Buffer) => Promise.resolve(zstdDecompressSync(buffer)),
});

const agent = new Agent({ connections: inFlight });
const targets = new Map(
  Object.entries(urls).map(([id, url]) => [id, { origin: new URL(url).origin, path: new URL(url).pathname }]),
);

async function deliver({ headers, value }: KafkaMessage): Promise<void> {
  const target = targets.get(headers?.['destination-id']?.toString() ?? '');
  if (!target || !value) return;
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
}

const kafka = new kafkajs.Kafka({
  brokers: [...brokers],
  clientId: 'bare-loop',
  logLevel: logLevel.NOTHING,
});
const consumer = kafka.consumer({ groupId: `${topic}.bare-loop`, maxWaitTimeInMs: 100 });
await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
consumer.on(consumer.events.GROUP_JOIN, () => {
  tell({ kind: 'joined' });
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
