/**
 * One bare part in its own process: the cost of the library alone. The bench measures the libraries, so it imports
 * them directly, kafkajs included.
 *
 * Arguments: the part, and its settings as JSON. It does a warm-up, then the measured runs, and reports the cost of each.
 */
import { createHmac } from 'node:crypto';
import kafkajs, { CompressionTypes, logLevel } from 'kafkajs';
import { Pool } from 'undici';
import type { FromBarePart, LonePart, PartSettings } from './bare-parts.ts';
import { createCalls } from '../load/calls.ts';
import { connectToParent } from '../processes/children.ts';

/** Does the work at least `count` times, and resolves with the number of times. */
type Work = (count: number) => Promise<number>;

const [name, json] = process.argv.slice(2) as [LonePart, string];
const settings = JSON.parse(json) as PartSettings;
const report: (message: FromBarePart) => void = connectToParent();
const body = createCalls()(0);
const kafka = new kafkajs.Kafka({
  brokers: [...settings.brokers],
  clientId: 'bare-part',
  logLevel: logLevel.NOTHING,
});

const parts: Readonly<Record<LonePart, () => Work | Promise<Work>>> = {
  'produce-20': () => produce(20),
  'produce-500': () => produce(500),
  consume,
  post,
};

/** Idempotent, acknowledged by all replicas, one request at a time. */
async function produce(recordsPerRequest: number): Promise<Work> {
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  return async (count) => {
    for (let sent = 0; sent < count; sent += recordsPerRequest) {
      const messages = Array.from({ length: Math.min(recordsPerRequest, count - sent) }, (_, index) => ({
        key: `user-${sent + index}`,
        value: body,
      }));
      await producer.send({
        topic: settings.topic,
        acks: -1,
        compression: CompressionTypes.None,
        messages,
      });
    }
    return count;
  };
}

/**
 * Reads a backlog as fast as possible. A fetch is decoded as a whole before its records are dispatched, so fetches must
 * be small compared with a run, or the cost of one run is counted in the next.
 */
async function consume(): Promise<Work> {
  const consumer = kafka.consumer({ groupId: 'bare-part', maxBytes: 512 * 1024 });
  await consumer.connect();
  await consumer.subscribe({ topic: settings.topic, fromBeginning: true });
  let consumed = 0;
  let onBatch: () => void = () => undefined;
  await consumer.run({
    autoCommitInterval: 500,
    eachBatch: ({ batch }) => {
      consumed += batch.messages.length;
      onBatch();
      return Promise.resolve();
    },
  });
  return (count) =>
    new Promise((resolve) => {
      const before = consumed;
      onBatch = () => {
        if (consumed - before >= count) resolve(consumed - before);
      };
    });
}

/** Sends 64 signed requests at a time to the receiver of the pipeline. */
function post(): Work {
  const pool = new Pool(new URL(settings.url).origin, { connections: settings.inFlight });
  const { pathname } = new URL(settings.url);
  const send = async (): Promise<void> => {
    const signature = createHmac('sha1', 'secret').update(body).digest('hex');
    const response = await pool.request({
      method: 'POST',
      path: pathname,
      headers: { 'content-type': 'application/json', 'x-signature': signature },
      body,
    });
    await response.body.dump();
  };
  return async (count) => {
    let left = count;
    const caller = async (): Promise<void> => {
      while (left-- > 0) await send();
    };
    await Promise.all(Array.from({ length: settings.inFlight }, caller));
    return count;
  };
}

const work = await parts[name]();
await work(settings.warmUp);
for (let run = 0; run < settings.runs; run += 1) {
  const before = process.cpuUsage();
  const done = await work(settings.count);
  const { user, system } = process.cpuUsage(before);
  report({ kind: 'run', microseconds: (user + system) / done });
}
