import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatInstant, isInstant, parseInstant } from './instant.ts';

const anyMs = fc.integer({
  min: Date.parse('0000-01-01T00:00:00.000Z'),
  max: Date.parse('9999-12-31T23:59:59.999Z'),
});

describe('parseInstant', () => {
  const forms: [text: string, utc: string][] = [
    ['2026-11-21T07:29:33.479Z', '2026-11-21T07:29:33.479Z'],
    ['2026-11-21T07:29:33Z', '2026-11-21T07:29:33.000Z'],
    ['2026-11-21T07:29:33.4Z', '2026-11-21T07:29:33.400Z'],
    ['2026-11-21T07:29:33,479Z', '2026-11-21T07:29:33.479Z'],
    ['2026-11-21T07:29:33.479999999Z', '2026-11-21T07:29:33.479Z'],
    ['2026-11-21T07:29:33.123456789012Z', '2026-11-21T07:29:33.123Z'],
    ['2026-11-21T07:29:33.000001+00:00', '2026-11-21T07:29:33.000Z'],
    ['2026-11-21T09:27:36+0200', '2026-11-21T07:27:36.000Z'],
    ['2026-11-21T02:57:36-04:30', '2026-11-21T07:27:36.000Z'],
    ['2026-11-21T09:27:36.5+02', '2026-11-21T07:27:36.500Z'],
    ['2026-11-21 07:27:36 +0000', '2026-11-21T07:27:36.000Z'],
    ['2026-11-21t07:27:36z', '2026-11-21T07:27:36.000Z'],
    ['2026-11-21T07:27:36', '2026-11-21T07:27:36.000Z'],
    ['2026-11-21T07:27', '2026-11-21T07:27:00.000Z'],
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['20261121T072736Z', '2026-11-21T07:27:36.000Z'],
    ['2026-11-21T24:00:00Z', '2026-11-22T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0000-01-01T00:00:00.000Z', '0000-01-01T00:00:00.000Z'],
    ['0099-12-31T23:59:59.999Z', '0099-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ];
  for (const [text, utc] of forms) {
    test(`reads ${text} as ${utc}`, () => {
      const ms = parseInstant(text);
      assert.ok(ms !== undefined);
      assert.equal(formatInstant(ms), utc);
    });
  }

  const refused = [
    '',
    'yesterday',
    '1763710173479',
    '2026',
    '2026-11',
    '2026-13-01T00:00:00Z',
    '2026-02-29T00:00:00.000Z',
    '2100-02-29',
    '2026-04-31T00:00:00Z',
    '2026-11-00',
    '2026-11-21T24:00:01Z',
    '2026-11-21T25:00:00.000Z',
    '2026-11-21T07:60:00Z',
    '2026-11-21T07:00:61Z',
    '2026-11-21T07:00:00+24:00',
    '2026-11-21T07:00:00+01:60',
    '0000-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '+12026-11-21T07:00:00Z',
    '2026-11-21T07:00:00Z ',
    '2026-W47-6',
  ];
  for (const text of refused) {
    test(`refuses ${JSON.stringify(text)}`, () => {
      assert.equal(parseInstant(text), undefined);
    });
  }

  test('agrees with Date on every instant', () => {
    fc.assert(fc.property(anyMs, (ms) => parseInstant(new Date(ms).toISOString()) === ms));
  });

  test('returns an instant or undefined for any text', () => {
    const lookalike = fc.string({ unit: fc.constantFrom(...Array.from('0123456789-:.,+TZ ')) });
    fc.assert(
      fc.property(fc.oneof(fc.string(), lookalike), (text) => {
        const ms = parseInstant(text);
        return ms === undefined || isInstant(ms);
      }),
    );
  });
});

describe('formatInstant', () => {
  test('agrees with Date, independent of earlier calls', () => {
    fc.assert(fc.property(anyMs, (ms) => formatInstant(ms) === new Date(ms).toISOString()));
  });

  test('cuts off fractions of a millisecond', () => {
    assert.equal(formatInstant(999.9), '1970-01-01T00:00:00.999Z');
    assert.equal(formatInstant(-0.5), '1969-12-31T23:59:59.999Z');
  });
});
