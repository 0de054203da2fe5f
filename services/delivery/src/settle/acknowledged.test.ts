import assert from 'node:assert/strict';
import test from 'node:test';
import type { OutgoingRecord, TrackedRecord } from '@tailrace/kafka';
import type { Delivery } from '@tailrace/records';
import { topicNames } from '@tailrace/topology';
import type { Event, Received } from '../delivery.ts';
import { transition } from '../transition.ts';
import { FollowUps } from './follow-ups.ts';

const names = topicNames('');
const delivery: Delivery = {
  deliveryId: 'd-1',
  eventId: 'e-1',
  sourceId: 'web',
  destinationId: 'crm',
  type: 'track',
  attempt: 1,
  step: 1,
  deferrals: 0,
  closedUrls: [],
  key: 'crm/u-1',
  body: Buffer.from('{}'),
};

const tiersMs = [10_000, 60_000];
const policy = { scheduleMs: tiersMs, windowMs: 3_600_000, tiersMs, pauseMs: 86_400_000 };

function open() {
  const published: { readonly record: OutgoingRecord; readonly acknowledge: () => void }[] = [];
  const happened: string[] = [];
  const followUps = new FollowUps({
    names,
    publisher: {
      publish: (record) =>
        new Promise((resolve) => {
          published.push({ record, acknowledge: resolve });
        }),
    },
    tiersMs,
    ownership: { since: () => -Infinity },
    now: () => 1_000_000,
    log: { error: () => undefined },
  });
  const work: Received['work'] = {
    topic: names.deliveries,
    partition: 7,
    offset: 5,
    timestamp: 0,
    revoked: false,
    done: () => happened.push('done'),
  };
  const onWritten = (): void => {
    happened.push('written');
  };
  return { followUps, published, happened, job: { work, delivery }, onWritten };
}

const retry = {
  kind: 'retry',
  delivery,
  reason: 'timeout',
  tierMs: 10_000,
  earliestDueAt: 1_008_000,
  latestDueAt: 1_010_000,
} as const;
const record = { key: null, value: null, headers: {}, headerList: [] };

function after(event: Event) {
  return ({ followUps, job, onWritten }: ReturnType<typeof open>): void => {
    const effect = transition(job.delivery, event, policy, 1_000_000);
    if (effect.kind === 'delivered') assert.fail();
    followUps.write(job.work, effect, onWritten);
  };
}

const ways: Readonly<Record<string, (opened: ReturnType<typeof open>) => unknown>> = {
  'a retry': ({ followUps, job, onWritten }) => followUps.write(job.work, retry, onWritten),
  'a deferral': after({ kind: 'full', waitMs: 5_000, isBackoff: false, heldBy: 'lane' }),
  'a delivery behind an earlier one': after({ kind: 'behind', until: 1_005_000, firstAttemptAt: undefined }),
  'a dead letter': after({ kind: 'over', reason: 'client-error' }),
  'a dead letter of a malformed record': ({ followUps, job: { work }, onWritten }) => {
    const tracked: TrackedRecord = { ...work, ...record, work };
    followUps.writeMalformed(tracked, 'malformed-record', 'no header', onWritten);
  },
};

for (const [what, write] of Object.entries(ways)) {
  test(`${what} is written to the same partition, and neither done nor counted before Kafka acknowledges it`, async () => {
    const opened = open();
    write(opened);
    const [first, ...more] = opened.published;
    assert.ok(first && more.length === 0);
    assert.equal(first.record.partition, 7);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(opened.happened, []);
    first.acknowledge();
    await opened.followUps.written();
    assert.deepEqual(opened.happened, ['done', 'written']);
  });
}
