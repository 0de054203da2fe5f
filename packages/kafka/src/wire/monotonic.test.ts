/** The library while the clock of the machine is set: it goes by a clock that cannot be set. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test, type TestContext } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import './library.ts';
import type { RequestQueue } from './network.ts';

const require = createRequire(import.meta.url);

interface Member {
  memberId: string;
  coordinator: { heartbeat: () => Promise<void> };
  heartbeat(options: { interval: number }): Promise<void>;
}

const logger = { debug: () => undefined, namespace: (): unknown => logger };
const hour = 3_600_000;

/** Returns a function that sets the clock of the machine ahead of the one that cannot be set. */
function clockOf(t: TestContext): (aheadMs: number) => void {
  const now = Date.now.bind(Date);
  return (aheadMs) => {
    t.mock.method(Date, 'now', () => now() + aheadMs);
  };
}

test('a member sends heartbeats after the clock was set forward and back', async (t) => {
  using time = simulateTime();
  const setClock = clockOf(t);
  const Group = require('kafkajs/src/consumer/consumerGroup') as new (options: object) => Member;
  const member = new Group({ logger, retry: {}, instrumentationEmitter: { emit: () => undefined } });
  let heartbeats = 0;
  const heartbeat = (): Promise<void> => {
    heartbeats += 1;
    return Promise.resolve();
  };
  Object.assign(member, { memberId: 'member', coordinator: { heartbeat } });
  for (const ahead of [0, 25 * hour, 0, -hour, 0]) {
    setClock(ahead);
    for (let second = 0; second < 3; second += 1) {
      await time.pass(1_000);
      await member.heartbeat({ interval: 500 });
    }
  }
  assert.equal(heartbeats, 15);
});

test('requests time out, and throttling ends, after the clock was set', async (t) => {
  using time = simulateTime();
  const setClock = clockOf(t);
  const Queue = require('kafkajs/src/network/requestQueue') as new (options: object) => RequestQueue & {
    maybeThrottle(ms: number): void;
  };
  const queue = new Queue({ logger, requestTimeout: 10_000, enforceRequestTimeout: true });
  const sent: number[] = [];
  const failed: number[] = [];
  const push = (correlationId: number): void => {
    const entry = { correlationId, apiName: 'Heartbeat', reject: () => failed.push(correlationId) };
    queue.push({ entry, expectResponse: true, sendRequest: () => sent.push(correlationId) });
  };
  setClock(25 * hour);
  push(1);
  queue.maybeThrottle(1_000);
  setClock(0);
  push(2);
  await time.pass(2_000);
  assert.deepEqual(sent, [1, 2]);
  setClock(25 * hour);
  await time.pass(2_000);
  assert.deepEqual(failed, [], 'not earlier');
  await time.pass(10_000);
  assert.deepEqual(failed, [1, 2]);
});
