import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Delivery } from '@tailrace/records';
import { topicNames } from '@tailrace/topology';
import fc from 'fast-check';
import { HeaderTimes, plausibleTimes } from './header-times.ts';

const now = 1_800_000_000_000;
const windowMs = 14_400_000;
const tierMs = 60_000;
const bounds = { now, tierMs, windowMs };

const delivery: Delivery = {
  deliveryId: 'd',
  eventId: 'e',
  sourceId: 's',
  destinationId: 'crm',
  type: 'track',
  key: 'crm/ada',
  attempt: 1,
  step: 1,
  deferrals: 0,
  closedUrls: [],
  body: Buffer.alloc(0),
};

describe('times of a header', () => {
  test('are unchanged where they are possible', () => {
    const placed = { ...delivery, dueAt: now + tierMs, firstAttemptAt: now, placeAt: now + windowMs };
    assert.equal(plausibleTimes(placed, now, bounds), placed);
    const late = { ...delivery, dueAt: now - 1_000_000, firstAttemptAt: now - 10 * windowMs, placeAt: 0 };
    assert.equal(plausibleTimes(late, now, bounds), late);
    assert.equal(plausibleTimes(delivery, now, { ...bounds, tierMs: undefined }), delivery);
  });

  test('are within bounds for any clock', () => {
    const time = fc.option(fc.date({ noInvalidDate: true }).map(Number), { nil: undefined });
    const tier = fc.constantFrom(tierMs, undefined);
    fc.assert(
      fc.property(time, time, time, time, tier, (dueAt, firstAttemptAt, placeAt, writtenAt = 0, tierMs) => {
        const given = { ...delivery, dueAt, firstAttemptAt, placeAt };
        const times = plausibleTimes(given, writtenAt, { ...bounds, tierMs });
        if (tierMs === undefined) assert.equal(times.dueAt, undefined);
        else assert.ok((times.dueAt ?? Infinity) <= now + tierMs);
        if (firstAttemptAt !== undefined) assert.ok((times.firstAttemptAt ?? Infinity) <= now);
        if (firstAttemptAt !== undefined && firstAttemptAt > now) {
          assert.ok((times.firstAttemptAt ?? 0) >= now - windowMs);
        }
        if (placeAt !== undefined) assert.ok((times.placeAt ?? Infinity) <= now + windowMs);
      }),
    );
  });

  test('of a first attempt in the future are as long ago as when the record was written', () => {
    const fast = { ...delivery, firstAttemptAt: now + 3_600_000 };
    const firstAttemptAt = (writtenAt: number) => plausibleTimes(fast, writtenAt, bounds).firstAttemptAt;
    assert.equal(firstAttemptAt(now + 3_600_000 + 600_000), now - 600_000);
    assert.equal(firstAttemptAt(now), now);
  });
});

describe('a due time that is too late', () => {
  function open() {
    const clock = { now };
    const position = { end: 1_000 };
    let asked = 0;
    const times = new HeaderTimes({
      names: topicNames(''),
      windowMs,
      group: {
        partition: () => {
          asked += 1;
          return position;
        },
      },
      now: () => clock.now,
    });
    const late = { ...delivery, dueAt: now * 2 };
    const dueAt = (offset: number, topic = 'deliveries.retry.1m'): number | undefined =>
      times.correct(late, { topic, partition: 0, offset, timestamp: now }).dueAt;
    return { clock, position, dueAt, times, late, asked: () => asked };
  }

  test('counts from when the record is known to exist, for all records that existed then', () => {
    const { clock, position, dueAt, asked } = open();
    assert.equal(dueAt(10), now + tierMs);
    clock.now += 40_000;
    assert.equal(dueAt(500), now + tierMs);
    assert.equal(dueAt(999), now + tierMs);
    assert.equal(asked(), 1);
    position.end = 2_000;
    assert.equal(dueAt(1_000), now + 40_000 + tierMs);
    assert.equal(dueAt(10, 'deliveries.retry.1h'), now + 40_000 + 3_600_000);
  });

  test('counts from now where the clock was set back', () => {
    const { clock, dueAt } = open();
    assert.equal(dueAt(10), now + tierMs);
    clock.now -= 3_600_000;
    assert.equal(dueAt(11), now - 3_600_000 + tierMs);
  });

  test('does not count for when a delivery is expected; the delay does', () => {
    const { times, late } = open();
    const record = { topic: 'deliveries.retry.1m', timestamp: now };
    assert.equal(times.until(late, record), now + tierMs);
    assert.equal(times.until({ ...late, placeAt: now + 120_000 }, record), now + 120_000);
  });
});
