import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBetweenTimes, toField, toTime } from './period.ts';

test('a span before now is no period between times', () => {
  assert.equal(isBetweenTimes({}), false);
  assert.equal(isBetweenTimes({ since: '24h' }), false);
  assert.equal(isBetweenTimes({ since: '2026-11-22T10:00:00.000Z' }), true);
  assert.equal(isBetweenTimes({ until: '2h' }), true);
});

test('a time passes through its field, to the minute', () => {
  const shown = toField('2026-11-22T10:00:30.000Z');
  assert.match(shown, /^2026-11-2\dT\d\d:\d\d$/);
  assert.equal(toTime(shown), '2026-11-22T10:00:00.000Z');
  assert.equal(toField(shown), shown);
});

test('a time that cannot be read is shown as none, and one that is not set stays so', () => {
  assert.equal(toField('2026-99-99T10:00:00Z'), '');
  assert.equal(toField(''), '');
  assert.equal(toTime(''), '');
  assert.equal(toTime('2026-99'), '2026-99');
  assert.equal(toTime('2026-11-22T10:00:00.123Z'), '2026-11-22T10:00:00.123Z');
});
