import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { readBack, type ConsumedRecord, type OwnedPartition } from '@tailrace/kafka';
import { isMarked, type Delivery, type RecallKind } from '@tailrace/records';
import type { Received } from '../../delivery.ts';
import { Budget } from './budget.ts';
import { Part } from './part.ts';
import { Recall } from './recall.ts';

const topic = 'deliveries.retry.1h';
const number = 3;
const soon = 2_000_000;

function deliveryOf(offset: number, more: Partial<Delivery> = {}): Delivery {
  return {
    deliveryId: `d-${offset}`,
    eventId: 'e',
    sourceId: 'web',
    destinationId: 'crm',
    type: 'track',
    attempt: 1,
    step: 1,
    deferrals: 0,
    closedUrls: [],
    key: `crm/${offset}`,
    body: Buffer.from('{}'),
    dueAt: soon,
    ...more,
  };
}

interface Options {
  readonly kind?: RecallKind;
  readonly end?: number;
  /** The position of the group. */
  readonly next?: number;
}

/** A recall of one partition of one retry topic, with a simulated group and receiver. */
function openRecall({ kind = 'retry', end = 100, next = 0 }: Options = {}) {
  const owned: { -readonly [Name in keyof OwnedPartition]: OwnedPartition[Name] } = {
    revoked: false,
    next,
    committable: next,
  };
  const dispatched: Received[] = [];
  const delayed: Received[] = [];
  let unread = 0;
  let ended = false;
  let isBlocked = false;
  const recall = new Recall(
    { destinationId: 'crm', kind, cause: { kind: 'resume' } },
    {
      budget: new Budget(),
      passes: { add: () => (unread += 1) },
      pipeline: {
        retry: (job) => dispatched.push(job),
        drain: (job) => dispatched.push(job),
        delay: (job) => delayed.push(job),
      },
      lanes: { paused: false, hasCapacityFor: () => true },
      receivers: { isBlocked: () => isBlocked },
      times: {
        read: ({ offset, headers }) => {
          const sequence = headers['sequence'];
          const key = headers['user']?.toString() ?? String(offset);
          return deliveryOf(offset, { key, ...(sequence && { sequence: Number(sequence.toString()) }) });
        },
      },
      publishedWithinMs: Infinity,
      now: () => 1_000_000,
      onEnd: () => (ended = true),
    },
  );
  const recalled = { number, owned, marks: [], counted: 0, parts: [new Part(topic, owned, end, [])] };
  const offsets = (jobs: readonly Received[]): number[] => jobs.map(({ work }) => work.offset);
  const record = (offset: number, ordered?: readonly [sequence: number, user: string]): ConsumedRecord => ({
    topic,
    partition: number,
    offset,
    timestamp: 0,
    key: null,
    value: null,
    ...readBack(ordered && { sequence: String(ordered[0]), user: ordered[1] }),
  });
  return {
    recall,
    owned,
    record,
    delayed,
    get dispatched() {
      return offsets(dispatched);
    },
    get unread() {
      return unread;
    },
    get ended() {
      return ended;
    },
    open: (...ahead: readonly Received[]): void => {
      recall.open([recalled], ahead);
    },
    block: (is: boolean): void => {
      isBlocked = is;
    },
    /** Receives a record from the group. The result is updated when its work is done. */
    receive(offset: number, more: Partial<Delivery> = {}) {
      const received = { done: false, accepted: false };
      const work = {
        topic,
        partition: number,
        offset,
        timestamp: 0,
        revoked: false,
        done: () => {
          received.done = true;
        },
      };
      owned.next = offset + 1;
      received.accepted = recall.receive({ work, delivery: deliveryOf(offset, more) });
      return received;
    },
    /** Reads these records, and then the topic to its end. */
    async read(...records: readonly ConsumedRecord[]): Promise<void> {
      for (const one of records) await recall.offer(one);
      recall.topicRead(topic);
      recall.passEnded();
    },
    finish(offset: number): void {
      dispatched.find(({ work }) => work.offset === offset)?.work.done();
    },
    /** Whether a later owner would drop the record. */
    isFinished: (offset: number, sequence?: number): boolean =>
      recall
        .stateOf(recalled)
        .marks.some((mark) => isMarked(mark, { topic, offset, timestamp: 0 }, sequence)),
  };
}

describe('a record that the group reads', () => {
  test('is dropped where it was recalled and is finished', async () => {
    const opened = openRecall();
    opened.open();
    await opened.read(opened.record(5));
    opened.finish(5);
    assert.deepEqual(opened.receive(5), { done: true, accepted: true });
    assert.deepEqual(opened.dispatched, [5]);
    assert.ok(opened.ended);
  });

  test('is finished together with the recalled delivery', async () => {
    const opened = openRecall();
    opened.open();
    await opened.read(opened.record(5));
    const received = opened.receive(5);
    assert.deepEqual(received, { done: false, accepted: true });
    assert.equal(opened.ended, false);
    opened.finish(5);
    assert.ok(received.done && opened.ended);
  });

  test('is recalled before the pass reads it, and not again then', async () => {
    const opened = openRecall();
    opened.open();
    const received = opened.receive(5);
    await opened.read(opened.record(5), opened.record(6));
    assert.deepEqual(opened.dispatched, [5, 6]);
    opened.finish(5);
    assert.ok(received.done && !opened.ended);
  });

  test('is not part of the recall where it was written later', () => {
    const opened = openRecall({ end: 10 });
    opened.open();
    assert.equal(opened.receive(10).accepted, false);
  });
});

test('deliveries that were read ahead are recalled, and later ones are not', () => {
  const opened = openRecall({ end: 10, next: 12 });
  const ahead = [8, 11].map((offset) => ({
    work: { topic, partition: number, offset, timestamp: 0, revoked: false, done: () => undefined },
    delivery: deliveryOf(offset),
  }));
  opened.open(...ahead);
  assert.deepEqual(opened.dispatched, [8]);
  assert.deepEqual(opened.delayed, ahead.slice(1));
});

test('a limited number is in flight, and the next is dispatched when one has ended', async () => {
  const opened = openRecall({ end: 1_000 });
  opened.open();
  const records = Array.from({ length: 201 }, (_, offset) => opened.record(offset));
  const reading = opened.read(...records);
  await turn();
  assert.equal(opened.dispatched.length, 200);
  opened.finish(7);
  await reading;
  assert.equal(opened.dispatched.length, 201);
});

describe('the state for a later owner', () => {
  test('has finished records, and none that is in flight or unread', async () => {
    const opened = openRecall();
    opened.open();
    for (const offset of [4, 5, 6]) await opened.recall.offer(opened.record(offset));
    opened.finish(4);
    opened.finish(6);
    assert.deepEqual(
      [4, 5, 6, 7].map((offset) => opened.isFinished(offset)),
      [true, false, true, false],
    );
  });

  test('has no record that waits for its due time again', async () => {
    const opened = openRecall();
    opened.open();
    opened.block(true);
    const received = opened.receive(5);
    opened.recall.stop();
    assert.equal(opened.isFinished(5), false);
    assert.equal(opened.delayed.length, 1);
    assert.equal(opened.delayed[0]?.delivery.dueAt, soon);
    assert.deepEqual([received, opened.ended], [{ accepted: true, done: false }, true]);
    await turn();
  });

  test('has no marks where the partition was revoked', async () => {
    const opened = openRecall();
    opened.open();
    await opened.read(opened.record(5));
    opened.owned.revoked = true;
    opened.recall.tick();
    assert.equal(opened.isFinished(5), false);
    assert.ok(opened.ended);
  });
});

test('a recall stops where the receiver is down again', async () => {
  const opened = openRecall();
  opened.open();
  await opened.recall.offer(opened.record(1));
  opened.block(true);
  assert.equal(await opened.recall.offer(opened.record(2)), false);
  await turn();
  opened.recall.passEnded();
  assert.equal(opened.ended, false);
  opened.finish(1);
  assert.ok(opened.ended);
  assert.equal(opened.receive(2).accepted, false);
  assert.deepEqual([opened.isFinished(1), opened.isFinished(2)], [true, false]);
});

describe('ordered deliveries', () => {
  test('are dispatched in the order of their sequences, one of a user at a time', async () => {
    const opened = openRecall();
    opened.open();
    assert.equal(await opened.recall.offer(opened.record(1, [9, 'ada'])), false);
    opened.recall.passEnded();
    await opened.read(
      opened.record(1, [9, 'ada']),
      opened.record(2, [4, 'ada']),
      opened.record(3, [7, 'eve']),
    );
    assert.deepEqual(opened.dispatched, [2, 3]);
    assert.deepEqual(
      [opened.isFinished(1, 9), opened.isFinished(2, 4), opened.isFinished(3, 7)],
      [false, false, false],
    );
    opened.finish(2);
    assert.deepEqual(opened.dispatched, [2, 3, 1]);
    assert.deepEqual([opened.isFinished(1, 9), opened.isFinished(2, 4)], [false, true]);
    opened.finish(3);
    opened.finish(1);
    assert.ok(opened.ended);
    assert.deepEqual([opened.isFinished(1, 9), opened.isFinished(3, 7)], [true, true]);
  });

  test('that do not fit into memory are read again, in order', async () => {
    const count = 5_000;
    const opened = openRecall({ end: count });
    opened.open();
    opened.recall.pass = 'alone';
    // The later ones come first.
    const records = Array.from({ length: count }, (_, offset) =>
      opened.record(offset, [count - offset, `user ${offset}`]),
    );
    const isFinished = (): boolean => opened.ended;
    while (!isFinished()) {
      const before = opened.unread;
      await opened.read(...records);
      while (opened.unread === before && !isFinished()) {
        for (const offset of opened.dispatched.slice(-200)) opened.finish(offset);
      }
    }
    assert.ok(opened.unread > 2);
    assert.deepEqual(opened.dispatched, records.map(({ offset }) => offset).reverse());
  });

  test('that were in memory when the recall stopped are not finished', async () => {
    const opened = openRecall();
    opened.open();
    opened.recall.pass = 'alone';
    await opened.read(
      opened.record(1, [4, 'ada']),
      opened.record(2, [5, 'ada']),
      opened.record(3, [6, 'eve']),
    );
    assert.deepEqual(opened.dispatched, [1, 3]);
    opened.recall.stop();
    opened.finish(1);
    opened.finish(3);
    assert.deepEqual(
      [opened.isFinished(1, 4), opened.isFinished(2, 5), opened.isFinished(3, 6)],
      [true, false, true],
    );
    assert.equal(opened.receive(2, { sequence: 5, key: 'ada' }).accepted, false);
  });

  test('are drained in any order', async () => {
    const opened = openRecall({ kind: 'drain' });
    opened.open();
    opened.block(true);
    await opened.read(opened.record(1, [9, 'ada']), opened.record(2, [4, 'ada']));
    assert.deepEqual(opened.dispatched, [1, 2]);
    opened.finish(1);
    assert.deepEqual([opened.isFinished(1, 9), opened.isFinished(2, 4)], [true, false]);
  });
});
