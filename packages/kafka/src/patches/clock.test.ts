import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import type { RequestQueue } from './connections/request-queue.ts';
import { original, patched } from './testing/original.ts';
import { silent as logger } from './testing/silent.ts';

interface Member {
  memberId: string;
  coordinator: { heartbeat: () => Promise<void> };
  heartbeat(options: { interval: number }): Promise<void>;
}

type QueueClass = new (options: object) => RequestQueue & { maybeThrottle(ms: number): void };

const hour = 3_600_000;

/** The heartbeats that a member sends in 15 s while the clock is set forward and back. */
async function heartbeatsOf(load: typeof original): Promise<number> {
  using time = simulateTime();
  const Group = load('consumer/consumerGroup') as new (options: object) => Member;
  const cluster = {};
  const member = new Group({ cluster, logger, retry: {}, instrumentationEmitter: { emit: () => undefined } });
  let heartbeats = 0;
  const heartbeat = (): Promise<void> => {
    heartbeats += 1;
    return Promise.resolve();
  };
  Object.assign(member, { memberId: 'member', coordinator: { heartbeat } });
  for (const ahead of [0, 25 * hour, 0, -hour, 0]) {
    time.setClock(ahead);
    for (let second = 0; second < 3; second += 1) {
      await time.pass(1_000);
      await member.heartbeat({ interval: 500 });
    }
  }
  return heartbeats;
}

test('a member sends heartbeats after the clock was set forward and back', async () => {
  assert.equal(await heartbeatsOf(patched), 15);
  assert.ok((await heartbeatsOf(original)) < 10, 'the original sends none until the time that it had been');
});

/** The requests that are sent and that fail while the clock is set, under a throttling of one second. */
async function requestsOf(load: typeof original) {
  using time = simulateTime();
  const Queue = load('network/requestQueue') as QueueClass;
  const queue = new Queue({ logger, requestTimeout: 10_000, enforceRequestTimeout: true });
  queue.scheduleRequestTimeoutCheck();
  const sent: number[] = [];
  const failed: number[] = [];
  const push = (correlationId: number): void => {
    const entry = { correlationId, apiName: 'Heartbeat', reject: () => failed.push(correlationId) };
    queue.push({ entry, expectResponse: true, sendRequest: () => sent.push(correlationId) });
  };
  time.setClock(25 * hour);
  push(1);
  queue.maybeThrottle(1_000);
  time.setClock(0);
  push(2);
  await time.pass(2_000);
  const sentInTime = [...sent];
  time.setClock(25 * hour);
  await time.pass(2_000);
  const failedEarly = [...failed];
  await time.pass(10_000);
  const failedInTime = [...failed];
  queue.destroy();
  return { sentInTime, failedEarly, failedInTime };
}

test('requests time out, and throttling ends, after the clock was set', async () => {
  assert.deepEqual(await requestsOf(patched), {
    sentInTime: [1, 2],
    failedEarly: [],
    failedInTime: [1, 2],
  });
  const { sentInTime } = await requestsOf(original);
  assert.deepEqual(sentInTime, [1], 'the original is throttled for 25 hours');
});
