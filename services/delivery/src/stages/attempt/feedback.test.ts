import assert from 'node:assert/strict';
import test from 'node:test';
import { classifyStatus, targetsOf } from '@tailrace/webhook';
import { feedbackOf, showsTrouble, succeeds, wasSent } from './feedback.ts';

test('9.6 a 5xx that is retried shows trouble, and a 429, a 4xx that is retried and a permanent refusal do not', () => {
  const retryOn = new Set([409, 429, 503]);
  const troubled = [200, 302, 404, 409, 429, 500, 503].filter((status) =>
    showsTrouble(classifyStatus(status, undefined, 0, retryOn)),
  );
  assert.deepEqual(troubled, [503]);
});

test('7.12 a URL that was not asked for want of a token has no trouble, and the lane sends less', () => {
  const answer = { kind: 'retryable', reason: 'token-unavailable' } as const;
  assert.deepEqual([showsTrouble(answer), succeeds(answer), wasSent(answer)], [false, undefined, false]);
  // Without another token, after the receiver has refused the first one.
  const refused = { ...answer, status: 401 };
  assert.deepEqual([showsTrouble(refused), succeeds(refused), wasSent(refused)], [false, true, true]);
  const [target] = targetsOf({
    id: 'crm',
    type: 'Webhooks',
    enabled: true,
    sources: [],
    settings: { webhooks: [{ url: 'https://crm.example.com/' }] },
  });
  assert.ok(target);
  assert.equal(feedbackOf([{ target, answer, latencyMs: 0 }], 1_000).signal, 'failed');
});
