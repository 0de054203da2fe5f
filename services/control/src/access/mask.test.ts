import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '@tailrace/events';
import { maskValues, showBody } from './mask.ts';

test('nothing but the form of a body is left, at any depth', () => {
  const body = {
    version: 1,
    type: 'track',
    userId: 'u-1',
    count: 5,
    on: true,
    off: null,
    properties: { type: 'secret', list: ['a', { b: 'c' }], nested: { deep: 1.5 } },
  };
  assert.deepEqual(maskValues(body), {
    version: 1,
    type: 'track',
    userId: '***',
    count: '***',
    on: '***',
    off: null,
    properties: { type: '***', list: ['***', { b: '***' }], nested: { deep: '***' } },
  });
  assert.equal(maskValues('text'), '***');
});

test('a number that keeps its text is a value like others', () => {
  const body = parseJson('{"version":1,"properties":{"id":1234567890123456789,"list":[1e400]}}');
  assert.equal(JSON.stringify(maskValues(body)), '{"version":1,"properties":{"id":"***","list":["***"]}}');
  assert.equal(maskValues(parseJson('1e400')), '***');
});

test('a key that means something to JavaScript is a key like others', () => {
  const body: unknown = JSON.parse('{"__proto__":{"a":1}}');
  assert.equal(JSON.stringify(maskValues(body)), '{"__proto__":{"a":"***"}}');
});

test('a body is shown with the digits that its numbers have', () => {
  const body =
    '{"version":1,"type":"track","properties":{"id":1234567890123456789,"price":25.5,"far":1e400}}';
  assert.equal(JSON.stringify(showBody(Buffer.from(body), 'admin').body), body);
  assert.doesNotMatch(JSON.stringify(showBody(Buffer.from(body), 'read')), /1234567890123456789|25|1e400/);
});
