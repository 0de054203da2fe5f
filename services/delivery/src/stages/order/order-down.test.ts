/** The ordered deliveries of a user at a receiver that is down: how often they are written, and how they end. */
import assert from 'node:assert/strict';
import { describe, mock, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { readBack, type OutgoingRecord } from '@tailrace/kafka';
import type { DeadReason } from '@tailrace/metrics';
import { decodeDelivery, type Delivery } from '@tailrace/records';
import { topicNames } from '@tailrace/topology';
import { Heap } from '../due/heap.ts';
import type { Event, Received, Receiver } from '../../delivery.ts';
import { FollowUps } from '../../settle/follow-ups.ts';
import { transition, windowBegan } from '../../transition.ts';
import { Order } from './order.ts';

const start = 1_800_000_000_000;
const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const tiersMs = [10 * second, minute, 5 * minute, 20 * minute, hour];
const windowMs = 4 * hour;
const pauseMs = 24 * hour;
const names = topicNames('');

/** An order and its retry topics, with a clock of their own and attempts like those of the pipeline. */
function openQueue(t: TestContext) {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: start });
  t.after(() => {
    mock.timers.reset();
  });
  const receiver = { isDown: true, since: start - 10 * second };
  const waiting = new Heap<Delivery & { readonly dueAt: number; readonly sequence: number }>(
    (a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.sequence < b.sequence),
  );
  const written = new Map<string, number>();
  const delivered: (number | undefined)[] = [];
  const dead: { readonly sequence: number; readonly afterMs: number; readonly reason: string | undefined }[] =
    [];

  const publish = ({ topic, value, key, headers }: OutgoingRecord): Promise<void> => {
    const content = { value: Buffer.from(value ?? ''), key: Buffer.from(key ?? '') };
    const delivery = decodeDelivery({ ...content, ...readBack(headers) });
    if (typeof delivery === 'string') assert.fail(delivery);
    const { sequence = Number(delivery.eventId), dueAt = 0, reason = '' } = delivery;
    if (topic === names.deliveriesDead) dead.push({ sequence, afterMs: Date.now() - start, reason });
    else {
      waiting.push({ ...delivery, sequence, dueAt });
      written.set(reason, (written.get(reason) ?? 0) + 1);
    }
    return Promise.resolve();
  };
  const followUps = new FollowUps({
    names,
    tiersMs,
    publisher: { publish },
    now: Date.now,
    ownership: { since: () => -Infinity },
    log: { error: () => undefined },
  });
  const write = ({ work, delivery }: Received, event: Event, onWritten?: () => void): void => {
    const effect = transition(
      delivery,
      event,
      { scheduleMs: tiersMs, windowMs, tiersMs, pauseMs },
      Date.now(),
    );
    if (effect.kind === 'delivered') assert.fail();
    followUps.write(work, effect, onWritten);
  };
  const writeDeadLetter = (job: Received, reason: DeadReason): void => {
    write(job, { kind: 'over', reason }, () => {
      order.ended(job);
    });
  };
  const send = ({ work, delivery }: Received): void => {
    const now = Date.now();
    const firstAttemptAt = windowBegan(delivery, receiver, now) ?? now;
    const job = { work, delivery: { ...delivery, firstAttemptAt } };
    if (!receiver.isDown) {
      delivered.push(delivery.sequence);
      order.ended(job);
    } else if (now >= firstAttemptAt + windowMs) writeDeadLetter(job, 'circuit-open');
    else {
      // Like the delivery that makes the probes.
      const latest = firstAttemptAt + windowMs;
      const parked = { ...job.delivery, reason: 'circuit-open' };
      const until = Math.min(now + minute, latest);
      const effect = { kind: 'wait', cause: 'parked', delivery: parked, until, latest } as const;
      order.left(job, followUps.write(work, effect) ?? assert.fail());
    }
  };
  const order = new Order<Received>({
    names,
    lane: { submit: send, isPaused: () => false },
    settle: {
      apply: (job, event) => {
        if (event.kind === 'over') writeDeadLetter(job, event.reason);
        else write(job, event);
        return Infinity;
      },
    },
    receivers: {
      known: () => undefined,
      receiverOf: (): Receiver => receiver,
      isOfDeletedUser: () => false,
    },
    waiting: {
      unfinished: () => [],
      position: () => ({ next: 1_000_000, end: 1_000_000 }),
      until: () => 0,
    },
    policies: { ofDelivery: () => ({ scheduleMs: [], tiersMs: [], windowMs, pauseMs: 0 }) },
    now: Date.now,
    log: { debug: () => undefined, warn: () => undefined },
  });
  const work = {
    topic: names.deliveries,
    partition: 0,
    timestamp: start,
    offset: 0,
    revoked: false,
    done: () => undefined,
  };
  const take = (delivery: Delivery): void => {
    order.arrive({ delivery, work: { ...work } });
  };
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  return {
    receiver,
    waiting,
    written,
    delivered,
    dead,
    settle,
    fresh: (sequence: number): void => {
      const ids = { deliveryId: 'd', eventId: String(sequence), sourceId: 's', destinationId: 'crm' };
      const progress = { attempt: 0, step: 0, deferrals: 0, closedUrls: [], sequence };
      take({ ...ids, ...progress, type: 'track', key: 'crm/ada', body: Buffer.from('{}') });
    },
    /** Lets time pass, and receives the records that are due. */
    until: async (ms: number): Promise<void> => {
      mock.timers.tick(200);
      await settle();
      for (let next = waiting.first; next && next.dueAt <= start + ms; next = waiting.first) {
        waiting.takeFirst();
        mock.timers.tick(Math.max(0, next.dueAt - Date.now()));
        take(next);
        if (waiting.first?.dueAt !== next.dueAt) await settle();
      }
      mock.timers.tick(Math.max(0, start + ms - Date.now()));
    },
    /** Recalls all waiting deliveries, in order. */
    recall: async (): Promise<void> => {
      const all = waiting.items.toSorted((a, b) => a.sequence - b.sequence);
      waiting.clear();
      for (const delivery of all) {
        take({ ...delivery, dueAt: Date.now() });
        await settle();
      }
    },
  };
}

const inOrder = Array.from({ length: 100 }, (_, sequence) => sequence);

describe('100 deliveries of a user at a receiver that is down', () => {
  test('die when their windows have ended, and are not rewritten at each step of the first', async (t) => {
    const queue = openQueue(t);
    for (const sequence of inOrder) queue.fresh(sequence);
    await queue.until(10 * hour);
    assert.equal(queue.dead.length, 100);
    for (const { afterMs, reason } of queue.dead) {
      assert.equal(reason, 'circuit-open');
      assert.ok(afterMs < windowMs + minute, `${afterMs}`);
    }
    assert.deepEqual(
      queue.dead.map(({ sequence }) => sequence).sort((a, b) => a - b),
      inOrder,
    );
    assert.ok((queue.written.get('behind') ?? 0) <= 700, `${queue.written.get('behind')}`);
    assert.equal(queue.waiting.size, 0);
  });

  test('arrive in order after a recovery and a recall, and none waits for its due time', async (t) => {
    const queue = openQueue(t);
    for (const sequence of inOrder.slice(0, 90)) queue.fresh(sequence);
    await queue.until(2 * hour);
    Object.assign(queue.receiver, { isDown: false, since: Date.now() });
    const recalled = queue.recall();
    for (const sequence of inOrder.slice(90)) queue.fresh(sequence);
    await recalled;
    await queue.until(2 * hour + 2 * minute);
    assert.deepEqual(queue.delivered, inOrder);
    assert.deepEqual(queue.dead, []);
  });

  test('arrive in order, within the longest delay, without a recall', async (t) => {
    const queue = openQueue(t);
    for (const sequence of inOrder) queue.fresh(sequence);
    await queue.until(2 * hour);
    Object.assign(queue.receiver, { isDown: false, since: Date.now() });
    await queue.until(3 * hour + minute);
    assert.deepEqual(queue.delivered, inOrder);
    assert.deepEqual(queue.dead, []);
  });

  test('do not die at the end of a window in which the receiver recovered', async (t) => {
    const queue = openQueue(t);
    for (const sequence of inOrder) queue.fresh(sequence);
    await queue.until(2 * hour);
    queue.receiver.since = Date.now();
    await queue.until(4 * hour + minute);
    assert.deepEqual(queue.dead, []);
    await queue.until(6 * hour + minute);
    assert.equal(queue.dead.length, 100);
  });

  test('are attempted after their windows where the time of the recovery is unknown', async (t) => {
    const queue = openQueue(t);
    for (const sequence of inOrder) queue.fresh(sequence);
    await queue.until(3 * hour);
    Object.assign(queue.receiver, { isDown: false, since: -Infinity });
    mock.timers.tick(2 * hour);
    await queue.until(6 * hour);
    assert.deepEqual(queue.delivered, inOrder);
    assert.deepEqual(queue.dead, []);
  });
});
