import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readCall } from './read-call.ts';
import { exactNumber, isUnkeptNumber, parseJson } from './read-json.ts';

/** What becomes of `number` as a property. */
function propertyOf(number: string): unknown {
  return (parseJson(`{"properties":{"id": ${number}}}`) as { properties: { id: unknown } }).properties.id;
}

describe('a number', () => {
  const kept = [
    '0',
    '-9007199254740991',
    '9007199254740992',
    '12345678901234567000',
    '1.2345678901234567e19',
    '1E300',
    '-1.50e+300',
    '0.30000000000000004',
    '0.1000000000000000055511151231257827',
    '1e-400',
  ];
  const lost = [
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890',
    '9007199254740993.0',
    '9.007199254740993e15',
    '900719925474099300e-2',
    '1e400',
    '-1e400',
  ];
  for (const number of kept) {
    test(`that JavaScript can hold is one: ${number}`, () => {
      assert.equal(propertyOf(number), Number(number));
    });
  }
  for (const number of lost) {
    test(`beyond 2^53 that would be changed is kept as its digits: ${number}`, () => {
      const property = propertyOf(number);
      assert.ok(isUnkeptNumber(property));
      assert.equal(JSON.stringify({ property }), `{"property":${number}}`);
    });
  }

  test('of any size keeps its value or its digits', () => {
    const integers = fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n });
    fc.assert(
      fc.property(integers, (integer) => {
        const property = propertyOf(String(integer));
        if (isUnkeptNumber(property)) assert.equal(JSON.stringify(property), String(integer));
        else assert.ok(BigInt(property as number) === integer || BigInt(String(property)) === integer);
      }),
    );
  });
});

test('a whole number of 64 bits is a number where JavaScript can hold it, else its digits', () => {
  assert.equal(exactNumber(2n ** 53n - 1n), Number.MAX_SAFE_INTEGER);
  const large = exactNumber(-(2n ** 63n));
  assert.ok(isUnkeptNumber(large));
  assert.equal(JSON.stringify(large), '-9223372036854775808');
});

test('what looks like a large number inside a text is left alone', () => {
  for (const value of ['x,9007199254740993', '[1e400', ':12345678901234567890']) {
    assert.deepEqual(parseJson(JSON.stringify({ value })), { value });
  }
});

test('JSON without such numbers is what JSON.parse says', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(parseJson(text), JSON.parse(text));
    }),
  );
});

test('a key called __proto__ beside a large number is a key as any other', () => {
  const parsed = parseJson('{"__proto__":{"polluted":1},"n":1e400}') as object;
  assert.deepEqual(Object.keys(parsed), ['__proto__', 'n']);
  assert.equal((parsed as { polluted?: unknown }).polluted, undefined);
});

test('a call with a number that cannot be kept is refused, wherever it stands, and told to send a string', () => {
  const options = { type: 'track', receivedAt: 0, fallbackMessageId: () => 'm' } as const;
  for (const [field, json] of [
    ['properties', '{"a":[{"id":9007199254740993}]}'],
    ['context', '{"id":1e400}'],
    ['userId', '12345678901234567890'],
    ['traits', '12345678901234567890'],
  ] as const) {
    const user = field === 'userId' ? '' : '"userId":"ada",';
    const call = parseJson(`{${user}"event":"e","${field}":${json}}`);
    const reading = readCall(call, options);
    assert.equal(reading.ok, false);
    assert.match(reading.message, new RegExp(`^${field} .*2\\^53`));
  }
});
