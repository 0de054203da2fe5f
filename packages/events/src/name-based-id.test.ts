import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { deliveryId, recordMessageId } from './name-based-id.ts';

// Expected values: Python's uuid.uuid5 with the same namespace and name.
describe('deliveryId', () => {
  test('is the UUID of version 5 that Python computes', () => {
    assert.equal(
      deliveryId('web', 'node-next-1763710000000-a', 'hash', 'crm'),
      '88d7e381-e1a7-5bbc-98f1-92c7000ac0bc',
    );
    assert.equal(deliveryId('web', 'zoë 東京', 'hash', 'crm'), '363ce1ba-420d-53d0-ad26-62e6fc3e0992');
  });

  test('has the form of a UUID of version 5, for any names', () => {
    const form = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (source, message, destination) => {
        assert.match(deliveryId(source, message, 'hash', destination), form);
      }),
    );
  });

  test('3.6 differs where the source, the message, its content or the destination differs', () => {
    const ids = [
      deliveryId('web', 'm-1', 'hash', 'crm'),
      deliveryId('app', 'm-1', 'hash', 'crm'),
      deliveryId('web', 'm-2', 'hash', 'crm'),
      deliveryId('web', 'm-1', 'other', 'crm'),
      deliveryId('web', 'm-1', 'hash', 'erp'),
      deliveryId('crm', 'm-1', 'hash', 'web'),
    ];
    assert.equal(new Set(ids).size, ids.length);
  });
});

describe('recordMessageId', () => {
  const record = {
    topic: 'tailrace.events',
    partition: 3,
    offset: 9_007_199_254_740_991,
    timestamp: 1_763_710_173_479,
  };

  test('is the UUID of version 5 that Python computes', () => {
    assert.equal(recordMessageId(record), '19e2d7e4-8410-5b11-8164-5aab04d154d0');
  });

  test('3.1 differs where the position or the time of the record differs', () => {
    const ids = [
      recordMessageId(record),
      recordMessageId({ ...record, topic: 'other.events' }),
      recordMessageId({ ...record, partition: 4 }),
      recordMessageId({ ...record, offset: 9_007_199_254_740_990 }),
      recordMessageId({ ...record, timestamp: 1_763_710_173_480 }),
    ];
    assert.equal(new Set(ids).size, ids.length);
  });
});
