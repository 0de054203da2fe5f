import assert from 'node:assert/strict';
import test from 'node:test';
import { createCalls, numberOf } from './calls.ts';

test('every call is a valid track call of 1,024 bytes with a unique message id', () => {
  const call = createCalls();
  const numbers = [0, 1, 999, 12_345_678];
  const parsed = numbers.map((number) => {
    const body = call(number);
    assert.equal(Buffer.byteLength(body), 1_024);
    return JSON.parse(body) as Record<string, unknown>;
  });
  assert.ok(parsed.every(({ type, event }) => type === 'track' && event === 'Order Completed'));
  assert.equal(new Set(parsed.map(({ messageId }) => messageId)).size, numbers.length);
});

test('the number of a call is found in a body made from its properties', () => {
  const call = createCalls();
  for (const number of [0, 7, 12_345_678]) {
    const { properties, userId } = JSON.parse(call(number)) as Record<string, unknown>;
    assert.equal(numberOf(Buffer.from(JSON.stringify({ version: 1, userId, properties }))), number);
  }
});

test('a body without a number has none', () => {
  assert.ok(Number.isNaN(numberOf(Buffer.from('{"version":1}'))));
  assert.ok(Number.isNaN(numberOf(Buffer.from('{"sequence":"seven"}'))));
});
