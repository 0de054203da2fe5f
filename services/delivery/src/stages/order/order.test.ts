import assert from 'node:assert/strict';
import { describe, mock, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import { readBack, type ConsumedRecord } from '@tailrace/kafka';
import { encodeDelivery, type Delivery } from '@tailrace/records';
import type { Received } from '../../delivery.ts';
import { newDelivery, names } from '../../testing/stage.ts';
import { Order } from './order.ts';

const start = 1_800_000_000_000;
const windowMs = 4 * 3_600_000;

interface TestJob extends Received {
  readonly name: string;
}

interface Owned {
  revoked: boolean;
}

/** An order with a clock of its own. `done` has its actions, in order. */
function openOrder(t: TestContext) {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: start });
  t.after(() => {
    mock.timers.reset();
  });
  const done: string[] = [];
  const warnings: string[] = [];
  const reads: number[][] = [];
  const asked: number[] = [];
  let answer: () => AsyncIterable<readonly ConsumedRecord[]> = () => inBatches([]);
  const position = { next: 1_000, end: 1_000 };
  const receiver = { isDown: false, since: -Infinity };
  const paused = { until: undefined as number | undefined };
  const order = new Order<TestJob>({
    names,
    lane: {
      submit: ({ name }) => done.push(`send ${name}`),
      isPaused: () => paused.until !== undefined,
    },
    settle: {
      apply: ({ name }, event) => {
        if (event.kind === 'paused') {
          done.push(`pause ${name}`);
          return paused.until ?? assert.fail();
        }
        if (event.kind === 'over') done.push(`give up ${name}`);
        if (event.kind === 'behind') {
          const { until, firstAttemptAt: began } = event;
          const since = began === undefined ? '' : ` since ${began - start}`;
          done.push(`behind ${name} until ${until - start}${since}`);
        }
        return Infinity;
      },
    },
    receivers: {
      known: () => undefined,
      receiverOf: () => receiver,
      isOfDeletedUser: () => false,
    },
    waiting: {
      unfinished: (partitions) => {
        reads.push([...partitions]);
        return [answer()];
      },
      position: (partition) => {
        asked.push(partition);
        return position;
      },
      until: ({ dueAt = 0, placeAt = 0 }) => Math.max(dueAt, placeAt),
    },
    policies: { ofDelivery: () => ({ scheduleMs: [], tiersMs: [], windowMs, pauseMs: 0 }) },
    log: {
      debug: () => undefined,
      warn: (...[, message]: readonly unknown[]) => {
        warnings.push(String(message));
      },
    },
    now: Date.now,
  });
  const job = (name: string, owned: Owned, more: Partial<Delivery> = {}, partition = 0): TestJob => ({
    name,
    delivery: newDelivery('crm', { sequence: Number(name), body: Buffer.from(name), ...more }),
    work: {
      topic: names.deliveries,
      partition,
      offset: Number(name),
      timestamp: start,
      get revoked() {
        return owned.revoked;
      },
      done: () => {
        done.push(`done ${name}`);
      },
    },
  });
  return {
    order,
    done,
    warnings,
    reads,
    asked,
    position,
    receiver,
    paused,
    job,
    due: (name: string, owned: Owned): TestJob => job(name, owned, { dueAt: start }),
    tiersHold: (read: typeof answer): void => {
      answer = read;
    },
    pass: async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 100) {
        mock.timers.tick(Math.min(100, ms - passed));
        await turn();
        await turn();
      }
    },
  };
}

async function* inBatches(batches: readonly (readonly ConsumedRecord[])[]) {
  await Promise.resolve();
  yield* batches;
}

function stored(
  sequence: number | undefined,
  dueInMs: number,
  key = 'crm/ada',
  partition = 0,
): ConsumedRecord {
  const { headers } = encodeDelivery('tier', {
    deliveryId: 'd',
    eventId: 'e',
    sourceId: 's',
    destinationId: 'crm',
    type: 'track',
    key,
    attempt: 1,
    step: 1,
    deferrals: 0,
    closedUrls: [],
    body: Buffer.alloc(0),
    dueAt: start + dueInMs,
    sequence,
  });
  return {
    topic: 'tier',
    partition,
    offset: 0,
    timestamp: start,
    value: Buffer.from('{}'),
    key: Buffer.from(key),
    ...readBack(headers),
  };
}

describe('order', () => {
  test('begins when the retry topics were read, once', async (t) => {
    const { order, done, reads, job, pass, tiersHold } = openOrder(t);
    const owned = { revoked: false };
    tiersHold(() => inBatches([[stored(3, 7_000), stored(undefined, 9_000)], [stored(4, 5_000, 'crm/bob')]]));
    order.arrive(job('5', owned));
    order.arrive(job('6', owned, { key: 'crm/eve' }));
    order.arrive(job('7', owned, {}, 1));
    assert.deepEqual(done, []);
    await pass(100);
    assert.deepEqual(done.splice(0), ['behind 5 until 7000', 'send 6', 'send 7']);
    order.arrive(job('8', owned, { key: 'crm/bob' }));
    assert.deepEqual(done, ['behind 8 until 5000']);
    assert.deepEqual(reads, [[0, 1]]);
  });

  test('sends deliveries of all topics in order', async (t) => {
    const { order, done, job, due, pass, tiersHold } = openOrder(t);
    const owned = { revoked: false };
    tiersHold(() => inBatches([[stored(3, 0), stored(4, 0)]]));
    const jobs = [job('5', owned), due('4', owned), due('3', owned)];
    for (const job of jobs) order.arrive(job);
    await pass(100);
    for (const job of jobs.toReversed()) order.ended(job);
    assert.deepEqual(done, ['send 3', 'send 4', 'send 5']);
  });

  test('ignores deliveries without a sequence', async (t) => {
    const { order, done, reads, job, pass } = openOrder(t);
    const unordered = job('5', { revoked: false }, { sequence: undefined });
    order.ended(unordered);
    order.left(unordered, start);
    await pass(500);
    assert.deepEqual([done, reads], [[], []]);
  });

  test('waits for Kafka where the retry topics cannot be read', async (t) => {
    const { order, done, job, pass, tiersHold } = openOrder(t);
    tiersHold(() => {
      throw new TailraceError('kafka-unavailable');
    });
    order.arrive(job('5', { revoked: false }));
    await pass(5_000);
    assert.deepEqual(done, []);
    tiersHold(() => inBatches([]));
    await pass(1_500);
    assert.deepEqual(done, ['send 5']);
  });

  test('is read again after another member owned the partition', async (t) => {
    const { order, done, reads, job, pass, tiersHold } = openOrder(t);
    const before = { revoked: false };
    const first = job('5', before);
    order.arrive(first);
    order.arrive(job('6', before));
    await pass(100);
    before.revoked = true;
    order.ended(first);
    order.left(first, start + 1_000);

    const after = { revoked: false };
    tiersHold(() => inBatches([[stored(5, 9_000)]]));
    order.arrive(job('6', after));
    await pass(100);
    assert.deepEqual(done, ['send 5', 'behind 6 until 9000']);
    assert.deepEqual(reads, [[0], [0]]);
  });

  test('holds back a retry until all earlier records of `deliveries` were received again', async (t) => {
    const { order, done, job, due, position, pass } = openOrder(t);
    const owned = { revoked: false };
    Object.assign(position, { next: 4, end: 10 });
    order.arrive(due('6', owned));
    await pass(2_000);
    assert.deepEqual(done, []);
    position.next = 7;
    order.arrive(job('5', owned));
    await pass(200);
    assert.deepEqual(done, ['send 5']);
    order.ended(job('5', owned));
    assert.deepEqual(done, ['send 5', 'send 6']);
  });

  test('does not wait for ever where `deliveries` ends earlier', async (t) => {
    const { order, done, due, position, pass } = openOrder(t);
    Object.assign(position, { next: 4, end: 4 });
    order.arrive(due('6', { revoked: false }));
    await pass(59_000);
    assert.deepEqual(done, []);
    await pass(3_000);
    assert.deepEqual(done, ['send 6']);
  });

  test('checks once for 10,000 held-back deliveries, and not for each', async (t) => {
    const { order, done, job, due, position, pass, asked } = openOrder(t);
    const owned = { revoked: false };
    Object.assign(position, { next: 1, end: 20_000 });
    order.arrive(job('0', owned));
    await pass(100);
    let looks = 0;
    for (let sequence = 10_000; sequence > 0; sequence -= 1) {
      const held = due(String(sequence), owned);
      const { delivery } = { ...held, delivery: { ...held.delivery, key: `crm/${sequence}` } };
      order.arrive(Object.defineProperty(held, 'delivery', { get: () => ((looks += 1), delivery) }));
    }
    looks = asked.length = 0;
    await pass(1_000);
    assert.deepEqual([looks, asked.length], [10, 10]);
    position.next = 3;
    await pass(100);
    assert.ok(looks < 200, `${looks}`);
    assert.deepEqual(done, ['send 0', 'send 1', 'send 2']);
  });

  test('unblocks a key that waits for a missing record, and no other key', async (t) => {
    const { order, done, warnings, job, due, pass, tiersHold } = openOrder(t);
    const owned = { revoked: false };
    tiersHold(() => inBatches([[stored(3, 0), stored(4, 0, 'crm/bob')]]));
    for (const arrived of [job('5', owned), job('6', owned, { key: 'crm/bob' })]) order.arrive(arrived);
    await pass(100);
    assert.deepEqual(done.splice(0), ['behind 5 until 100', 'behind 6 until 100']);
    await pass(61_000);
    tiersHold(() => inBatches([[stored(4, 0, 'crm/bob'), stored(5, 0), stored(6, 0, 'crm/bob')]]));
    order.arrive(due('5', owned));
    await pass(6_000);
    assert.deepEqual(done.splice(0), ['behind 5 until 122200']);
    order.arrive(due('5', owned));
    order.arrive(job('6', owned, { key: 'crm/bob', dueAt: start }));
    assert.deepEqual(done, ['send 5', 'behind 6 until 134200']);
    assert.deepEqual(warnings, ['deliveries missing from retry topics; unblocking later ones']);
  });

  test('does not count as missing what ends while it is looked for', async (t) => {
    const { order, done, warnings, job, due, pass, tiersHold } = openOrder(t);
    const owned = { revoked: false };
    tiersHold(() => inBatches([[stored(3, 0)]]));
    order.arrive(job('5', owned));
    await pass(61_000);
    tiersHold(() => inBatches([[stored(5, 0)]]));
    order.arrive(due('5', owned));
    await pass(1_000);
    const late = due('3', owned);
    order.arrive(late);
    order.ended(late);
    await pass(6_000);
    assert.ok(done.includes('send 3'));
    assert.deepEqual(warnings, []);
  });

  test('lets later deliveries wait longer where the receiver is down, and begins their windows', async (t) => {
    const { order, done, receiver, job, pass } = openOrder(t);
    const owned = { revoked: false };
    const first = job('5', owned);
    order.arrive(first);
    order.arrive(job('6', owned));
    order.arrive(job('7', owned, { attempt: 1, firstAttemptAt: start - 1_000 }));
    await pass(100);
    Object.assign(receiver, { isDown: true, since: start - 5_000 });
    order.left(first, start + 8_000);
    const restarted = { dueAt: start + 100, firstAttemptAt: start - 60_000 };
    order.arrive(job('8', owned, restarted));
    order.arrive(job('9', owned, { firstAttemptAt: start + 50 - windowMs }));
    receiver.since = start - 2 * windowMs;
    order.arrive(job('10', owned));
    assert.deepEqual(done, [
      'send 5',
      'behind 6 until 51100 since 100',
      'behind 7 until 51100 since -1000',
      'behind 8 until 51100 since -5000',
      'behind 9 until 51100 since -5000',
      `behind 10 until ${windowMs + 100} since 100`,
    ]);
  });

  test('gives up a waiting delivery whose window has ended, or whose receiver was down for all of it', async (t) => {
    const { order, done, receiver, job, pass } = openOrder(t);
    const owned = { revoked: false };
    const old = { dueAt: start, firstAttemptAt: start - windowMs };
    order.arrive(job('5', owned));
    await pass(100);
    order.left(job('5', owned), start + 8_000);
    order.arrive(job('6', owned, old));
    Object.assign(receiver, { isDown: true, since: start - 1_000 });
    order.arrive(job('7', owned, old));
    const [attempted, parked] = [job('8', owned, { ...old, attempt: 1 }), job('9', owned, old)];
    order.arrive(attempted);
    receiver.since = start - windowMs;
    order.arrive(parked);
    assert.deepEqual(done, [
      'send 5',
      'behind 6 until 8000',
      'behind 7 until 11100 since -1000',
      'give up 8',
      'give up 9',
    ]);
    for (const name of ['5', '6', '7']) {
      order.arrive(job(name, owned, { dueAt: start }));
      order.ended(job(name, owned));
    }
    order.ended(attempted);
    order.arrive(job('10', owned));
    order.ended(parked);
    order.arrive(job('10', owned, { dueAt: start }));
    const behind = `behind 10 until ${windowMs + 100} since 100`;
    assert.deepEqual(done.slice(5), ['send 5', 'send 6', 'send 7', behind, 'send 10']);
  });

  test('expects a recovered receiver to stay up as long as it has been up', async (t) => {
    const { order, done, receiver, job, pass } = openOrder(t);
    const owned = { revoked: false };
    order.arrive(job('5', owned));
    await pass(100);
    order.left(job('5', owned), start + 3_600_000);
    Object.assign(receiver, { isDown: false, since: start });
    order.arrive(job('6', owned, { firstAttemptAt: start - 1_000 }));
    receiver.since = start - 60_000;
    order.arrive(job('7', owned));
    assert.deepEqual(done, ['send 5', 'behind 6 until 10100', 'behind 7 until 60200']);
  });

  test('unblocks a key when the delivery it waited for has left without its turn', async (t) => {
    const { order, done, job, due, pass, tiersHold } = openOrder(t);
    const owned = { revoked: false };
    tiersHold(() => inBatches([[stored(3, 0)]]));
    order.arrive(job('5', owned));
    await pass(100);
    assert.deepEqual(done.splice(0), ['behind 5 until 100']);
    order.removed(due('3', owned));
    order.arrive(due('5', owned));
    assert.deepEqual(done, ['send 5']);
  });

  test('does nothing after it was stopped', async (t) => {
    const { order, done, job, pass } = openOrder(t);
    const owned = { revoked: false };
    const first = job('5', owned);
    order.arrive(first);
    order.arrive(job('6', owned));
    await pass(100);
    order.stop();
    order.left(first, start);
    order.ended(first);
    order.arrive(job('7', owned));
    await pass(500);
    assert.deepEqual(done, ['send 5']);
  });
});
