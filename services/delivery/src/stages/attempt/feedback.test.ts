import assert from 'node:assert/strict';
import test from 'node:test';
import { classifyStatus } from '@tailrace/webhook';
import { showsTrouble } from './feedback.ts';

test('9.6 a 5xx that is retried shows trouble, and a 429, a 4xx that is retried and a permanent refusal do not', () => {
  const retryOn = new Set([409, 429, 503]);
  const troubled = [200, 302, 404, 409, 429, 500, 503].filter((status) =>
    showsTrouble(classifyStatus(status, undefined, 0, retryOn)),
  );
  assert.deepEqual(troubled, [503]);
});
