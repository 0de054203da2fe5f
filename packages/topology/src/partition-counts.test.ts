import assert from 'node:assert/strict';
import test from 'node:test';
import { topicNames } from './catalogue.ts';
import { unequalPartitions } from './partition-counts.ts';

const names = topicNames('tailrace.');
const tier = names.retryTier(10_000);

test('equal counts within a group are accepted, independent of other topics', () => {
  const counts = new Map([
    [names.events, 12],
    [names.deliveries, 6],
    [tier, 6],
    [names.deliveriesDead, 6],
    [names.deliveriesReplay, 6],
    [names.config, 1],
  ]);
  assert.equal(unequalPartitions(names, counts), undefined);
  assert.equal(unequalPartitions(names, new Map()), undefined);
});

test('events and events.waiting must have equal counts', () => {
  const counts = new Map([
    [names.events, 8],
    [names.eventsWaiting, 6],
    [names.deliveries, 6],
  ]);
  assert.equal(unequalPartitions(names, counts), undefined);
  assert.match(
    unequalPartitions(names, counts, 'events')?.message ?? '',
    /tailrace\.events \(8 partitions\); tailrace\.events\.waiting \(6 partitions\).*--partitions 8 --only events/,
  );
});

test('unequal counts are reported with the command that makes them equal', () => {
  const counts = new Map([
    [names.events, 12],
    [names.deliveries, 8],
    [tier, 6],
    [names.deliveriesReplay, 8],
    [names.deliveriesDead, 6],
  ]);
  const unequal = unequalPartitions(names, counts);
  assert.equal(unequal?.missing, 4);
  assert.equal(
    unequal.message,
    'These topics must have equally many partitions, but do not: tailrace.deliveries, tailrace.deliveries.replay ' +
      '(8 partitions); tailrace.deliveries.retry.10s, tailrace.deliveries.dead (6 partitions). ' +
      'Make them equal with `npx tailrace topics apply --partitions 8 --only deliveries`.',
  );
});
