import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callOfBody, callTypes, exampleOf, withTypedCall } from './call.ts';

test('there is an example of each type', () => {
  for (const type of callTypes) {
    assert.equal((JSON.parse(exampleOf(type)) as { readonly type: string }).type, type);
  }
});

test('the call of a body keeps the digits of its numbers', () => {
  const track = '{"version":1,"type":"track","userId":"ada","properties":{"total":12345678901234567890}}';
  assert.equal(
    callOfBody(track).replaceAll(/\s/g, ''),
    '{"type":"track","userId":"ada","properties":{"total":12345678901234567890}}',
  );
});

test('the call of an alias has its ids under the keys of a call, whatever they are', () => {
  const previous = JSON.stringify('","User ID":"\\');
  const body = `{"version":1,"type":"alias","Previous ID":${previous},"User ID":"ada","timestamp":"t"}`;
  assert.deepEqual(JSON.parse(callOfBody(body)), {
    type: 'alias',
    previousId: '","User ID":"\\',
    userId: 'ada',
    timestamp: 't',
  });
});

test('a request has the call as it was typed', () => {
  const call = '{"total": 12345678901234567890}';
  const write = withTypedCall(call);
  assert.equal(write({ call: {} }), `{"call":${call}}`);
  assert.equal(write({ webhook: 1, call: {} }), `{"webhook":1,"call":${call}}`);
});
