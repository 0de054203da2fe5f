import assert from 'node:assert/strict';
import { test } from 'node:test';
import { original, patched } from '../testing/original.ts';
import { silent } from '../testing/silent.ts';
import type { Admin } from './admin-requests.ts';

interface LibraryCluster {
  readonly targetTopics: ReadonlySet<string>;
  brokerPool: object;
  refreshMetadata(): Promise<void>;
  findBroker: (options: { readonly nodeId: string }) => Promise<object>;
}

const Cluster = patched('cluster/index') as new (options: object) => LibraryCluster;

function adminOf(cluster: object, load = patched): Admin {
  return (load('admin/index') as (options: object) => Admin)({
    cluster,
    logger: silent,
    retry: { retries: 0 },
  });
}

interface Wanted {
  readonly isolationLevel: number;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number }[];
  }[];
}

/** The library's own cluster, with a broker that has these topics. */
function clusterWith(existing: Set<string>): { readonly cluster: LibraryCluster; readonly levels: number[] } {
  const cluster = new Cluster({ logger: silent, brokers: ['memory:9092'], isolationLevel: 1 });
  const levels: number[] = [];
  const pool = {
    metadata: undefined as object | undefined,
    refreshMetadataIfNecessary: () => Promise.resolve(),
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
  const admin = adminOf(cluster);
  const ends = [{ topic: 'events', partitions: [{ partition: 0, offset: '7' }] }];
  assert.deepEqual(await admin.readEnds(['events']), ends);
  await assert.rejects(admin.readEnds(['events', 'missing']), { type: 'UNKNOWN_TOPIC_OR_PARTITION' });
  assert.deepEqual([...cluster.targetTopics], ['events']);
  await cluster.refreshMetadata();
  assert.deepEqual(await admin.readEnds(['events']), ends);
  existing.add('later');
  assert.equal((await admin.readEnds(['later']))[0]?.topic, 'later');
  assert.deepEqual(levels, [0, 0, 0]);
});

test('the original leaves out what follows an open transaction, and has no request for one record', async () => {
  const { cluster, levels } = clusterWith(new Set(['events']));
  const admin = adminOf(cluster, original);
  await admin.fetchTopicOffsets('events');
  assert.deepEqual(new Set(levels), new Set([1]));
  assert.equal('readFirst' in admin, false);
});

test('the first record at an offset is read outside of any group', async () => {
  const { cluster } = clusterWith(new Set(['events']));
  const asked: unknown[] = [];
  const messages = [4, 6].map((offset) => ({ offset, timestamp: offset * 1_000 }));
  const fetch = ({ topics }: { topics: unknown }) => {
    asked.push(topics);
    return Promise.resolve({ responses: [{ partitions: [{ bytes: 300, messages }] }] });
  };
  cluster.findBroker = () => Promise.resolve({ fetch });
  const first = await adminOf(cluster).readFirst({ topic: 'events', partition: 0, offset: 5 });
  assert.deepEqual(first, { timestamp: 6_000, recordBytes: 100 });
  assert.deepEqual(asked, [
    [{ topic: 'events', partitions: [{ partition: 0, fetchOffset: '5', maxBytes: 1 }] }],
  ]);
});
