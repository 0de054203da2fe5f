import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { exactNumber, fitsDouble, isRawNumber, roundedNumber, wholeDigits } from './number.ts';
import { parseJson } from './read-json.ts';

test('a double holds what it writes, in any notation, and its own digits', () => {
  for (const text of [
    '25.0',
    '1e2',
    '1.50',
    '-0',
    '-0.0',
    '0e7',
    '0.1',
    '0.1000',
    '1E-1',
    '1e+23',
    '5e-324',
  ]) {
    assert.ok(fitsDouble(text), text);
  }
  // The digits of the doubles nearest to 0.1 and 1e23.
  const tenth = '0.1000000000000000055511151231257827021181583404541015625';
  for (const text of [tenth, '99999999999999991611392', `1${'0'.repeat(300)}.0`])
    assert.ok(fitsDouble(text), text);
  for (const text of [
    '9007199254740993',
    '9007199254740993.0',
    '1e400',
    '1e-400',
    '0.12345678901234567890',
    `${tenth}1`,
  ]) {
    assert.ok(!fitsDouble(text), text);
  }
});

test('a number of 32 KB is compared quickly', () => {
  for (const text of [
    `1.${'0'.repeat(32_000)}1`,
    `${'0.0'.padEnd(32_000, '0')}1`,
    `1${'0'.repeat(32_000)}1`,
  ]) {
    const before = process.cpuUsage();
    for (let nth = 0; nth < 50; nth += 1) fitsDouble(text);
    assert.ok(process.cpuUsage(before).user < 1_000_000);
  }
});

test('a whole number of 64 bits keeps its digits', () => {
  assert.equal(exactNumber(2n ** 53n - 1n), Number.MAX_SAFE_INTEGER);
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }), (value) => {
      assert.equal(JSON.stringify(exactNumber(value)), String(value));
    }),
  );
  assert.ok(isRawNumber(exactNumber(2n ** 53n)));
});

test('a whole number in the place of an id becomes its digits', () => {
  for (const [text, digits] of [
    ['42', '42'],
    ['-7', '-7'],
    ['-0', '0'],
    ['1234567890123456789', '1234567890123456789'],
    ['9007199254740992', '9007199254740992'],
    ['7'.repeat(300), '7'.repeat(300)],
    ['1.0', '1'],
    ['-0.0', '0'],
    ['1e3', '1000'],
    ['12.5e1', '125'],
    ['1e20', '100000000000000000000'],
  ] as const) {
    assert.equal(wholeDigits(parseJson(text)), digits, text);
  }
});

test('a number that is not whole, or would be rounded without its exponent, is not an id', () => {
  for (const text of ['1.5', '1e-400', '1e400', '1e300', '1.00000000000000000001', '9007199254740993.0']) {
    assert.equal(wholeDigits(parseJson(text)), undefined, text);
  }
  for (const value of ['42', true, null, undefined, {}, [], NaN, Infinity]) {
    assert.equal(wholeDigits(value), undefined);
  }
});

test('roundedNumber returns the nearest number', () => {
  assert.deepEqual(
    ['25', '25.0', '1e400', '"1"'].map((text) => roundedNumber(parseJson(text))),
    [25, 25, Infinity, undefined],
  );
});

test('an id that is a number with thousands of zeros is refused quickly', () => {
  const before = process.cpuUsage();
  for (let nth = 0; nth < 50; nth += 1) {
    assert.equal(wholeDigits(parseJson(`1.${'0'.repeat(32_000)}1`)), undefined);
  }
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});
