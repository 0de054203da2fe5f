import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durabilityFindings } from './durability.ts';

type Copies = Readonly<Record<string, readonly [replicationFactor: number, minInSync: number]>>;

const topics = (copies: Copies) =>
  new Map(
    Object.entries(copies).map(([name, [replicationFactor, minInSync]]) => [
      name,
      { replicationFactor, minInSync },
    ]),
  );

function verdict(brokers: number, ours: Copies, kafkasOwn: Copies = {}): string[] {
  const findings = durabilityFindings(brokers, undefined, topics(ours), topics(kafkasOwn));
  for (const { level, hint } of findings) assert.equal(hint !== undefined, level !== 'ok');
  return findings.map(({ level, says }) => `${level} ${says}`);
}

test('three copies with two in sync are ok', () => {
  assert.deepEqual(verdict(3, { events: [3, 2] }, { __consumer_offsets: [3, 2] }), [
    'ok 3 copies of each record or more, 2 before a write is acknowledged',
  ]);
  assert.deepEqual(verdict(2, { events: [3, 2] }), [
    'ok 3 copies of each record or more, 2 before a write is acknowledged',
  ]);
});

test('one broker is a warning', () => {
  const [says, ...more] = verdict(1, { events: [1, 1] }, { __consumer_offsets: [1, 1] });
  assert.match(says ?? '', /^warn .* sufficient for evaluation only/);
  assert.deepEqual(more, []);
});

test('a single copy on a cluster of several brokers is a failure, also for Kafka’s own topics', () => {
  assert.deepEqual(verdict(3, { events: [3, 2], config: [1, 1] }, { __consumer_offsets: [1, 1] }), [
    'fail only one copy, on the disk of one broker: config, __consumer_offsets.',
  ]);
});

test('one copy in sync is a failure, and a warning for committed offsets, which lose no events', () => {
  const found = verdict(3, { events: [3, 1] }, { __consumer_offsets: [3, 1], __transaction_state: [3, 2] });
  assert.match(found[0] ?? '', /^fail min\.insync\.replicas is 1, .* disk: events\.$/);
  assert.match(found[1] ?? '', /^warn .*__consumer_offsets is 1/);
  assert.equal(found.length, 2);
  assert.match(verdict(2, { events: [2, 1] })[0] ?? '', /^fail min\.insync\.replicas is 1/);
});

test('min.insync.replicas equal to the number of copies is a warning', () => {
  assert.match(
    verdict(3, { events: [3, 3] })[0] ?? '',
    /^warn .*writes fail if one broker is down: events\.$/,
  );
});

test('without topics there is no finding', () => {
  assert.deepEqual(verdict(3, {}), []);
});
