import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TailraceError, isTailraceError } from './index.ts';

test('an error without a message has the meaning and the hint of its code', () => {
  const error = new TailraceError('unknown-write-key');
  assert.equal(
    error.message,
    'No enabled source has this write key. Send the write key of an enabled source as the user name of HTTP Basic auth.',
  );
  assert.equal(error.status, 401);
});

test('an error is recognised by its code', () => {
  const cause = new Error('inner');
  const error: unknown = new TailraceError('overloaded', 'too much', { cause });
  assert.ok(isTailraceError(error));
  assert.ok(isTailraceError(error, 'overloaded'));
  assert.ok(!isTailraceError(error, 'malformed-json'));
  assert.ok(!isTailraceError(new Error('too much')));
  assert.equal((error as Error).cause, cause);
});
