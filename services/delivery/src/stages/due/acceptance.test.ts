import assert from 'node:assert/strict';
import test from 'node:test';
import type { Delivery } from '@tailrace/records';
import { withAcceptance } from './header-times.ts';

const now = 1_800_000_000_000;
const hourMs = 3_600_000;

const delivery: Delivery = {
  deliveryId: 'd',
  eventId: 'e',
  sourceId: 's',
  destinationId: 'crm',
  type: 'track',
  key: 'crm/ada',
  attempt: 0,
  step: 0,
  deferrals: 0,
  closedUrls: [],
  body: Buffer.alloc(0),
};

function acceptedAt(more: Partial<Delivery>, writtenAt: number): number | undefined {
  return withAcceptance({ ...delivery, ...more }, writtenAt, now).acceptedAt;
}

test('the header is accepted, and the delivery is not copied', () => {
  const accepted = { ...delivery, acceptedAt: now - 5 * hourMs };
  assert.equal(withAcceptance(accepted, now - 1, now), accepted);
});

test('without a header the age counts from the record, or from an earlier first attempt', () => {
  assert.equal(acceptedAt({}, now - 7), now - 7);
  assert.equal(acceptedAt({ firstAttemptAt: now - hourMs }, now - 7), now - hourMs);
  assert.equal(acceptedAt({ firstAttemptAt: 0 }, now - 7), now - 7, 'which is not absurd');
});

test('no wrong clock makes an age negative or longer than records are kept', () => {
  assert.equal(acceptedAt({ acceptedAt: now + hourMs }, now - 7), now - 7);
  assert.equal(acceptedAt({ acceptedAt: now + hourMs }, now + hourMs), now);
  assert.equal(acceptedAt({ acceptedAt: 0 }, now - 7), now - 7);
  assert.equal(acceptedAt({}, -1), now);
});
