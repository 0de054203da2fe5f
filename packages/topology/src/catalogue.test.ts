import assert from 'node:assert/strict';
import test from 'node:test';
import { tierDelaysMs, topicNames, topicSpecs } from './catalogue.ts';
import { partitionGroupOf } from './partition-counts.ts';

const names = topicNames('tailrace.');
const minuteMs = 60_000;
const retryScheduleMs = [10_000, minuteMs, 60 * minuteMs, 60 * minuteMs, 20 * minuteMs];
const specs = topicSpecs(names, { partitions: 6, retryScheduleMs });
const spec = (topic: string) => specs.find(({ name }) => name === topic);

test('each distinct delay of the schedule has a retry topic, and so have paused destinations', () => {
  assert.deepEqual(tierDelaysMs(retryScheduleMs), [10_000, minuteMs, 20 * minuteMs, 60 * minuteMs]);
  const tiers = specs.map(({ name }) => name).filter((name) => names.retryTierDelayMs(name) !== undefined);
  assert.deepEqual(tiers, [
    'tailrace.deliveries.retry.10s',
    'tailrace.deliveries.retry.1m',
    'tailrace.deliveries.retry.20m',
    'tailrace.deliveries.retry.1h',
    'tailrace.deliveries.retry.1d',
  ]);
});

test('the name of a retry topic contains its delay, and other topics are not retry topics', () => {
  for (const delayMs of [1, 999, 10_000, 90_000, 4 * 60 * minuteMs]) {
    assert.equal(names.retryTierDelayMs(names.retryTier(delayMs)), delayMs);
  }
  for (const topic of [
    names.deliveries,
    names.deliveriesDead,
    'tailrace.deliveries.retry.',
    'other.retry.10s',
  ]) {
    assert.equal(names.retryTierDelayMs(topic), undefined, topic);
  }
});

test('every topic has the prefix and is specified once', () => {
  const all = specs.map(({ name }) => name);
  assert.equal(new Set(all).size, all.length);
  for (const name of Object.values(names)) {
    if (typeof name !== 'string' || name === names.eventsRestore) continue;
    assert.ok(all.includes(name), name);
  }
  for (const name of all) assert.ok(name.startsWith('tailrace.'), name);
});

test('all topics of a group have the same number of partitions', () => {
  for (const { name, partitions, samePartitionsAs, group } of specs) {
    const expected = partitionGroupOf(names, name);
    const first = expected && names[expected];
    assert.equal(samePartitionsAs, name === first ? undefined : first, name);
    assert.equal(group, name === first ? undefined : expected, name);
    if (expected !== undefined) assert.equal(partitions, 6, name);
  }
  assert.equal(spec(names.config)?.partitions, 1);
});

test('each topic gets the configured copies, and the default of the brokers without configuration', () => {
  for (const { name, replicationFactor, config } of specs) {
    assert.equal(replicationFactor, undefined, name);
    assert.ok(!('min.insync.replicas' in config), name);
  }
  const replication = { factor: 3, minInSync: 2 };
  for (const { name, replicationFactor, config } of topicSpecs(names, {
    partitions: 6,
    retryScheduleMs,
    replication,
  })) {
    assert.equal(replicationFactor, 3, name);
    assert.equal(config['min.insync.replicas'], '2', name);
  }
});

test('only topics of state and of the audit log keep their number of partitions', () => {
  const keeping = specs.filter(({ keepsPartitions }) => keepsPartitions).map(({ name }) => name);
  assert.deepEqual(keeping, [
    names.config,
    names.audiences,
    names.audiencesSyncs,
    names.deletions,
    names.replays,
    names.suppressions,
    names.destinationsHealth,
    names.recalls,
    names.audit,
    names.idempotency,
    names.sessions,
  ]);
});

test('a topic allows larger records than the topics that it is written from', () => {
  const largest = (topic: string): number => Number(spec(topic)?.config['max.message.bytes']);
  for (const [from, to] of [
    [names.events, names.eventsRejected],
    [names.events, names.eventsWaiting],
    [names.eventsWaiting, names.eventsRejected],
    [names.events, names.deliveries],
    [names.deliveries, names.retryTier(10_000)],
    [names.deliveries, names.deliveriesDead],
    [names.deliveries, names.deliveriesReplay],
  ] as const) {
    assert.ok(largest(from) < largest(to), `${from} -> ${to}`);
  }
});

test('9.7 dead letters and rejected records are kept for 30 days, replays, usage and the audit log longer, other records for 7 days, and state is compacted', () => {
  const state = [
    names.config,
    names.audiences,
    names.audiencesSyncs,
    names.deletions,
    names.replays,
    names.suppressions,
    names.destinationsHealth,
  ];
  for (const { name, config } of specs) {
    if (state.includes(name)) {
      assert.deepEqual(config, { 'cleanup.policy': 'compact' });
      continue;
    }
    const longer = {
      [names.eventsRejected]: 30,
      [names.deliveriesDead]: 30,
      [names.deliveriesReplay]: 45,
      [names.usage]: 90,
      [names.audit]: 90,
      [names.idempotency]: 2,
      [names.sessions]: 1,
      [names.recalls]: 15,
    };
    const days = longer[name] ?? 7;
    assert.equal(config['cleanup.policy'], name === names.recalls ? 'compact,delete' : 'delete');
    assert.equal(config['retention.ms'], String(days * 24 * 60 * minuteMs), name);
  }
});
