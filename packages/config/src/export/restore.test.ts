import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import type { Configuration } from '../rules/schema.ts';
import { readConfiguration } from './read-configuration.ts';
import { restoreConfiguration, type RestoreMode, type RestoreOptions } from './restore.ts';

const topic = 'config';
const key = Buffer.alloc(32, 1);
const log = { warn: () => undefined };
const configuration: Configuration = {
  sources: [{ id: 'web', writeKeys: ['wk_web'], enabled: true }],
  destinations: [
    {
      id: 'crm',
      type: 'Webhooks',
      enabled: false,
      // A source that was deleted: the topic had it like this.
      sources: ['web', 'gone'],
      settings: { sharedSecret: 's3cret', webhooks: [{ url: 'https://crm.example.com/' }] },
    },
  ],
};

function newCluster(): MemoryCluster {
  const cluster = new MemoryCluster();
  cluster.createTopic(topic);
  return cluster;
}

async function restore(
  cluster: MemoryCluster,
  wanted = configuration,
  options: Partial<RestoreOptions> = {},
) {
  await using kafka = cluster.connect();
  const given = { mode: 'empty' as const, dryRun: false, secretKeys: { current: key }, log, ...options };
  return (await restoreConfiguration(kafka, topic, wanted, given)).map(
    ({ kind, id, outcome }) => `${outcome} ${kind}/${id}`,
  );
}

async function stored(cluster: MemoryCluster) {
  await using kafka = cluster.connect();
  const { sources, destinations } = await readConfiguration(kafka, topic, { current: key });
  return { sources, destinations };
}

test('an empty topic gets every entry, and the secrets are encrypted in it', async () => {
  const cluster = newCluster();
  assert.deepEqual(await restore(cluster), ['created source/web', 'created destination/crm']);
  assert.deepEqual(await stored(cluster), configuration);
  assert.match(cluster.records(topic).at(-1)?.value?.toString() ?? '', /"sharedSecret":"sealed:v1:/);
});

test('all entries are written in one transaction, or none', async () => {
  const cluster = new MemoryCluster();
  // The source fits, the destination does not.
  cluster.createTopic(topic, { config: { 'max.message.bytes': '200' } });
  await assert.rejects(restore(cluster), { code: 'record-too-large' });
  assert.deepEqual(await stored(cluster), { sources: [], destinations: [] });
});

test('a dry run writes nothing', async () => {
  const cluster = newCluster();
  assert.deepEqual(await restore(cluster, configuration, { dryRun: true }), [
    'created source/web',
    'created destination/crm',
  ]);
  assert.equal(cluster.records(topic).length, 0);
});

test('a topic with entries is refused, also in a dry run, unless the mode is merge or replace', async () => {
  const other: Configuration = {
    sources: [{ id: 'app', writeKeys: ['wk_app'], enabled: true }],
    destinations: [],
  };
  const modes: [mode: RestoreMode, left: string][] = [
    ['merge', 'left source/app'],
    ['replace', 'deleted source/app'],
  ];
  for (const [mode, left] of modes) {
    const cluster = newCluster();
    await restore(cluster, other);
    for (const dryRun of [true, false]) {
      await assert.rejects(restore(cluster, configuration, { dryRun }), {
        code: 'conflict',
        message: /not empty \(sources: 1, destinations: 0, notifications: 0\).*--merge.*--replace/,
      });
    }
    assert.deepEqual(await restore(cluster, configuration, { mode }), [
      'created source/web',
      'created destination/crm',
      left,
    ]);
    // The second time there is nothing to do.
    const again = await restore(cluster, configuration, { mode });
    assert.deepEqual(again.slice(0, 2), ['unchanged source/web', 'unchanged destination/crm']);
  }
});

test('a topic with an unreadable record is not empty', async () => {
  const cluster = newCluster();
  await using kafka = cluster.connect();
  await kafka.publisher().publish({ topic, key: 'source/web', value: 'no JSON' });
  await assert.rejects(restore(cluster), { code: 'conflict', message: /unreadable entries: 1/ });
});

test('a write key of another source is a conflict when merging', async () => {
  const cluster = newCluster();
  await restore(cluster, {
    sources: [{ id: 'app', writeKeys: ['wk_web'], enabled: true }],
    destinations: [],
  });
  await assert.rejects(restore(cluster, configuration, { mode: 'merge' }), { code: 'invalid-configuration' });
});

test('secrets are not written without a key, and a missing topic is reported', async () => {
  const cluster = newCluster();
  await assert.rejects(restore(cluster, configuration, { secretKeys: {} }), { code: 'secret-key-missing' });
  assert.equal(cluster.records(topic).length, 0);
  await assert.rejects(restore(new MemoryCluster()), { code: 'topic-missing' });
});
