import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import type { Admin } from 'kafkajs';
import { readEnds, withEnds } from './ends.ts';

interface LibraryCluster {
  readonly targetTopics: ReadonlySet<string>;
  brokerPool: object;
  refreshMetadata(): Promise<void>;
  findBroker: (options: { readonly nodeId: string }) => Promise<object>;
}

const Cluster = createRequire(import.meta.url)('kafkajs/src/cluster') as new (
  options: object,
) => LibraryCluster;

interface Wanted {
  readonly isolationLevel: number;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number }[];
  }[];
}

/** The library's own cluster, with a broker that has these topics. */
function clusterWith(existing: Set<string>): { readonly cluster: LibraryCluster; readonly levels: number[] } {
  const log = { namespace: () => log };
  const cluster = new Cluster({ logger: log, brokers: ['memory:9092'], isolationLevel: 1 });
  const levels: number[] = [];
  const pool = {
    metadata: undefined as object | undefined,
    refreshMetadata(topics: readonly string[]) {
      const missing = topics.find((topic) => !existing.has(topic));
      if (missing !== undefined) {
        const type = 'UNKNOWN_TOPIC_OR_PARTITION';
        return Promise.reject(Object.assign(new Error(`unknown topic ${missing}`), { type }));
      }
      pool.metadata = {
        brokers: [],
        topicMetadata: topics.map((topic) => ({
          topic,
          partitionMetadata: [{ partitionId: 0, leader: 1, replicas: [1], isr: [1] }],
        })),
      };
      return Promise.resolve();
    },
  };
  cluster.brokerPool = pool;
  cluster.findBroker = () =>
    Promise.resolve({
      listOffsets({ isolationLevel, topics }: Wanted) {
        levels.push(isolationLevel);
        return Promise.resolve({
          responses: topics.map(({ topic, partitions }) => ({
            topic,
            partitions: partitions.map(({ partition }) => ({ partition, offset: '7' })),
          })),
        });
      },
    });
  return { cluster, levels };
}

test('a topic that does not exist is forgotten, and all others are still found', async () => {
  const existing = new Set(['events']);
  const { cluster, levels } = clusterWith(existing);
  const admin = withEnds((_options: { readonly cluster: unknown }) => ({}) as Admin)({ cluster });
  const ends = [{ topic: 'events', partitions: [{ partition: 0, offset: '7' }] }];
  assert.deepEqual(await readEnds(admin, ['events']), ends);
  await assert.rejects(readEnds(admin, ['events', 'missing']), { type: 'UNKNOWN_TOPIC_OR_PARTITION' });
  assert.deepEqual([...cluster.targetTopics], ['events']);
  await cluster.refreshMetadata();
  assert.deepEqual(await readEnds(admin, ['events']), ends);
  existing.add('later');
  assert.equal((await readEnds(admin, ['later']))[0]?.topic, 'later');
  assert.deepEqual(levels, [0, 0, 0]);
});
