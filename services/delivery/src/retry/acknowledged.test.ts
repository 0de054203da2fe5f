import assert from 'node:assert/strict';
import test from 'node:test';
import type { OutgoingRecord, TrackedRecord } from '@tailrace/kafka';
import { topicNames, type Delivery } from '@tailrace/topics';
import type { Outcome } from '../outcome.ts';
import type { Received } from '../job.ts';
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
    tiersMs: [10_000, 60_000],
    pauseMs: 86_400_000,
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

const retry: Outcome & { readonly kind: 'retry' } = {
  kind: 'retry',
  reason: 'timeout',
  tierMs: 10_000,
  earliestDueAt: 1_008_000,
  latestDueAt: 1_010_000,
};
const record = { key: null, value: null, headers: {}, headerList: [] };

const ways: Readonly<Record<string, (opened: ReturnType<typeof open>) => unknown>> = {
  'a retry': ({ followUps, job, onWritten }) => followUps.retry(job, retry, onWritten),
  'a deferral': ({ followUps, job, onWritten }) =>
    followUps.defer(job, { waitMs: 5_000, isBackoff: false, heldBy: 'lane' }, onWritten),
  'a delivery behind an earlier one': ({ followUps, job, onWritten }) => {
    followUps.waitBehind(job, 1_005_000, onWritten);
  },
  'a dead letter': ({ followUps, job, onWritten }) => {
    followUps.writeDeadLetter(job, 'client-error', onWritten);
  },
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
