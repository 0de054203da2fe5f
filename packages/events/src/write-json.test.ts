import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from './read-json.ts';
import { writeJson } from './write-json.ts';

describe('JSON that is written', () => {
  test('equals that of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.equal(writeJson(value), JSON.stringify(value));
      }),
    );
  });

  test('is correct where the value is nested too deeply for JSON.stringify', () => {
    const levels = 20_000;
    const inner = fc.jsonValue().map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(inner, (last) => {
        const json = `${'{"a":[1e400,null,{},'.repeat(levels)}[]${`],"__proto__":${last}}`.repeat(levels)}`;
        assert.throws(() => JSON.stringify(parseJson(json)), RangeError);
        // assert.equal would print both texts.
        assert.ok(writeJson(parseJson(json)) === json, last);
      }),
      { numRuns: 2 },
    );
  });
});
