/** What is known of a replay of events at once: how many there are at most, and how old the oldest is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oldestAt } from './oldest.ts';
import { daysOf, Estimator } from './estimate.ts';
import { rateOf } from './replay-events.ts';
import { overlap, type EventSelection } from './selection.ts';

const hourMs = 3_600_000;
const day = Date.UTC(2026, 4, 1);
const selection: EventSelection = {
  destinationId: 'crm',
  from: day,
  until: day + 24 * hourMs,
  mode: 'missing',
};
const usage = [
  { day: '2026-05-01', type: 'track', event: 'Order Completed', calls: 240 },
  { day: '2026-05-01', type: 'track', event: 'Order Completed', calls: 24 },
  { day: '2026-05-01', type: 'track', calls: 48 },
  { day: '2026-05-01', type: 'page', calls: 72 },
];

function estimateOf(counted: typeof usage, of: EventSelection, now: number) {
  const estimator = new Estimator(of, now);
  estimator.add(counted);
  return estimator.estimate;
}

test('the calls of a day are estimated by type and event, and those of a part of it by its share', () => {
  const now = day + 48 * hourMs;
  const whole = estimateOf(usage, selection, now);
  assert.deepEqual(
    [whole.events, whole.rows.map(({ type, event, events }) => [type, event, events])],
    [
      384,
      [
        ['track', 'Order Completed', 264],
        ['page', undefined, 72],
        ['track', undefined, 48],
      ],
    ],
  );
  assert.equal(estimateOf(usage, { ...selection, until: day + 6 * hourMs }, now).events, 96);
  assert.equal(estimateOf(usage, { ...selection, types: ['page'] }, now).events, 72);
  assert.equal(estimateOf(usage, { ...selection, events: ['Order*'] }, now).events, 264);
  // All calls of today were made until now.
  assert.equal(estimateOf(usage, { ...selection, until: day + 6 * hourMs }, day + 6 * hourMs).events, 384);
  assert.deepEqual(daysOf(selection), { since: '2026-05-01', until: '2026-05-01' });
});

test('the oldest event is found by time, and an empty topic has none', async () => {
  const times = [day, day + hourMs];
  const kafka = (low: number, high: number) => ({
    offsets: () => Promise.resolve(new Map([[0, { low, high }]])),
    offsetsAt: (_: string, time: number) => {
      const found = times.findIndex((at, offset) => offset >= low && at >= time);
      return Promise.resolve(new Map([[0, found < 0 ? high : found]]));
    },
  });
  const oldest = (low: number) => oldestAt(kafka(low, 2), 'events', day + 48 * hourMs);
  assert.ok(Math.abs(((await oldest(0)) ?? 0) - day) <= 1_000);
  assert.ok(Math.abs(((await oldest(1)) ?? 0) - day - hourMs) <= 1_000);
  assert.equal(await oldest(2), undefined);
});

test('a replay sends at its rate, and at most at half of the limit of the destination', () => {
  const ratePerSecond = 50;
  assert.equal(rateOf({ ratePerSecond }, {}), 50);
  assert.equal(rateOf({ ratePerSecond }, { rateLimit: 400 }), 50);
  assert.equal(rateOf({ ratePerSecond }, { rateLimit: 10 }), 5);
  assert.equal(rateOf({ ratePerSecond }, { rateLimit: 1 }), 1);
});

test('selections overlap that have a destination, a time, a source and a user in common', () => {
  assert.ok(overlap(selection, { ...selection, sources: ['web'], from: day + hourMs }));
  assert.ok(!overlap({ ...selection, sources: ['app'] }, { ...selection, sources: ['web'] }));
  assert.ok(!overlap({ ...selection, userKey: 'ada' }, { ...selection, userKey: 'grace' }));
  assert.ok(!overlap(selection, { ...selection, from: selection.until, until: selection.until + 1 }));
  assert.ok(!overlap(selection, { ...selection, destinationId: 'erp' }));
});
