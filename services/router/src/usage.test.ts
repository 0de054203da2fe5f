import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCall, type TailraceEvent } from '@tailrace/events';
import type { OutgoingRecord } from '@tailrace/kafka';
import type { UsageRecord } from '@tailrace/records';
import { startUsage } from './usage.ts';

const noon = Date.UTC(2026, 10, 21, 12);

/** A counter whose clock and publisher the test controls. */
function startCounter() {
  const published: { readonly record: UsageRecord; readonly acknowledge: () => void }[] = [];
  const clock = { now: noon };
  const usage = startUsage({
    topic: 'usage',
    publish: ({ key, value }: OutgoingRecord) => {
      const record = JSON.parse(String(value)) as UsageRecord;
      assert.equal(key, record.sourceId);
      return new Promise((resolve) => published.push({ record, acknowledge: resolve }));
    },
    log: { warn: () => undefined },
    now: () => clock.now,
    intervalMs: 2 ** 30,
  });
  return { usage, clock, published, records: () => published.map(({ record }) => record) };
}

function event(type: string, more: object = {}): TailraceEvent {
  const reading = readCall(
    { type, userId: 'u', groupId: 'g', ...more },
    { receivedAt: noon, enriched: true, fallbackMessageId: () => 'm' },
  );
  assert.ok(reading.ok);
  return reading.event;
}

const track = (name: string): TailraceEvent => event('track', { event: name });

test('calls are counted by source and type, and track calls by the name of their event, filtered ones included', () => {
  const { usage, clock, records } = startCounter();
  usage.count('web', track('Signed Up'), false);
  usage.count('web', event('page'), false);
  clock.now += 5;
  usage.count('web', track('Signed Up'), true);
  usage.count('ios', event('page'), false);
  usage.stop();
  assert.deepEqual(records(), [
    {
      sourceId: 'web',
      day: '2026-11-21',
      calls: { track: 2, page: 1 },
      filtered: 1,
      events: [
        {
          event: 'Signed Up',
          calls: 2,
          filtered: 1,
          firstAt: '2026-11-21T12:00:00.000Z',
          lastAt: '2026-11-21T12:00:00.005Z',
        },
      ],
    },
    { sourceId: 'ios', day: '2026-11-21', calls: { page: 1 }, filtered: 0, events: [] },
  ]);
});

test('a delete event is not counted', () => {
  const { usage, records } = startCounter();
  usage.count('web', event('delete'), false);
  usage.stop();
  assert.deepEqual(records(), []);
});

test('an event that is routed after midnight counts for the next day', () => {
  const { usage, clock, records } = startCounter();
  usage.count('web', track('Late'), false);
  clock.now = noon + 12 * 3_600_000;
  usage.count('web', track('Late'), false);
  usage.stop();
  assert.deepEqual(
    records().map(({ day, calls }) => [day, calls]),
    [
      ['2026-11-21', { track: 1 }],
      ['2026-11-22', { track: 1 }],
    ],
  );
});

test('the number of event names is bounded while no publish is acknowledged, and every call is counted', async () => {
  const { usage, published, records } = startCounter();
  const calls = 40_000;
  for (let n = 0; n < calls; n++) usage.count('web', track(`Event ${n}`), false);
  usage.stop();
  const names = records().flatMap(({ events }) => events.map(({ event: name }) => name));
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.length <= 5_000 + 10_000, `${names.length} names are kept`);
  assert.equal(
    records().reduce((sum, { calls: { track: count = 0 } }) => sum + count, 0),
    calls,
  );
  for (const { acknowledge } of published) acknowledge();
  await Promise.resolve();
});

test('long names, and names beyond the five hundredth of a source and day, are counted together', () => {
  const { usage, clock, records } = startCounter();
  for (let n = 0; n < 600; n++) usage.count('web', track(`Event ${n}`), n === 0);
  for (let n = 0; n < 3; n++) usage.count('web', track(`${n}${'x'.repeat(30_000)}`), true);
  usage.count('ios', track('Event 1'), false);
  clock.now += 86_400_000;
  usage.count('web', track('Event 599'), false);
  usage.stop();
  const found = records().map(({ sourceId, events, otherEvents }) => [
    sourceId,
    events.length,
    events.at(-1)?.event,
    otherEvents?.calls,
    otherEvents?.filtered,
  ]);
  assert.deepEqual(found, [
    ['web', 500, 'Event 499', 103, 3],
    ['web', 1, 'Event 599', undefined, undefined],
    ['ios', 1, 'Event 1', undefined, undefined],
  ]);
});

test('event names of the maximum length make records that fit into the topic', () => {
  const { usage, published } = startCounter();
  for (let n = 0; n < 40; n++) usage.count('web', track(`${n}${'\u0001'.repeat(30_000)}`), false);
  usage.stop();
  const bytes = published.map(({ record }) => Buffer.byteLength(JSON.stringify(record)));
  assert.ok(Math.max(...bytes) < 1024 * 1024, `${Math.max(...bytes)} bytes`);
});
