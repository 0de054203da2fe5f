/** The client library's administration client on the in-memory cluster. */
import type { Admin } from '../patches/reading/admin-requests.ts';
import type { MemoryBroker, RefusableRequest } from './broker.ts';
import { protocolError } from './errors.ts';
import { storedBytes } from './partition-log.ts';

const broker = { nodeId: 1, host: 'memory', port: 9092 };
/** Kafka's defaults of the topic settings that Tailrace sets or reads. */
const defaultConfig: Readonly<Record<string, string>> = {
  'cleanup.policy': 'delete',
  'max.message.bytes': '1048588',
  'min.insync.replicas': '1',
  'retention.bytes': '-1',
  'retention.ms': '604800000',
};

type UsedMethods =
  | 'connect'
  | 'disconnect'
  | 'listTopics'
  | 'createTopics'
  | 'createPartitions'
  | 'fetchTopicMetadata'
  | 'fetchOffsets'
  | 'fetchTopicOffsets'
  | 'fetchTopicOffsetsByTimestamp'
  | 'describeCluster'
  | 'describeConfigs'
  | 'describeGroups'
  | 'listGroups'
  | 'readEnds'
  | 'readFirst';

export function createAdmin(cluster: MemoryBroker): Admin {
  /** Answers after a turn of the event loop, as a request would. */
  const request = async <T>(answer: () => T): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve));
    cluster.checkReachable();
    return answer();
  };
  const refusable = <T>(name: RefusableRequest, answer: () => T): Promise<T> =>
    request(() => {
      const type = cluster.refusals[name].shift();
      if (type !== undefined) throw protocolError(type);
      return answer();
    });

  const admin: Pick<Admin, UsedMethods> = {
    connect: () => request(() => undefined),
    disconnect: () => Promise.resolve(),
    listTopics: () => request(() => [...cluster.topics.keys()]),
    listGroups: () => request(() => ({ groups: [] })),
    describeCluster: () =>
      request(() => ({ brokers: [broker], controller: broker.nodeId, clusterId: cluster.id })),

    createTopics: ({ topics }) =>
      refusable('createTopics', () => {
        if (topics.some(({ replicationFactor = 1 }) => replicationFactor > 1)) {
          throw protocolError('INVALID_REPLICATION_FACTOR');
        }
        const created = topics.map(({ topic, numPartitions = 1, configEntries = [] }) => {
          const config = Object.fromEntries(configEntries.map(({ name, value }) => [name, value]));
          return cluster.createTopic(topic, { partitions: Math.max(1, numPartitions), config });
        });
        return created.every(Boolean);
      }),

    createPartitions: async ({ topicPartitions }) => {
      await request(() => undefined);
      for (const { topic, count } of topicPartitions) {
        if (count <= cluster.topic(topic).partitions.length) throw protocolError('INVALID_PARTITIONS');
        await cluster.addPartitions(topic, count);
      }
      return true;
    },

    fetchTopicMetadata: ({ topics } = { topics: [...cluster.topics.keys()] }) =>
      request(() => ({
        topics: topics.map((name) => ({
          name,
          partitions: cluster
            .topic(name)
            .partitions.slice(0, cluster.knownPartitions.get(name))
            .map(({ partition }) => ({
              partitionErrorCode: 0,
              partitionId: partition,
              leader: cluster.leaderless.has(name) ? -1 : broker.nodeId,
              replicas: [broker.nodeId],
              isr: [broker.nodeId],
            })),
        })),
      })),

    fetchOffsets: ({ groupId, topics = [] }) =>
      request(() => {
        const { offsets } = cluster.group(groupId);
        return topics.map((topic) => ({
          topic,
          partitions: cluster.topic(topic).partitions.map(({ partition }) => {
            const { offset = -1, metadata = '' } = offsets.get(`${topic}/${partition}`) ?? {};
            return { partition, offset: String(offset), metadata };
          }),
        }));
      }),

    fetchTopicOffsets: (topic) =>
      request(() =>
        cluster.topic(topic).partitions.map(({ partition, low, high }) => ({
          partition,
          offset: String(high),
          low: String(low),
          high: String(high),
        })),
      ),

    fetchTopicOffsetsByTimestamp: (topic, time = 0) =>
      request(() => {
        // As a broker does: -1 means the end, and other times before 1970 are not known.
        if (time < -1) throw protocolError('UNSUPPORTED_VERSION');
        return cluster.topic(topic).partitions.map((log) => ({
          partition: log.partition,
          offset: String(time === -1 ? log.high : log.offsetAt(time)),
        }));
      }),

    readEnds: (topics) =>
      refusable('readEnds', () =>
        topics.map((topic) => ({
          topic,
          partitions: cluster
            .topic(topic)
            .partitions.map(({ partition, high }) => ({ partition, offset: String(high) })),
        })),
      ),

    readFirst: ({ topic, partition, offset }) =>
      request(() => {
        const [first] = cluster.partition(topic, partition)?.read(offset, 1) ?? [];
        return first && { timestamp: first.timestamp, recordBytes: storedBytes([first]) };
      }),

    describeGroups: (groupIds) =>
      request(() => ({
        groups: groupIds.map((groupId) => ({
          groupId,
          members: cluster.group(groupId).memberIds.map((memberId) => ({ memberId })),
        })) as Awaited<ReturnType<Admin['describeGroups']>>['groups'],
      })),

    describeConfigs: ({ resources }) =>
      request(() => ({
        throttleTime: 0,
        resources: resources.map(({ name, type, configNames }) => {
          const config = { ...defaultConfig, ...cluster.topic(name).config };
          const names = configNames ?? Object.keys(config);
          return {
            resourceName: name,
            resourceType: type,
            errorCode: 0,
            errorMessage: '',
            configEntries: names.map((configName) => ({ configName, configValue: config[configName] })),
          };
        }) as unknown as Awaited<ReturnType<Admin['describeConfigs']>>['resources'],
      })),
  };
  return admin as Admin;
}
