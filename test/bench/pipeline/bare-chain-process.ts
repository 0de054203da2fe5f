/**
 * One client of the bare chain: kafkajs as it is, without any other work. It imports the library directly.
 *
 * Arguments: its role, and the settings as JSON.
 */
import kafkajs, { logLevel } from 'kafkajs';
import { atRate } from '../load/at-rate.ts';
import { createCalls } from '../load/calls.ts';
import { connectToParent } from '../processes/children.ts';
import type { ChainRole, ChainSettings, FromChain, ToGenerator } from './bare-chain.ts';

const [role, json] = process.argv.slice(2) as [ChainRole, string];
const { brokers, topics } = JSON.parse(json) as ChainSettings;
const report: (message: FromChain) => void = connectToParent();
const kafka = new kafkajs.Kafka({
  brokers: [...brokers],
  clientId: 'bare-chain',
  logLevel: logLevel.NOTHING,
});

async function startProducer(topic: string): Promise<(message: kafkajs.Message) => Promise<unknown>> {
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  return (message) => producer.send({ topic, acks: -1, messages: [message] });
}

async function consume(topic: string, receive: (message: kafkajs.Message) => unknown): Promise<void> {
  const consumer = kafka.consumer({ groupId: `bare-chain-${role}` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const joined = Promise.withResolvers<unknown>();
  consumer.on(consumer.events.GROUP_JOIN, joined.resolve);
  await consumer.run({
    autoCommitInterval: 500,
    partitionsConsumedConcurrently: 6,
    eachMessage: async ({ message }) => {
      await receive(message);
    },
  });
  await joined.promise;
}

const roles: Readonly<Record<ChainRole, () => Promise<void>>> = {
  async generator() {
    const body = createCalls();
    const send = await startProducer(topics.first);
    let next = 0;
    process.on('message', (rate: ToGenerator) => {
      void atRate(rate, async () => {
        const number = next++;
        await send({ key: `user-${number}`, value: body(number) });
      });
    });
  },
  async hop() {
    const send = await startProducer(topics.second);
    await consume(topics.first, ({ key, value }) => send({ key: key ?? null, value }));
  },
  async sink() {
    let received = 0;
    process.on('message', (count: number) => {
      const timer = setInterval(() => {
        if (received < count) return;
        clearInterval(timer);
        report({ kind: 'received' });
      }, 20);
    });
    await consume(topics.second, () => (received += 1));
  },
};

await roles[role]();
report({ kind: 'ready' });
