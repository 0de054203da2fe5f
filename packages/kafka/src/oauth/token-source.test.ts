import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { TailraceError } from '@tailrace/errors';
import type { Token } from '@tailrace/oauth';
import { createTokenSource } from './token-source.ts';

const quiet = { warn: () => undefined, info: () => undefined };
const unavailable = new TailraceError('kafka-token-unavailable');

/** A source with a clock and a token server that the test controls. */
function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 1_000;
  t.mock.method(performance, 'now', () => now);
  const answer = mock.fn<() => Promise<Token>>();
  let count = 0;
  const succeed = (lifetimeMs: number): void => {
    answer.mock.mockImplementation(() => Promise.resolve({ value: `token-${++count}`, lifetimeMs }));
  };
  const source = createTokenSource(() => answer(), quiet);
  t.after(() => {
    source.close();
  });
  return {
    source,
    succeed,
    fail: () => {
      answer.mock.mockImplementation(() => Promise.reject(unavailable));
    },
    requests: () => answer.mock.callCount(),
    pass: async (ms: number) => {
      now += ms;
      t.mock.timers.tick(ms);
      await new Promise(setImmediate);
    },
  };
}

test('callers share one request, and later callers its token', async (t) => {
  const { source, succeed, requests } = start(t);
  succeed(60_000);
  assert.deepEqual(await Promise.all([source.current(), source.current()]), ['token-1', 'token-1']);
  assert.equal(await source.current(), 'token-1');
  assert.equal(requests(), 1);
});

test('a token is replaced in the background when a quarter of its lifetime is left', async (t) => {
  const { source, succeed, pass, requests } = start(t);
  succeed(60_000);
  await source.current();
  await pass(44_000);
  assert.equal(requests(), 1);
  await pass(1_000);
  assert.equal(requests(), 2);
  assert.equal(await source.current(), 'token-2');
});

test('a server that is down does not matter as long as the token is valid', async (t) => {
  const { source, succeed, fail, pass, requests } = start(t);
  succeed(60_000);
  await source.current();
  fail();
  await pass(45_000);
  assert.equal(await source.current(), 'token-1');
  for (let ms = 0; ms < 12_000; ms += 500) await pass(500);
  assert.ok(requests() > 3, 'it is retried in the background');
  assert.equal(await source.current(), 'token-1');
  await pass(2_000);
  await assert.rejects(source.current(), unavailable);
  succeed(60_000);
  await pass(30_000);
  assert.equal(await source.current(), 'token-2');
});

test('after a failure, callers get its error immediately until the next request is due', async (t) => {
  const { source, succeed, fail, pass, requests } = start(t);
  fail();
  await assert.rejects(source.current(), unavailable);
  await assert.rejects(source.current(), unavailable);
  assert.equal(requests(), 1);
  succeed(60_000);
  await pass(500);
  assert.equal(await source.current(), 'token-1');
});

test('a token that a broker refuses is fetched again, unless it is new', async (t) => {
  const { source, succeed, pass } = start(t);
  succeed(60_000);
  await source.current();
  source.refused('token-1');
  assert.equal(await source.current(), 'token-1');
  await pass(11_000);
  source.refused('token-1');
  assert.equal(await source.current(), 'token-2');
});
