import assert from 'node:assert/strict';
import test from 'node:test';
import { UsageError } from './command.ts';
import { filterOf, lastingTimes } from './dead-filter.ts';

const none = {
  destination: undefined,
  reason: undefined,
  type: undefined,
  since: undefined,
  until: undefined,
};
const now = Date.UTC(2026, 4, 2, 12);

test('a time is a moment, or how long ago', () => {
  const { since, until } = filterOf({ ...none, since: '2026-05-01T08:30+02:00', until: '90m' }, now);
  assert.equal(since, Date.UTC(2026, 4, 1, 6, 30));
  assert.equal(until, now - 90 * 60_000);
  assert.equal(filterOf({ ...none, since: '2026-05-01' }, now).since, Date.UTC(2026, 4, 1));
});

test('what is no time is said', () => {
  for (const time of ['yesterday', '5', '2026-02-30', '-2h', '1w']) {
    assert.throws(
      () => filterOf({ ...none, until: time }, now),
      (error) => error instanceof UsageError && error.message.startsWith('--until is a time'),
      time,
    );
  }
});

test('of times that mean something else later, what they mean now is told', () => {
  const options = { ...none, since: '2h', until: '2026-05-02' };
  assert.deepEqual(lastingTimes(options, filterOf(options, now)), ['--since 2026-05-02T10:00:00.000Z']);
  assert.deepEqual(lastingTimes(none, filterOf(none, now)), []);
});
