import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyConfiguration } from '@tailrace/config';
import { deliveryId } from '@tailrace/events';
import type { FinishedOffsets, Kafka } from '@tailrace/kafka';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { deliveryKey, encodeDecision, encodeDelivery, type AttemptRecord } from '@tailrace/records';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { searchTopics, type SearchOptions } from './search.ts';
import { storyLines, type Story } from './text.ts';
import { deliveriesOf, gapsOf, outcomeOf } from './verdict.ts';

const names = topicNames('tailrace.');
const tier = names.retryTier(60_000);
const hourMs = 3_600_000;
const id = deliveryId('web', 'm-1', 'hash', 'crm');
const another = deliveryId('web', 'm-1', 'another hash', 'crm');
const delivery = {
  deliveryId: id,
  eventId: 'm-1',
  sourceId: 'web',
  destinationId: 'crm',
  type: 'track',
  attempt: 0,
  step: 0,
  deferrals: 0,
  closedUrls: [],
  key: deliveryKey('crm', 'ada'),
  body: Buffer.from('{}'),
};
const attempt: AttemptRecord = {
  deliveryId: id,
  eventId: 'm-1',
  sourceId: 'web',
  destinationId: 'crm',
  type: 'track',
  userKey: 'ada',
  attempt: 1,
  startedAt: '2026-11-22T12:00:00.000Z',
  latencyMs: 5,
  outcome: 'delivered',
  urls: [{ url: 'https://crm.example/hook', status: 200, latencyMs: 5 }],
};

async function openCluster() {
  const cluster = new MemoryCluster();
  const kafka = cluster.connect();
  await kafka.ensureTopics(topicSpecs(names, { partitions: 12, retryScheduleMs: [60_000] }));
  await applyConfiguration(kafka, names.config, {
    sources: [{ id: 'web', writeKeys: ['wk_web'], enabled: true }],
    destinations: [
      {
        id: 'crm',
        type: 'Webhooks',
        enabled: true,
        sources: ['web'],
        settings: { webhooks: [{ url: 'https://crm.example/hook' }] },
      },
    ],
  });
  return { cluster, kafka, publisher: kafka.publisher(), [Symbol.asyncDispose]: () => kafka.close() };
}

async function search(
  kafka: Kafka,
  eventId: string,
  more: Partial<SearchOptions> = {},
  finished?: FinishedOffsets,
) {
  const now = Date.now();
  const options: SearchOptions = {
    eventId,
    user: undefined,
    allPartitions: false,
    secretKeys: {},
    now,
    period: { from: now - hourMs, until: now + 1_000 },
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...more,
  };
  const { matches, topics } = await searchTopics(kafka, names, options);
  const gaps = gapsOf(topics);
  const outcome = outcomeOf(matches, gaps);
  const deliveries = deliveriesOf(matches, finished);
  const story: Story = {
    eventId,
    period: options.period,
    outcome,
    matches,
    deliveries,
    topics,
    gaps,
    routed: true,
  };
  const readOf = (topic: string) =>
    topics.find((searched) => searched.topic === topic)?.partitions.map(({ partition }) => partition) ?? [];
  return { outcome, matches, deliveries, gaps, readOf, lines: storyLines(story) };
}

const call = (messageId: string) => JSON.stringify({ type: 'track', userId: 'ada', event: 'E', messageId });
const headers = { 'source-id': 'web' };

test("an event is found in its user's partitions, with every record of its deliveries, and the rest is not read", async () => {
  await using stage = await openCluster();
  const { kafka, publisher } = stage;
  await publisher.publish({ topic: names.events, key: 'ada', value: call('m-1'), headers });
  await publisher.publish({ topic: names.events, key: 'bob', value: call('m-2'), headers });
  await publisher.publish(encodeDelivery(names.deliveries, delivery));
  const retried = { ...delivery, attempt: 1, step: 1, reason: 'server-error', dueAt: Date.now() + 60_000 };
  await publisher.publish(encodeDelivery(tier, retried));
  await publisher.publish({ topic: names.attempts, key: null, value: JSON.stringify(attempt) });
  const { outcome, matches, deliveries, readOf, lines } = await search(kafka, 'm-1', { user: 'ada' });
  assert.equal(outcome, 'found');
  assert.deepEqual(
    new Set(matches.map(({ kind }) => kind)),
    new Set(['event', 'delivery', 'retry', 'attempt']),
  );
  assert.deepEqual(
    deliveries.map(({ destinationId, status }) => [destinationId, status]),
    [['crm', 'delivered']],
  );
  const { partitionOf } = await kafka.partitioner(names.events);
  assert.deepEqual(readOf(names.events), [partitionOf('ada')]);
  assert.equal(readOf(names.attempts).length, 12);
  assert.match(lines.join('\n'), /^crm: delivered\. Delivery /m);
  assert.match(lines.join('\n'), /^Not searched:\n {2}tailrace\.events partitions .*: not expected there$/m);
});

test('a delivery without an outcome whose last record delivery has finished does not count as waiting', async () => {
  await using stage = await openCluster();
  const { cluster, kafka, publisher } = stage;
  await publisher.publish(encodeDelivery(names.deliveries, delivery));
  const { partition = 0 } = cluster.records(names.deliveries)[0] ?? {};
  const finishedNow = () => kafka.finished('tailrace.delivery', [names.deliveries]);
  const { deliveries, lines } = await search(kafka, 'm-1', {}, await finishedNow());
  assert.deepEqual([deliveries[0]?.status, deliveries[0]?.finished], ['open', false]);
  assert.doesNotMatch(lines.join('\n'), /was lost/);

  await cluster.commit('tailrace.delivery', names.deliveries, partition, 1);
  const later = await search(kafka, 'm-1', {}, await finishedNow());
  assert.deepEqual([later.deliveries[0]?.status, later.deliveries[0]?.finished], ['open', true]);
  assert.match(later.lines.join('\n'), /^Delivery has finished the last record above: .* was lost\.$/m);
});

test('two events with one messageId and different content are both found, with the attempts of both', async () => {
  await using stage = await openCluster();
  const { kafka, publisher } = stage;
  for (const deliveryId of [id, another]) {
    await publisher.publish(encodeDelivery(names.deliveries, { ...delivery, deliveryId }));
    const value = JSON.stringify({ ...attempt, deliveryId });
    await publisher.publish({ topic: names.attempts, key: null, value });
  }
  const { deliveries } = await search(kafka, 'm-1', { user: 'ada' });
  assert.deepEqual(
    deliveries.map(({ status }) => status),
    ['delivered', 'delivered'],
  );
});

test('an event that the router filtered says for which destinations and why, also beside its deliveries', async () => {
  await using stage = await openCluster();
  const { kafka, publisher } = stage;
  await publisher.publish({ topic: names.events, key: 'ada', value: call('m-1'), headers });
  const filtered = [{ reason: 'disabled', destinations: [{ id: 'crm' }, { id: 'erp' }] }];
  const decision = {
    eventId: 'm-1',
    sourceId: 'web',
    type: 'track',
    decidedAt: Date.now(),
    routed: 0,
    filtered,
  };
  await publisher.publish(encodeDecision(names.decisions, 'ada', decision));
  const other = { ...decision, eventId: 'm-10' };
  await publisher.publish(encodeDecision(names.decisions, 'ada', other));
  const decided = await search(kafka, 'm-1', { user: 'ada' });
  assert.equal(decided.outcome, 'decided');
  assert.deepEqual(
    decided.matches.map(({ kind }) => kind),
    ['event', 'decision'],
  );
  const { partitionOf } = await kafka.partitioner(names.decisions);
  assert.deepEqual(decided.readOf(names.decisions), [partitionOf('ada')]);
  const sentence =
    /^At .* the router filtered it for crm, erp: the destinations were disabled \(tailrace\.decisions /m;
  assert.match(decided.lines.join('\n'), sentence);
  await publisher.publish(encodeDelivery(names.deliveries, delivery));
  const both = await search(kafka, 'm-1');
  assert.equal(both.outcome, 'found');
  assert.match(both.lines.join('\n'), sentence);
});

test('an event without a decision is not explained by a guess', async () => {
  await using stage = await openCluster();
  const { kafka, publisher } = stage;
  await publisher.publish({ topic: names.events, key: 'ada', value: call('m-1'), headers });
  const { outcome, lines } = await search(kafka, 'm-1');
  assert.equal(outcome, 'accepted');
  assert.match(lines.join('\n'), /a router of the release before read it, which recorded no decisions/);
});

test('an event in another partition than that of the user is found, because all others are searched then', async () => {
  await using stage = await openCluster();
  const { kafka, publisher } = stage;
  const { partitionOf, partitions } = await kafka.partitioner(names.events);
  const partition = (partitionOf('ada') + 5) % partitions;
  await publisher.publish({ topic: names.events, partition, key: 'ada', value: call('m-1'), headers });
  const { outcome, matches, readOf } = await search(kafka, 'm-1', { user: 'ada' });
  assert.equal(outcome, 'accepted');
  assert.deepEqual(
    matches.map((match) => [match.kind, match.partition]),
    [['event', partition]],
  );
  assert.equal(readOf(names.events).length, 12);
});

test('an event that does not exist is not found only after all partitions of all topics were read', async () => {
  await using stage = await openCluster();
  const { kafka } = stage;
  for (const user of ['ada', undefined]) {
    const { outcome, gaps, readOf, lines } = await search(kafka, 'm-9', { user });
    assert.deepEqual([outcome, gaps], ['not-found', []]);
    for (const topic of [names.events, names.eventsRejected, names.deliveries, tier, names.deliveriesDead]) {
      assert.equal(readOf(topic).length, 12, topic);
    }
    assert.match(lines[0] ?? '', /^Not found: no record of m-9 was written between /);
  }
});

test('a missing topic, expired records and an ended search are "not searched", never "not found"', async () => {
  await using stage = await openCluster();
  const { cluster, kafka, publisher } = stage;
  cluster.topics.delete(names.eventsRejected);
  const missing = await search(kafka, 'm-9');
  assert.equal(missing.outcome, 'not-searched');
  assert.deepEqual(missing.gaps, [
    { topic: names.eventsRejected, partitions: null, reason: 'the topic does not exist' },
  ]);

  const partition = 3;
  await publisher.publish({ topic: names.events, partition, key: 'ada', value: call('m-1'), headers });
  await cluster.expire(names.events, partition, 1);
  const weekAgo = { from: Date.now() - 8 * 24 * hourMs, until: Date.now() - 7 * 24 * hourMs };
  const expired = await search(kafka, 'm-1', { period: weekAgo });
  assert.equal(expired.outcome, 'not-searched');
  assert.match(
    expired.lines.join('\n'),
    /tailrace\.events partition 3: records of this period may have expired \(kept for 7 days\)/,
  );
  // Within the retention nothing expires, so a low watermark above 0 hides nothing.
  const lately = await search(kafka, 'm-9', { period: { from: Date.now() - hourMs, until: Date.now() } });
  assert.deepEqual(
    lately.gaps.map(({ topic }) => topic),
    [names.eventsRejected],
  );

  const ended = await search(kafka, 'm-9', { signal: AbortSignal.abort() });
  assert.equal(ended.outcome, 'not-searched');
  assert.equal(ended.gaps.length, 10);
});

test('a rejected event says why, and a dead letter after its attempts too', async () => {
  await using stage = await openCluster();
  const { kafka, publisher } = stage;
  const error = { 'error-code': 'invalid-call', 'error-message': 'event is missing' };
  await publisher.publish({ topic: names.eventsRejected, key: null, value: call('m-3'), headers: error });
  const rejected = await search(kafka, 'm-3', { user: 'ada' });
  assert.equal(rejected.outcome, 'rejected');
  assert.match(rejected.lines[0] ?? '', /^Rejected at .* as invalid-call: event is missing/);
  const dead = { ...delivery, attempt: 2, step: 2, reason: 'client-error' };
  await publisher.publish(encodeDelivery(names.deliveriesDead, dead));
  const { outcome, deliveries } = await search(kafka, 'm-1');
  assert.deepEqual([outcome, deliveries[0]?.status], ['found', 'dead']);
});

test('a call without a messageId is found under the id that the router gives it, and one in another format by its bytes', async () => {
  await using stage = await openCluster();
  const { cluster, kafka, publisher } = stage;
  await publisher.publish({
    topic: names.events,
    key: 'ada',
    value: '{"type":"page","userId":"ada"}',
    headers,
  });
  const [record] = cluster.records(names.events);
  assert.ok(record);
  const { recordMessageId } = await import('@tailrace/events');
  assert.equal((await search(kafka, recordMessageId(record))).outcome, 'accepted');
  const framed = Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.from('\u0006m-7\u0002')]);
  await publisher.publish({ topic: names.events, key: 'ada', value: framed, headers });
  const { lines } = await search(kafka, 'm-7');
  assert.match(lines[0] ?? '', /Its format cannot be read here; its bytes contain the id\.$/);
});
