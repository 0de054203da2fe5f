import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { callBytes, maxBatchBytes, maxCallBytes } from './limits.ts';

describe('limits', () => {
  test('2.1 2.2 a call has 32 KB and a batch 500 KB', () => {
    assert.equal(maxCallBytes, 32_768);
    assert.equal(maxBatchBytes, 512_000);
  });

  test('the size of a call is that of its compact JSON in UTF-8', () => {
    assert.equal(callBytes({ name: 'Zoë' }), Buffer.byteLength('{"name":"Zoë"}'));
    fc.assert(
      fc.property(fc.jsonValue(), (call) => callBytes(call) === Buffer.from(JSON.stringify(call)).length),
    );
  });

  test('a call is measured also where it is nested too deeply for JSON.stringify', () => {
    assert.equal(callBytes(JSON.parse('['.repeat(20_000) + ']'.repeat(20_000))), 40_000);
  });
});
