import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readBack, type OutgoingRecord, type TrackedRecord, type Work } from '@tailrace/kafka';
import { TailraceError } from '@tailrace/errors';
import type { Delivery } from '@tailrace/records';
import { topicNames } from '@tailrace/topology';
import { transition } from '../transition.ts';
import { FollowUps, type FollowUp } from './follow-ups.ts';

const names = topicNames('');
const start = 1_800_000_000_000;

function openFollowUps({ ownedSince = -Infinity, tiersMs = [10_000], takesContent = true } = {}) {
  const published: OutgoingRecord[] = [];
  const followUps = new FollowUps({
    names,
    publisher: {
      publish: (record) => {
        published.push(record);
        return takesContent || record.value === null
          ? Promise.resolve()
          : Promise.reject(new TailraceError('record-too-large'));
      },
    },
    tiersMs,
    ownership: { since: () => ownedSince },
    now: () => start,
    log: { error: () => undefined },
  });
  return { followUps, published };
}

function workOf(partition: number): Work {
  return {
    topic: names.deliveries,
    partition,
    offset: 0,
    timestamp: start,
    revoked: false,
    done: () => undefined,
  };
}

test('a record that is too large for the dead-letter topic is replaced by its place, and finished', async () => {
  const { followUps, published } = openFollowUps({ takesContent: false });
  let isDone = false;
  const work = { ...workOf(3), offset: 42, done: () => (isDone = true) };
  const record = { ...work, work, key: null, value: Buffer.alloc(1), ...readBack() };
  followUps.writeMalformed(record, 'malformed-record', 'no headers');
  await followUps.written();
  await followUps.written();
  assert.ok(isDone);
  const { headers } = readBack(published[1]?.headers);
  assert.deepEqual(
    ['origin-topic', 'origin-partition', 'origin-offset'].map((name) => headers[name]?.toString()),
    [names.deliveries, '3', '42'],
  );
});

describe('a malformed record becomes a dead letter', () => {
  test('with its received headers, followed by the reason', () => {
    const { followUps, published } = openFollowUps();
    const received = [
      ['x', 'one'],
      ['__proto__', 'polluted'],
      ['x', null],
      ['reason', 'of its own'],
      ['x', ''],
    ] as const;
    const work = workOf(3);
    const record: TrackedRecord = {
      ...work,
      work,
      key: Buffer.from('k'),
      value: null,
      ...readBack(received),
    };
    followUps.writeMalformed(record, 'malformed-record', 'the value is null');
    const [letter] = published;
    assert.ok(letter);
    assert.deepEqual([letter.topic, letter.partition], [names.deliveriesDead, 3]);
    const { headerList, headers } = readBack(letter.headers);
    assert.deepEqual(
      headerList.map(([name, value]) => [name, value?.toString() ?? null]),
      [...received, ['reason', 'malformed-record'], ['last-answer', 'the value is null']],
    );
    assert.equal(headers['reason']?.toString(), 'malformed-record');
  });
});

describe('under a new owner', () => {
  const [tenSeconds, hour] = [10_000, 3_600_000];
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
    body: Buffer.from('{}'),
  };
  const work = workOf(0);
  const tiersMs = [tenSeconds, hour];
  const full = { kind: 'full', waitMs: 20 * 60_000, isBackoff: false, heldBy: 'lane' } as const;
  const policy = { scheduleMs: tiersMs, windowMs: hour, tiersMs, pauseMs: 24 * hour };
  const deferral = transition(delivery, full, policy, start) as FollowUp;

  test('a retry is due no earlier than the last record that the earlier owner may have written', () => {
    const { followUps } = openFollowUps({ ownedSince: start - 60_000, tiersMs: [hour] });
    const range = { tierMs: hour, earliestDueAt: start + 0.8 * hour, latestDueAt: start + hour };
    const retry = { kind: 'retry', delivery, reason: 'server-error', ...range } as const;
    for (let count = 0; count < 10; count += 1) {
      const dueAt = followUps.write(work, retry) ?? assert.fail();
      assert.ok(dueAt >= start - 60_000 + hour && dueAt <= start + hour);
    }
  });

  test('a deferral for less than the delay of a retry topic uses a shorter one first', () => {
    const { followUps, published } = openFollowUps({ ownedSince: start, tiersMs: [tenSeconds, hour] });
    // In the retry topic of an hour it would wait behind records that are due in an hour, 40 minutes too long.
    followUps.write(work, deferral);
    assert.equal(published[0]?.topic, names.retryTier(tenSeconds));
    assert.equal(
      readBack(published[0].headers).headers['due-at']?.toString(),
      new Date(start + tenSeconds).toISOString(),
    );
  });

  test('due times have no such bound when the delay is over', () => {
    const { followUps, published } = openFollowUps({
      ownedSince: start - hour,
      tiersMs: [tenSeconds, hour],
    });
    followUps.write(work, deferral);
    assert.equal(published[0]?.topic, names.retryTier(hour));
  });
});
