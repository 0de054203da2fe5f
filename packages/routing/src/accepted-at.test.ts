import assert from 'node:assert/strict';
import test from 'node:test';
import { acceptedAt } from './accepted-at.ts';

const now = 1_800_000_000_000;
const hourMs = 3_600_000;

test('an event of ingest was accepted when ingest received it, also where its record has waited for long', () => {
  assert.equal(acceptedAt(now - 12, now - 5, now), now - 12);
  assert.equal(acceptedAt(now - 50 * hourMs, now - 50 * hourMs + 7, now), now - 50 * hourMs);
});

test('an event of a direct producer was accepted when its record was written', () => {
  assert.equal(acceptedAt(now - 5, now - 5, now), now - 5);
  assert.equal(acceptedAt(now - 9_000 * hourMs, now - 5, now), now - 5, 'the time in the event is ignored');
  assert.equal(acceptedAt(now + hourMs, now - 5, now), now - 5);
});

test('an implausible time of a record is replaced', () => {
  assert.equal(acceptedAt(now + hourMs, now + hourMs, now), now, 'in the future');
  assert.equal(acceptedAt(0, 0, now), now, 'older than the retention of the topic');
  assert.equal(acceptedAt(now, -1, now), now, 'no time');
});
