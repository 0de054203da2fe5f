import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorTable, TailraceError, type ErrorCode } from '@tailrace/errors';
import { errorAnswer, type Answer } from './answer.ts';

function headerOf({ headers }: Answer, name: string): string | undefined {
  const at = headers.indexOf(name);
  return at < 0 ? undefined : headers[at + 1];
}

test('14.6 an error response has the status of the error, and a JSON object with code and message', () => {
  for (const [code, { status }] of Object.entries(errorTable)) {
    const answer = errorAnswer(new TailraceError(code as ErrorCode));
    assert.equal(answer.status, status);
    assert.equal(headerOf(answer, 'content-type'), 'application/json');
    assert.equal(headerOf(answer, 'access-control-allow-origin'), '*');
    const { code: shown, message } = JSON.parse(answer.body) as Record<string, string>;
    assert.equal(shown, code);
    assert.ok(message);
  }
});

test('14.6 responses with 429 and 503 have Retry-After', () => {
  const after = (error: TailraceError): string | undefined => headerOf(errorAnswer(error), 'retry-after');
  assert.equal(after(new TailraceError('kafka-unavailable')), '5');
  assert.equal(after(new TailraceError('overloaded')), '1');
  assert.equal(after(new TailraceError('rate-limited', undefined, { retryAfterS: 12 })), '12');
  assert.equal(after(new TailraceError('invalid-call')), undefined);
});

test('an unexpected error is a 500 that does not quote its message', () => {
  const answer = errorAnswer(new TypeError('cannot read hunter2 of undefined'));
  assert.deepEqual([answer.status, answer.code], [500, 'internal-error']);
  assert.doesNotMatch(answer.body, /hunter2/);
});
