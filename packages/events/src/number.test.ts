import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { asJavaScript, exactNumber, isRawNumber, roundedNumber, wholeDigits } from './number.ts';
import { parseJson } from './read-json.ts';

const digitsOfTenth = '0.1000000000000000055511151231257827021181583404541015625';

test('a number in any notation is written as JavaScript does, if nothing is lost', () => {
  for (const [text, written] of [
    ['25.0', '25'],
    ['1e2', '100'],
    ['1.50', '1.5'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['0e7', '0'],
    ['1E-1', '0.1'],
    ['1e20', '100000000000000000000'],
    ['1e21', '1e+21'],
    ['1e-7', '1e-7'],
    ['5e-324', '5e-324'],
    [`1${'0'.repeat(300)}.0`, '1e+300'],
    [digitsOfTenth, '0.1'],
  ] as const) {
    assert.equal(asJavaScript(text), written);
  }
  for (const text of [
    '9007199254740993',
    '9007199254740993.0',
    '1e400',
    '1e-400',
    '4.9E-324',
    '0.12345678901234567890',
    `${digitsOfTenth}1`,
  ]) {
    assert.equal(asJavaScript(text), undefined, text);
  }
});

test('a whole number is an id: its digits are not changed, also where a double holds it', () => {
  // 2^53 + 2, 2^60, a snowflake id, the smallest int64, and the double nearest to 1e23.
  assert.equal(asJavaScript('9007199254740994'), '9007199254740994');
  for (const text of [
    '1152921504606846976',
    '1541815603606036480',
    '-9223372036854775808',
    '99999999999999991611392',
  ]) {
    assert.equal(BigInt(Number(text)), BigInt(text));
    assert.equal(asJavaScript(text), undefined, text);
  }
});

test('a number of 32 KB is compared quickly', () => {
  for (const text of [
    `1.${'0'.repeat(32_000)}1`,
    `${'0.0'.padEnd(32_000, '0')}1`,
    `1${'0'.repeat(32_000)}1`,
  ]) {
    const before = process.cpuUsage();
    for (let nth = 0; nth < 50; nth += 1) assert.equal(asJavaScript(text), undefined);
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

test('a number that is not whole, or that is written with an exponent, is not an id', () => {
  for (const text of [
    '1.5',
    '1e-400',
    '1e400',
    '1e21',
    '1e300',
    '1.00000000000000000001',
    '9007199254740993.0',
  ]) {
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
