/** The contract of packages/kafka against a real broker, behind a proxy that loses or holds its answers. */
import { gzipSync } from 'node:zlib';
import { connectKafka, type KafkaLog, type KafkaObserver } from '@tailrace/kafka';
import { testKafkaContract, type ContractCluster } from '@tailrace/kafka/testing';
import { sharedBroker } from '../support/kafka/broker.ts';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { startKafkaProxy } from '../support/kafka/kafka-proxy.ts';
import { produceRaw } from '../support/kafka/raw-producer.ts';
import { uniquePrefix } from '../support/kafka/topics.ts';

const silent = (): void => undefined;
const noLog = { debug: silent, info: silent, warn: silent, error: silent };
/** More than a reader decodes of one batch. */
const tooLargeDecoded = Buffer.alloc(40 * 2 ** 20);

testKafkaContract('Kafka', async () => {
  const { brokers } = await sharedBroker();
  const [broker = ''] = brokers;
  const [proxy, admin] = await Promise.all([startKafkaProxy(broker), connectAdmin(brokers)]);
  const disposeProxy = proxy[Symbol.asyncDispose].bind(proxy);
  const cluster: ContractCluster & AsyncDisposable = Object.assign(proxy, {
    ...admin,
    connect: (log: KafkaLog = noLog, observer?: KafkaObserver) =>
      connectKafka({ brokers: proxy.brokers, clientId: 'tailrace-contract' }, log, observer),
    newName: () => `${uniquePrefix()}contract`,
    writeUnreadable: (topic: string) =>
      produceRaw(broker, topic, 0, { records: [{ value: tooLargeDecoded }], codec: 1, compress: gzipSync }),
    writeAt: (topic: string, timestamp: number) =>
      produceRaw(broker, topic, 0, { records: [{ value: 'v' }], timestamp }),
    pauseAcknowledgements: proxy.pauseProduceAnswers,
    resumeAcknowledgements: proxy.resumeProduceAnswers,
    async [Symbol.asyncDispose]() {
      await admin[Symbol.asyncDispose]();
      await disposeProxy();
    },
  });
  return cluster;
});
