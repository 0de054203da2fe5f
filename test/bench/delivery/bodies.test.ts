import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { readBack } from '@tailrace/kafka';
import { encodeDelivery } from '@tailrace/records';
import { numberOf } from '../load/calls.ts';
import { faultsOf } from '../receivers/receiver.ts';
import { deliveryOf, numberOfId } from './bodies.ts';

test('a delivery carries its number in its body and in its id, and has 1,024 bytes', () => {
  for (const number of [0, 7, 12_345_678]) {
    const { body, deliveryId } = deliveryOf(number, 'd0');
    assert.equal(body.length, 1_024);
    assert.equal(numberOf(body), number);
    assert.equal(numberOfId(deliveryId), number);
  }
  assert.ok(Number.isNaN(numberOfId('somebody-elses')));
});

test('a body is what the receiver is to find right', () => {
  const { body } = deliveryOf(42, 'd0');
  const signature = createHmac('sha1', 's').update(body).digest('hex');
  assert.deepEqual(faultsOf([{ number: 42, body, signature }], 's'), []);
});

test('a delivery is keyed by its destination and a user, and may be laid out as a retry', () => {
  const { key, headers } = encodeDelivery('tier', deliveryOf(1_042, 'd3', { attempt: 1, step: 1, dueAt: 0 }));
  assert.equal(key, 'd3/user-42');
  assert.equal(String(readBack(headers).headers['attempt']), '1');
  assert.equal(String(readBack(headers).headers['due-at']), '1970-01-01T00:00:00.000Z');
});
