import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { TailraceError, isTailraceError } from './index.ts';
import { withReference } from './reference.ts';

test('the reference page holds the table of errors as it is', () => {
  const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  assert.equal(page, withReference(page), 'run: node packages/errors/write-reference.ts');
});

test('an error without a message says what it means and how to fix it', () => {
  const error = new TailraceError('unknown-write-key');
  assert.equal(
    error.message,
    'No enabled source has this write key. Send the write key of an enabled source as the user name of HTTP Basic auth.',
  );
  assert.equal(error.status, 401);
});

test('an error is told by its code', () => {
  const cause = new Error('inner');
  const error: unknown = new TailraceError('overloaded', 'too much', { cause });
  assert.ok(isTailraceError(error));
  assert.ok(isTailraceError(error, 'overloaded'));
  assert.ok(!isTailraceError(error, 'malformed-json'));
  assert.ok(!isTailraceError(new Error('too much')));
  assert.equal((error as Error).cause, cause);
});
