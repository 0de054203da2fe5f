import assert from 'node:assert/strict';
import test from 'node:test';
import { UsageError } from '../command.ts';
import { absoluteTimes, filterOf } from './filter.ts';

const now = Date.UTC(2026, 4, 2, 12);

test('a time is absolute or an age', () => {
  const { since, until } = filterOf({ since: '2026-05-01T08:30+02:00', until: '90m' }, now);
  assert.equal(since, Date.UTC(2026, 4, 1, 6, 30));
  assert.equal(until, now - 90 * 60_000);
  assert.equal(filterOf({ since: '2026-05-01' }, now).since, Date.UTC(2026, 4, 1));
});

test('an invalid time is a usage error', () => {
  for (const time of ['yesterday', '5', '2026-02-30', '-2h', '1w']) {
    assert.throws(
      () => filterOf({ until: time }, now),
      (error) => error instanceof UsageError && error.message.startsWith('--until must be a time'),
      time,
    );
  }
});

test('relative times are shown as absolute times', () => {
  const options = { since: '2h', until: '2026-05-02' };
  assert.deepEqual(absoluteTimes(options, filterOf(options, now)), ['--since 2026-05-02T10:00:00.000Z']);
  assert.deepEqual(absoluteTimes({}, filterOf({}, now)), []);
});

test('a misspelled reason is a usage error with a suggestion', () => {
  const isSuggestion = (error: unknown): boolean =>
    error instanceof UsageError && error.message.includes('did you mean client-error?');
  assert.throws(() => filterOf({ reason: 'client-eror' }, now), isSuggestion);
  assert.equal(filterOf({ reason: 'client-error' }, now).reason, 'client-error');
});
