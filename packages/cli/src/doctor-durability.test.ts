import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durabilityFindings } from './doctor-durability.ts';

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

test('three copies, two of them in sync, are as it should be', () => {
  assert.deepEqual(verdict(3, { events: [3, 2] }, { __consumer_offsets: [3, 2] }), [
    'ok 3 copies of each record or more, 2 before it is acknowledged',
  ]);
  assert.deepEqual(verdict(2, { events: [3, 2] }), [
    'ok 3 copies of each record or more, 2 before it is acknowledged',
  ]);
});

test('one broker is a warning, which says what it is good for', () => {
  const [says, ...more] = verdict(1, { events: [1, 1] }, { __consumer_offsets: [1, 1] });
  assert.match(says ?? '', /^warn .* fine for trying out/);
  assert.deepEqual(more, []);
});

test('a single copy on a cluster of several brokers is a failure, in Kafka’s own topics too', () => {
  assert.deepEqual(verdict(3, { events: [3, 2], config: [1, 1] }, { __consumer_offsets: [1, 1] }), [
    'fail on one broker only, whose disk has the only copy: config, __consumer_offsets.',
  ]);
});

test('an acknowledgement of a single broker is a failure; of the offsets, which lose nothing, a warning', () => {
  const found = verdict(3, { events: [3, 1] }, { __consumer_offsets: [3, 1], __transaction_state: [3, 2] });
  assert.match(found[0] ?? '', /^fail min\.insync\.replicas is 1, .* disk: events\.$/);
  assert.match(found[1] ?? '', /^warn .*__consumer_offsets is 1/);
  assert.equal(found.length, 2);
  assert.match(verdict(2, { events: [2, 1] })[0] ?? '', /^fail min\.insync\.replicas is 1/);
});

test('as many in sync as there are copies is a warning', () => {
  assert.match(
    verdict(3, { events: [3, 3] })[0] ?? '',
    /^warn .*one broker away stops all writing: events\.$/,
  );
});

test('nothing is said where there are no topics', () => {
  assert.deepEqual(verdict(3, {}), []);
});
