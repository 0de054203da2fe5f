/**
 * The bare counterpart of ingest in twenty lines: HTTP in, Kafka out, 200 after the acknowledgement. One request to Kafka
 * is in flight at a time, and calls that arrive meanwhile are sent with the next, as in ingest. A request for each call would
 * cost several times as much and make the comparison unfair.
 */
import { fastify } from 'fastify';
import kafkajs, { logLevel } from 'kafkajs';
import type { FromBareServer, PartSettings } from '../pipeline/bare-parts.ts';
import { connectToParent } from './children.ts';

const { brokers, topic } = JSON.parse(process.argv[2] ?? '{}') as PartSettings;
const kafka = new kafkajs.Kafka({ brokers: [...brokers], clientId: 'bare-part', logLevel: logLevel.NOTHING });
const producer = kafka.producer({
  idempotent: true,
  maxInFlightRequests: 1,
  createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
});
await producer.connect();

interface Call {
  readonly userId: string;
}
let waiting: { readonly calls: readonly Call[]; readonly acknowledge: () => void }[] = [];
let sending = false;
async function send(): Promise<void> {
  if (sending) return;
  sending = true;
  while (waiting.length > 0) {
    const requests = waiting;
    waiting = [];
    const messages = requests.flatMap(({ calls }) =>
      calls.map((call) => ({ key: call.userId, value: JSON.stringify(call) })),
    );
    await producer.send({ topic, acks: -1, messages });
    for (const { acknowledge } of requests) acknowledge();
  }
  sending = false;
}
async function take(calls: readonly Call[]): Promise<object> {
  await new Promise<void>((acknowledge) => {
    waiting.push({ calls, acknowledge });
    setImmediate(() => void send());
  });
  return { success: true };
}

const server = fastify();
server.post<{ Body: Call }>('/v1/track', ({ body }) => take([body]));
server.post<{ Body: { batch: Call[] } }>('/v1/batch', ({ body }) => take(body.batch));
const address = await server.listen({ port: 0, host: '127.0.0.1' });

const report: (message: FromBareServer) => void = connectToParent();
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  report({ kind: 'cpu', microseconds: user + system });
});
report({ kind: 'listening', port: Number(new URL(address).port) });
