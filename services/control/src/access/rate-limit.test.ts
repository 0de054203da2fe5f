import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import { newCluster, openApi } from '../testing/api.ts';
import { createRateLimit } from './rate-limit.ts';

const reply = { header: () => reply } as never;
const caller = (tokenId: string) => ({ tokenId, fingerprint: '' });

test('a token has ten seconds of its rate together, then its rate, and others are not affected', () => {
  const count = createRateLimit(2);
  const isPermitted = (id: string, now: number): boolean => {
    try {
      count(caller(id), reply, now);
      return true;
    } catch (error) {
      assert.ok(isTailraceError(error, 'too-many-requests'));
      return false;
    }
  };
  const first = Array.from({ length: 21 }, () => isPermitted('a', 0));
  assert.deepEqual([first.slice(0, 20).every(Boolean), first[20]], [true, false]);
  assert.deepEqual(
    [400, 500, 600, 1_000].map((now) => isPermitted('a', now)),
    [false, true, false, true],
  );
  assert.equal(isPermitted('b', 1_000), true);
});

test('answers have the standard headers, and too many requests are answered with 429', async () => {
  await using control = await openApi(newCluster(), { TAILRACE_API_RATE_LIMIT: '1' });
  const path = '/v1/catalog';
  const first = await control.ask({ path });
  assert.equal(first.headers.get('ratelimit-policy'), '"token";q=10;w=10');
  assert.equal(first.headers.get('ratelimit'), '"token";r=9;t=1');
  let answer = first;
  for (let sent = 0; sent < 1_000 && answer.status === 200; sent += 1) answer = await control.ask({ path });
  assert.deepEqual([answer.status, answer.json['code']], [429, 'too-many-requests']);
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.match(answer.headers.get('ratelimit') ?? '', /r=0/);
});

test('wrong tokens of an address are limited, and a right one is answered beside them', async () => {
  await using control = await openApi(newCluster(), { TAILRACE_API_RATE_LIMIT: '1' });
  const guess = { method: 'POST', path: '/v1/session', token: 'a-wrong-token' } as const;
  const statuses = new Set<number>();
  for (let sent = 0; sent < 1_000 && !statuses.has(429); sent += 1)
    statuses.add((await control.ask(guess)).status);
  assert.deepEqual([...statuses], [401, 429]);
  await control.expect(200, { path: '/v1/session' });
});
