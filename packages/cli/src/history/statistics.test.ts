import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { failuresOf } from './statistics.ts';

test('samples of failures are shown as other attempts are, in colour', () => {
  const startedAt = '2026-05-01T00:00:00.000Z';
  const sample = { deliveryId: 'd-1', startedAt, attempt: 2, latencyMs: 7, urls: [] };
  const failure = { reason: 'timeout', count: 1, dead: 1, firstAt: startedAt, lastAt: startedAt };
  const { text } = failuresOf({ items: [{ ...failure, samples: [{ ...sample, outcome: 'dead' }] }] });
  assert.deepEqual(text.map(stripVTControlCharacters), [
    `timeout: 1 attempt, 1 dead letter, from ${startedAt} to ${startedAt}`,
    '  delivery d-1',
    `  ${startedAt}  attempt 2  dead`,
    '1 reason.',
  ]);
});
