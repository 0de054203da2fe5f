import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isRawNumber } from './number.ts';
import { readCall } from './read-call.ts';
import { parseJson } from './read-json.ts';
import { webhookBody } from './webhook-body.ts';

/** Every number of JSON's grammar, up to some length. */
const numberText = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,25})?([eE][+-]?\d{1,4})?$/);

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

describe('a number', () => {
  const plain = ['0', '42', '-7', '0.5', '9007199254740991', '1e+21', '5e-324', '0.30000000000000004'];
  const raw = [
    ...['1234567890123456789', '12345678901234567890', '-9007199254740993', '9'.repeat(300)],
    ...['1e400', '-1e400', '1e-400', '1e1000000000000', '0.1234567890123456789'],
    ...['1.0', '-0', '-0.0', '0.0', '12.50', '1E5', '1e5', '1e+5', '1e20', '0.0000001', '0.1e1'],
  ];
  for (const text of [...plain, ...raw]) {
    test(`is written unchanged: ${text.slice(0, 30)}`, () => {
      for (const json of [text, `[${text}]`, `{"n":${text}}`, `{"a":[{"n":${text}},${text}]}`]) {
        assert.equal(JSON.stringify(parseJson(json)), json);
      }
      const [found] = parseJson(` [ ${text} ] `) as unknown[];
      assert.equal(isRawNumber(found), raw.includes(text));
    });
  }

  test('in any notation, in any JSON, is written unchanged', () => {
    fc.assert(
      fc.property(jsonText, (json) => {
        assert.equal(JSON.stringify(parseJson(json)), json);
      }),
      { numRuns: 2_000 },
    );
  });

  test('in properties, traits and context is unchanged in the webhook body', () => {
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
      const both = json.replace('"n":1', '"n":1.0');
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
    ...['{1.0:1}', '{1.0 :1}', '[01.0]', '[1.0.0]', '[--1.0]', '[1.]', '[.10]', '[+1.0]', '[1e]', '[1.0e+]'],
    ...[
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
    ],
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
    '{"__proto__":{"polluted":1.0},"n":1e400}',
    '{"__proto__":1.0}',
    '{"a":{"__proto__":-0}}',
  ]) {
    const parsed = parseJson(json) as object;
    assert.equal(JSON.stringify(parsed), json);
    assert.equal(Object.getPrototypeOf(parsed), Object.prototype);
    assert.equal((parsed as { polluted?: unknown }).polluted, undefined);
  }
});

test('the last of a repeated key counts, and numeric keys come first, like in JSON.parse', () => {
  assert.equal(
    JSON.stringify(parseJson('{"a":1.0,"b":2,"a":3.0,"7":1e2,"c":1.0,"c":1}')),
    '{"7":1e2,"a":3.0,"b":2,"c":1}',
  );
});

test('numbers keep their text at any nesting', () => {
  let inner = parseJson(`${'['.repeat(200_000)}1.0${']'.repeat(200_000)}`);
  while (Array.isArray(inner)) [inner] = inner as unknown[];
  assert.equal(JSON.stringify(inner), '1.0');
});
