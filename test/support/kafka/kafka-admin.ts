/** Operations on Kafka that tests need and packages/kafka does not have. */
// Before kafkajs, of which it replaces modules.
import '@tailrace/kafka';
import { eventually } from '@tailrace/testing';
import kafkajs from 'kafkajs';

export interface KafkaAdmin extends AsyncDisposable {
  /** The group's committed offset of each partition; -1 where there is none. */
  committed(groupId: string, topic: string): Promise<number[]>;
  commit(groupId: string, topic: string, partition: number, offset: number): Promise<void>;
  memberIds(groupId: string): Promise<string[]>;
  /** Removes the records below `offset`, as retention would. */
  expire(topic: string, partition: number, offset: number): Promise<void>;
  /** Sets the number of partitions. */
  addPartitions(topic: string, count: number): Promise<void>;
  /** The brokers in sync for each partition. */
  inSync(topic: string): Promise<number[][]>;
  /** Writes records in a transaction that stays open until the returned function aborts it. */
  openTransaction(topic: string, values: readonly string[]): Promise<() => Promise<void>>;
  /** Writes records in a transaction that is then aborted: they take offsets, and no consumer sees them. */
  writeAborted(topic: string, values: readonly string[]): Promise<void>;
}

export async function connectAdmin(brokers: readonly string[]): Promise<KafkaAdmin> {
  const client = new kafkajs.Kafka({
    clientId: 'tailrace-test-admin',
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const admin = client.admin();
  await admin.connect();
  const openTransaction: KafkaAdmin['openTransaction'] = async (topic, values) => {
    const producer = client.producer({ transactionalId: `${topic}.aborted`, maxInFlightRequests: 1 });
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: values.map((value) => ({ key: 'k', value })) });
    return async () => {
      const end = async (): Promise<number> => {
        const offsets = await admin.fetchTopicOffsets(topic);
        return offsets.reduce((sum, { high }) => sum + Number(high), 0);
      };
      const before = await end();
      await transaction.abort();
      // Kafka answers before it has written that the transaction has ended.
      await eventually(end, (now) => now > before);
      await producer.disconnect();
    };
  };
  return {
    async committed(groupId, topic) {
      const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const partitions = offsets?.partitions ?? [];
      return partitions.sort((a, b) => a.partition - b.partition).map(({ offset }) => Number(offset));
    },
    async commit(groupId, topic, partition, offset) {
      await admin.setOffsets({ groupId, topic, partitions: [{ partition, offset: String(offset) }] });
    },
    async memberIds(groupId) {
      const { groups } = await admin.describeGroups([groupId]);
      return groups.flatMap(({ members }) => members.map(({ memberId }) => memberId)).sort();
    },
    async expire(topic, partition, offset) {
      // Makes the library look up where the topic's partitions are, which the deletion itself forgets to.
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] });
    },
    async addPartitions(topic, count) {
      await admin.createPartitions({ topicPartitions: [{ topic, count }] });
    },
    async inSync(topic) {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      return (topics[0]?.partitions ?? []).map(({ isr }) => isr);
    },
    openTransaction,
    async writeAborted(topic, values) {
      const abort = await openTransaction(topic, values);
      await abort();
    },
    [Symbol.asyncDispose]: () => admin.disconnect(),
  };
}
