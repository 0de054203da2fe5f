import assert from 'node:assert/strict';
import test from 'node:test';
import { matches, type DeadLetterFilter } from './filter.ts';
import type { DeadLetterSummary } from './dead-letter.ts';

const letter: DeadLetterSummary = {
  partition: 1,
  offset: 7,
  diedAt: 1_000,
  reason: 'client-error',
  replayed: false,
  deliveryId: 'delivery-1',
  eventId: 'event-1',
  sourceId: 'web',
  destinationId: 'crm',
  type: 'track',
  event: 'Signed Up',
  userKey: 'ada',
  attempts: 1,
};

test('an empty filter matches every dead letter, also one without headers', () => {
  assert.ok(matches({}, letter));
  assert.ok(matches({}, { ...letter, destinationId: undefined, reason: undefined, type: undefined }));
});

test('a dead letter matches if every field of the filter matches', () => {
  const matching: DeadLetterFilter = {
    destinationId: 'crm',
    reason: 'client-error',
    type: 'track',
    event: 'Signed Up',
    userKey: 'ada',
    since: 1_000,
    until: 1_001,
  };
  assert.ok(matches(matching, letter));
  const others: DeadLetterFilter = {
    destinationId: 'erp',
    reason: 'redirect',
    type: 'page',
    event: 'Signed Out',
    userKey: 'grace',
    since: 1_001,
    until: 1_000,
  };
  for (const [field, value] of Object.entries(others)) {
    assert.ok(!matches({ [field]: value as unknown }, letter), field);
    assert.ok(!matches({ ...matching, [field]: value as unknown }, letter), field);
  }
});

test('a dead letter without a header does not match a filter for it', () => {
  assert.ok(!matches({ destinationId: 'crm' }, { ...letter, destinationId: undefined }));
});
