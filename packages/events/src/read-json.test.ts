import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { numberText } from '@tailrace/testing/json-text';
import fc from 'fast-check';
import { isRawNumber } from './number.ts';
import { readCall } from './read-call.ts';
import { parseJson, parseSizedJson } from './read-json.ts';
import { webhookBody } from './webhook-body.ts';

/** JSON with numbers in any notation, as compact as `JSON.stringify` writes it. */
const jsonText = fc.letrec<{ json: string; key: string }>((tie) => ({
  key: fc.string({ unit: 'binary' }).map((key) => JSON.stringify(key)),
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    numberText,
    fc.constantFrom('null', 'true', '"-0"', '",1.0"', '"\\\\"', '"\\",1.0"'),
    tie('key'),
    fc.array(tie('json'), { maxLength: 5 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(tie('key'), tie('json')), { maxLength: 5, selector: ([key]) => key })
      // Keys like "7" come first in an object.
      .map((fields) => fields.filter(([key]) => !/^"\d+"$/.test(key)))
      .map((fields) => `{${fields.map(([key, value]) => `${key}:${value}`).join(',')}}`),
  ),
})).json;

/** A number as its digits without surrounding zeros, and their exponent. */
function decimalOf(text: string): string {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = BigInt(whole + fraction).toString();
  const short = digits.replace(/0+$/, '');
  return short === '' ? '0' : `${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}

/** The exact value of a double, from its bits. */
function exactly(value: number): string {
  const bits = new BigUint64Array(new Float64Array([Math.abs(value)]).buffer)[0] ?? 0n;
  const [exponent, fraction] = [Number(bits >> 52n), bits & (2n ** 52n - 1n)];
  const mantissa = exponent === 0 ? fraction : fraction + 2n ** 52n;
  const power = Math.max(exponent, 1) - 1_075;
  return power >= 0
    ? decimalOf(String(mantissa * 2n ** BigInt(power)))
    : decimalOf(`${mantissa * 5n ** BigInt(-power)}e${power}`);
}

/** How a number is written: as JavaScript does where nothing is lost, else with its text. */
function written(text: string): string {
  const nearest = Number(text);
  if (!Number.isFinite(nearest)) return text;
  const wanted = decimalOf(text);
  const isKept =
    wanted === decimalOf(String(nearest)) || (!Number.isInteger(nearest) && wanted === exactly(nearest));
  return isKept ? JSON.stringify(nearest) : text;
}

describe('a number', () => {
  const held = [
    ['0', '42', '-7', '0.5', '9007199254740991', '1e+21', '5e-324', '0.30000000000000004'],
    ['1.0', '-0', '-0.0', '0.0', '12.50', '1E5', '1e5', '1e+5', '1e20', '0.0000001', '0.1e1'],
  ].flat();
  const raw = [
    ['1234567890123456789', '12345678901234567890', '-9007199254740993', '9'.repeat(300)],
    ['1e400', '-1e400', '1e-400', '1e1000000000000', '0.1234567890123456789'],
  ].flat();
  for (const text of [...held, ...raw]) {
    const isRaw = raw.includes(text);
    test(`is written ${isRaw ? 'unchanged' : 'as JavaScript does'}: ${text.slice(0, 30)}`, () => {
      const expected = isRaw ? text : JSON.stringify(Number(text));
      const at = (number: string): string[] => [
        number,
        `[${number}]`,
        `{"n":${number}}`,
        `{"a":[{"n":${number}},${number}]}`,
      ];
      assert.deepEqual(
        at(text).map((json) => JSON.stringify(parseJson(json))),
        at(expected),
      );
      const [found] = parseJson(` [ ${text} ] `) as unknown[];
      assert.equal(isRawNumber(found), isRaw);
    });
  }

  test('1.8 in any notation is written as JavaScript does where nothing is lost, and unchanged elsewhere', () => {
    fc.assert(
      fc.property(numberText, (text) => {
        assert.equal(JSON.stringify(parseJson(`[${text}]`)), `[${written(text)}]`);
      }),
      { numRuns: 2_000 },
    );
  });

  test('of any double is written as JavaScript does, also with all of its digits', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        for (const text of [JSON.stringify(value), value.toExponential()]) {
          assert.equal(JSON.stringify(parseJson(text)), JSON.stringify(value), text);
        }
      }),
    );
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 0, max: 60 }), (numerator, power) => {
        // The digits of its exact value.
        const value = numerator / 2 ** power;
        assert.equal(JSON.stringify(parseJson(value.toPrecision(100))), JSON.stringify(value));
      }),
    );
  });

  test('grows by at most what is measured, and nothing else grows', () => {
    assert.equal(parseSizedJson('[1e20,-1E-6,25.0,"1e20",1e400,0.5]').growth, 17 + 4);
    const escapes = fc.constantFrom(
      '"\\u0041"',
      '"\\ud83d\\ude00"',
      '"\\ud800"',
      '"\\/"',
      '"\\u001f"',
      '{"a":1e9,"a":1}',
    );
    fc.assert(
      fc.property(jsonText, escapes, (inner, escape) => {
        const json = `[${inner}, ${escape}]`;
        const { value, growth } = parseSizedJson(json);
        const grown = Buffer.byteLength(JSON.stringify(value)) - Buffer.byteLength(json);
        assert.ok(grown <= growth, `${json} grew by ${grown}`);
      }),
      { numRuns: 2_000 },
    );
  });

  test('in any JSON is written so, and everything else unchanged', () => {
    fc.assert(
      fc.property(jsonText, (json) => {
        const expected = json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
          token.startsWith('"') ? token : written(token),
        );
        assert.equal(JSON.stringify(parseJson(json)), expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test('1.8 in properties, traits and context is unchanged in the webhook body', () => {
    const options = { receivedAt: 0, fallbackMessageId: () => 'm' };
    fc.assert(
      fc.property(fc.array(numberText, { minLength: 1 }), (texts) => {
        const object = `{"list":[${texts.join(',')}],"${String(texts.length)}":${texts[0] ?? ''}}`;
        const fields = `"properties":${object},"traits":${object},"context":${object}`;
        const call = parseJson(`{"userId":"ada","event":"e",${fields}}`);
        for (const [type, key] of [
          ['track', 'properties'],
          ['identify', 'traits'],
        ] as const) {
          const first = readCall(call, { ...options, type });
          assert.ok(first.ok);
          // The router reads the event that ingest wrote.
          const event = readCall(parseJson(JSON.stringify(first.event)), { ...options, enriched: true });
          assert.ok(event.ok);
          const numbers = JSON.stringify(parseJson(object));
          const body = webhookBody(event.event);
          assert.ok(body.includes(`"context":${numbers},`) && body.endsWith(`"${key}":${numbers}}`), body);
        }
      }),
    );
  });
});

describe('a text without such a number', () => {
  test('is unchanged where a string or a key looks like a number', () => {
    for (const text of [
      'x,9007199254740993',
      '[1e400',
      ':12345678901234567890',
      '1.0',
      '", 1.0',
      '\\',
      '\\"',
    ]) {
      const json = JSON.stringify({ [text]: text, list: [text, text], n: 1 });
      assert.deepEqual(parseJson(json), JSON.parse(json));
      const both = json.replace('"n":1', '"n":1e400');
      assert.equal(JSON.stringify(parseJson(both)), both);
    }
  });

  test('is read like JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        assert.deepEqual(JSON.parse(JSON.stringify(parseJson(text))), JSON.parse(text));
      }),
    );
  });
});

test('a text that JSON.parse refuses is refused with the same error', () => {
  const refusal = (read: () => unknown): string | undefined => {
    try {
      read();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const check = (text: string): void => {
    assert.equal(
      refusal(() => parseJson(text)),
      refusal(() => JSON.parse(text) as unknown),
      text,
    );
  };
  for (const text of [
    '{1.0:1}',
    '{1.0 :1}',
    '[01.0]',
    '[1.0.0]',
    '[--1.0]',
    '[1.]',
    '[.10]',
    '[+1.0]',
    '[1e]',
    '[1.0e+]',
    '["1.0]',
    '[1.0"a"]',
    '[1.0 1.0]',
    '[-]',
    '1.0,',
    '"1.0',
    '',
    '[1.0',
    '[1e400}',
    '[0x10]',
    'NaN',
    '[1_0.0]',
  ]) {
    check(text);
  }
  // One character changed, removed or inserted.
  const pieces = fc.constantFrom('', ...Array.from('0123456789.eE+-,:"\\[]{} \n'));
  fc.assert(
    fc.property(jsonText, fc.nat(), fc.nat(1), pieces, (json, place, dropped, piece) => {
      const at = place % (json.length + 1);
      check(json.slice(0, at) + piece + json.slice(at + dropped));
    }),
    { numRuns: 5_000 },
  );
});

test('a key called __proto__ is an ordinary key, also where its value is a number that keeps its text', () => {
  for (const json of [
    '{"__proto__":{"polluted":1e400},"n":1e400}',
    '{"__proto__":1e400}',
    '{"a":{"__proto__":1e-400}}',
  ]) {
    const parsed = parseJson(json) as object;
    assert.equal(JSON.stringify(parsed), json);
    assert.equal(Object.getPrototypeOf(parsed), Object.prototype);
    assert.equal((parsed as { polluted?: unknown }).polluted, undefined);
  }
});

test('the last of a repeated key counts, and numeric keys come first, like in JSON.parse', () => {
  assert.equal(
    JSON.stringify(parseJson('{"a":1e400,"b":2,"a":3e400,"7":1e500,"c":1e400,"c":1}')),
    '{"7":1e500,"a":3e400,"b":2,"c":1}',
  );
});

test('numbers keep their text at any nesting', () => {
  let inner = parseJson(`${'['.repeat(200_000)}1e400${']'.repeat(200_000)}`);
  while (Array.isArray(inner)) [inner] = inner as unknown[];
  assert.equal(JSON.stringify(inner), '1e400');
});
