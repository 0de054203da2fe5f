import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { original, patched } from '../testing/original.ts';
import { silent } from '../testing/silent.ts';
import type { RequestQueue } from './request-queue.ts';

type QueueClass = new (options: object) => RequestQueue & {
  throttledUntil: number;
  fulfillRequest(response: object): void;
};

/** The timers that a connection sets: when it opens, for a request, and after its response. */
function timersOf(t: TestContext, load: typeof original) {
  const Queue = load('network/requestQueue') as QueueClass;
  const queue = new Queue({ logger: silent, requestTimeout: 10_000, enforceRequestTimeout: true });
  const timeouts = t.mock.method(globalThis, 'setTimeout', (() => 1) as never);
  const intervals = t.mock.method(globalThis, 'setInterval', (() => 2) as never);
  const taken = (): readonly unknown[] => {
    const delays = [...timeouts.mock.calls, ...intervals.mock.calls].map((call) => call.arguments[1]);
    timeouts.mock.resetCalls();
    intervals.mock.resetCalls();
    return delays;
  };
  queue.scheduleRequestTimeoutCheck();
  const opened = taken();
  const entry = { correlationId: 1, resolve: () => undefined };
  queue.push({ entry, expectResponse: true, sendRequest: () => undefined });
  const sent = taken();
  queue.fulfillRequest({ correlationId: 1, payload: Buffer.alloc(0), size: 0 });
  const answered = taken();
  t.mock.restoreAll();
  return { opened, sent, answered };
}

test('a connection sets timers only while requests wait', (t) => {
  assert.deepEqual(timersOf(t, patched), { opened: [], sent: [500], answered: [] });
});

test('the original looks for late requests all the time, and sets a timer below zero after each response', (t) => {
  const { opened, sent, answered } = timersOf(t, original);
  assert.deepEqual({ opened, sent }, { opened: [100], sent: [] });
  assert.equal(answered.length, 1);
  assert.ok(Number(answered[0]) < 0);
});

/** Whether a request that was sent, or throttled, just before its connection closed is given up. */
function isGivenUp(t: TestContext, load: typeof original, request: 'sent' | 'throttled'): boolean {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const Queue = load('network/requestQueue') as QueueClass;
  const isConnected = () => false;
  const queue = new Queue({ logger: silent, requestTimeout: -1, enforceRequestTimeout: true, isConnected });
  queue.scheduleRequestTimeoutCheck();
  if (request === 'throttled') queue.throttledUntil = Infinity;
  let isOver = false;
  const reject = () => {
    isOver = true;
  };
  queue.push({ entry: { correlationId: 1, reject }, expectResponse: true, sendRequest: () => undefined });
  queue.throttledUntil = -1;
  queue.destroy();
  t.mock.timers.tick(1_000);
  t.mock.timers.reset();
  return isOver;
}

for (const request of ['sent', 'throttled'] as const) {
  test(`a request that was ${request} before its connection closed times out`, (t) => {
    assert.equal(isGivenUp(t, patched, request), true);
  });

  test(`the original waits forever for one that was ${request}`, (t) => {
    assert.equal(isGivenUp(t, original, request), false);
  });
}
