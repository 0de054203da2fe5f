import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callTypes, exampleOf, withTypedCall } from './call.ts';

test('there is an example of each type', () => {
  for (const type of callTypes) {
    assert.equal((JSON.parse(exampleOf(type)) as { readonly type: string }).type, type);
  }
});

test('a request has the call as it was typed', () => {
  const call = '{"total": 12345678901234567890}';
  const write = withTypedCall(call);
  assert.equal(write({ call: {} }), `{"call":${call}}`);
  assert.equal(write({ webhook: 1, call: {} }), `{"webhook":1,"call":${call}}`);
});
