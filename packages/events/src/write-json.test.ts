import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from './read-json.ts';
import { writeJson } from './write-json.ts';

describe('what is written', () => {
  test('is what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.equal(writeJson(value), JSON.stringify(value));
      }),
    );
  });

  test('is the same where it is nested too deeply for that', () => {
    const levels = 20_000;
    const inner = fc.jsonValue().map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(inner, (last) => {
        const json = `${'{"a":[1.0,null,{},'.repeat(levels)}[]${`],"__proto__":${last}}`.repeat(levels)}`;
        assert.throws(() => JSON.stringify(parseJson(json)), RangeError);
        // Not by assert.equal, which would print both.
        assert.ok(writeJson(parseJson(json)) === json, last);
      }),
      { numRuns: 5 },
    );
  });
});
