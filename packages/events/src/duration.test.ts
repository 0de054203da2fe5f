import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { formatDuration, parseDuration } from './duration.ts';

test('a duration is a whole number and a unit', () => {
  const cases = {
    '250ms': 250,
    '10s': 10_000,
    '20m': 1_200_000,
    ' 4h ': 14_400_000,
    '7d': 604_800_000,
    '0s': 0,
  };
  for (const [text, ms] of Object.entries(cases)) assert.equal(parseDuration(text), ms, text);
  for (const text of ['', '10', 's', '1.5h', '-1s', '1 h', '1H', '10sec', '1e3s', '1234567890s']) {
    assert.equal(parseDuration(text), undefined, text);
  }
});

test('a duration is written in the largest exact unit', () => {
  const cases = { 0: '0ms', 999: '999ms', 60_000: '1m', 90_000: '90s', 3_600_000: '1h', 86_400_000: '1d' };
  for (const [ms, text] of Object.entries(cases)) assert.equal(formatDuration(Number(ms)), text);
});

test('a duration that was written is read back unchanged', () => {
  fc.assert(
    fc.property(fc.nat(999_999_999), fc.constantFrom(1, 1_000, 60_000), (count, unit) => {
      assert.equal(parseDuration(formatDuration(count * unit)), count * unit);
    }),
  );
});
