/** The history with a fake tail that the tests advance. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { describe, test, type TestContext } from 'node:test';
import { eventually } from '@tailrace/testing';
import { matches, type DeadLetterFilter } from '@tailrace/deadletters';
import { isTailraceError } from '@tailrace/errors';
import {
  readBack,
  type ConsumedRecord,
  type OutgoingRecord,
  type TailOptions,
  type TailPart,
} from '@tailrace/kafka';
import { encodeDelivery, type AttemptRecord, type Delivery } from '@tailrace/records';
import { topicNames } from '@tailrace/topology';
import fc from 'fast-check';
import type { DeliveryFilter } from './tables/deliveries.ts';
import { History, type HistoryOptions } from './history.ts';
import type { HistoryLimits } from './retention.ts';
import { countLetters } from './slices.ts';

const names = topicNames('t.');
const topics = [
  names.deliveries,
  names.deliveriesDead,
  names.deliveriesReplay,
  names.attempts,
  names.usage,
  names.decisions,
  names.retryTier(1_000),
];
const dayMs = 86_400_000;
const now = Math.floor(Date.now() / 1_000) * 1_000;

/** A log that every opened history reads from its start. */
function createTopics() {
  const log: ConsumedRecord[] = [];
  /** Of deliveries.dead. */
  const lows = { low: 0, high: 0 };
  const ends = new Map<string, number>();
  const readers = new Set<() => Promise<void>>();
  const buffer = (text: string | Buffer | null): Buffer | null => (text === null ? null : Buffer.from(text));
  return {
    log,
    lows,
    append(record: OutgoingRecord, timestamp: number): void {
      const { topic, key, value, headers } = record;
      const offset = ends.get(topic) ?? 0;
      ends.set(topic, offset + 1);
      log.push({
        topic,
        partition: 0,
        offset,
        timestamp,
        key: buffer(key),
        value: buffer(value),
        ...readBack(headers),
      });
    },
    kafka: {
      clusterId: () => Promise.resolve('cluster'),
      listTopics: () => Promise.resolve(topics),
      offsets: () => Promise.resolve(new Map([[0, lows]])),
      finished: () => Promise.resolve(new Map()),
      tail: ({ startOf, onRecords }: TailOptions) => {
        const next = new Map(topics.map((topic) => [topic, startOf(topic, 0) ?? 0]));
        const read = async (): Promise<void> => {
          const parts: TailPart[] = [];
          for (const topic of topics) {
            const records = log.filter(
              (record) => record.topic === topic && record.offset >= (next.get(topic) ?? 0),
            );
            if (records.length === 0) continue;
            next.set(topic, records.length + (next.get(topic) ?? 0));
            parts.push({ records, position: { topic, partition: 0, next: next.get(topic) ?? 0 } });
          }
          if (parts.length > 0) await onRecords(parts);
        };
        readers.add(read);
        const close = (): Promise<void> => {
          readers.delete(read);
          return Promise.resolve();
        };
        return Promise.resolve({ healthy: true, behind: 0, lagMs: 0, refresh: read, close });
      },
    },
  };
}

type Topics = ReturnType<typeof createTopics>;

interface Opened {
  readonly history: History;
  readonly folder: string;
  readonly logged: string[];
}

interface OpenOptions extends Pick<HistoryOptions, 'prepareStore'> {
  readonly folder?: string;
  readonly limits?: Partial<HistoryLimits>;
}

async function open(
  t: TestContext,
  { kafka }: Pick<Topics, 'kafka'>,
  { folder = newFolder(t), limits = {}, ...more }: OpenOptions = {},
): Promise<Opened> {
  const logged: string[] = [];
  const log = (_fields: unknown, message?: string) => logged.push(String(message));
  const history = new History({
    ...more,
    kafka,
    names,
    deliveryGroup: 't.delivery',
    folder,
    limits: { maxAgeMs: 7 * dayMs, maxBytes: 2 ** 30, ...limits },
    log: { info: log, warn: log },
  });
  t.after(() => history.close());
  await eventually(() => history.refresh().then(() => true, unlessUnavailable));
  return { history, folder, logged };
}

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tailrace-history-'));
  t.after(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

function unlessUnavailable(error: unknown): false {
  if (!isTailraceError(error, 'history-unavailable')) throw error;
  return false;
}

function delivery(id: string, more: Partial<Delivery> = {}): Delivery {
  const destinationId = more.destinationId ?? 'crm';
  return {
    deliveryId: id,
    eventId: `e-${id}`,
    sourceId: 'web',
    destinationId,
    type: 'track',
    eventName: 'Signed Up',
    attempt: 0,
    step: 0,
    deferrals: 0,
    closedUrls: [],
    key: `${destinationId}/u-1`,
    body: Buffer.from('{}'),
    ...more,
  };
}

function attempt(of: Delivery, startedAt: number, more: Partial<AttemptRecord> = {}): OutgoingRecord {
  const { deliveryId, eventId, sourceId, destinationId, type, eventName } = of;
  const record: AttemptRecord = {
    deliveryId,
    eventId,
    sourceId,
    destinationId,
    type,
    event: eventName,
    userKey: 'u-1',
    attempt: 1,
    startedAt: new Date(startedAt).toISOString(),
    latencyMs: 12.5,
    outcome: 'delivered',
    urls: [{ url: 'https://crm.example/hook', status: 200, latencyMs: 12.5 }],
    ...more,
  };
  return { topic: names.attempts, key: deliveryId, value: JSON.stringify(record) };
}

const retry = {
  outcome: 'retry',
  reason: 'timeout',
  nextDueAt: new Date(now + 9_000).toISOString(),
} as const;

// Some wait a second or two for the next look of an instance, so they run at the same time.
describe('the history', { concurrency: true }, () => {
  test('the history follows a delivery from the router to its end', async (t) => {
    const topics = createTopics();
    const { history } = await open(t, topics);
    const one = delivery('d-1');
    const statusNow = async (): Promise<unknown[]> => {
      await history.refresh();
      const found = history.read((queries) => queries.findDelivery('d-1'));
      return [found?.state.status, found?.state.reason, found?.state.nextDueAt, found?.attempts];
    };
    topics.append(encodeDelivery(names.deliveries, one), now);
    assert.deepEqual(await statusNow(), ['waiting', null, null, 0]);
    topics.append(attempt(one, now + 10, retry), now + 40);
    assert.deepEqual(await statusNow(), ['retrying', 'timeout', now + 9_000, 1]);
    const parked = { ...one, attempt: 1, step: 2, reason: 'circuit-open', dueAt: now + 20_000 };
    topics.append(encodeDelivery(names.retryTier(1_000), parked), now + 9_000);
    assert.deepEqual(await statusNow(), ['retrying', 'circuit-open', now + 20_000, 1]);
    topics.append(
      encodeDelivery(names.deliveriesDead, { ...parked, reason: 'destination-disabled' }),
      now + 20_000,
    );
    assert.deepEqual(await statusNow(), ['dead', 'destination-disabled', null, 1]);
    topics.append(encodeDelivery(names.deliveriesReplay, one), now + 30_000);
    assert.deepEqual(await statusNow(), ['waiting', null, null, 1]);
    topics.append(attempt(one, now + 30_010), now + 30_100);
    assert.deepEqual(await statusNow(), ['delivered', null, null, 2]);
    assert.deepEqual(
      history
        .read((queries) => queries.attemptsOf('d-1'))
        .map(({ startedAt, outcome }) => [startedAt, outcome]),
      [
        [now + 10, 'retry'],
        [now + 30_010, 'delivered'],
      ],
    );
  });

  test('the outcomes of a group of events are counted by destination', async (t) => {
    const topics = createTopics();
    const { history } = await open(t, topics);
    const send = (eventId: string, destinationId: string) => {
      const one = delivery(`${eventId} ${destinationId}`, { eventId, destinationId });
      topics.append(encodeDelivery(names.deliveries, one), now);
      return one;
    };
    for (const eventId of ['deletion/a/0', 'deletion/a/1', 'deletion/a', 'deletion/a0', 'deletion/b/0']) {
      topics.append(attempt(send(eventId, 'crm'), now), now);
    }
    const dead = { ...send('deletion/a/0', 'erp'), reason: 'client-error' };
    topics.append(encodeDelivery(names.deliveriesDead, dead), now);
    send('deletion/a/1', 'erp');
    await history.refresh();
    assert.deepEqual(
      history.read((queries) => queries.outcomesOfEvents('deletion/a')),
      [
        { destinationId: 'crm', delivered: 2, dead: 0 },
        { destinationId: 'erp', delivered: 0, dead: 1 },
      ],
    );
  });

  /** The answers to all queries. */
  function everything(history: History) {
    const all = history.read((queries) => queries.listDeliveries({}, 10_000)).rows;
    const letters = history.read((queries) => queries.listDeadLetters({}, 10_000)).rows;
    return {
      all,
      attempts: all.map(({ id }) => history.read((queries) => queries.attemptsOf(id))),
      failures: ['crm', 'erp'].map((id) => history.read((queries) => queries.failuresOf(id, 0))),
      steps: ['crm', 'erp'].map((id) => [
        ...history.read((queries) => queries.countsOf(id, { since: 0, until: Infinity, stepMs: 60_000 })),
      ]),
      days: history.read((queries) => queries.daysOf('web', {})),
      events: history.read((queries) => queries.eventsOf('web', 1_000)),
      other: history.read((queries) => queries.otherEventsOf('web')),
      letters: [...letters].sort((a, b) => a.offset - b.offset),
      counts: history.read((queries) => queries.countDeadLetters({})),
    };
  }

  /** Distinct times, far from the age limit. */
  function fill(topics: Topics, count: number): void {
    for (let n = 0; n < count; n++) {
      const at = now - (count - n) * 1_000;
      const one = delivery(`d-${n}`, {
        destinationId: n % 3 === 0 ? 'erp' : 'crm',
        type: n % 4 === 0 ? 'page' : 'track',
        eventName: n % 4 === 0 ? undefined : `Event ${n % 5}`,
        key: `${n % 3 === 0 ? 'erp' : 'crm'}/u-${n % 7}`,
      });
      topics.append(encodeDelivery(names.deliveries, one), at);
      if (n % 2 === 0) topics.append(attempt(one, at + 10, n % 10 === 0 ? retry : {}), at + 30);
      if (n % 10 === 0) {
        const due = { ...one, attempt: 1, step: 1, reason: 'timeout', dueAt: at + 9_000 };
        topics.append(encodeDelivery(names.retryTier(1_000), due), at + 40);
      }
      if (n % 15 === 0)
        topics.append(encodeDelivery(names.deliveriesDead, { ...one, reason: 'timeout' }), at + 50);
    }
    const usage = {
      sourceId: 'web',
      day: new Date(now).toISOString().slice(0, 10),
      calls: { track: count },
      filtered: 1,
    };
    const times = { firstAt: new Date(now - 5_000).toISOString(), lastAt: new Date(now).toISOString() };
    const events = [{ event: 'Event 1', calls: count, filtered: 1, ...times }];
    for (let n = 0; n < 2; n++) {
      topics.append({ topic: names.usage, key: 'web', value: JSON.stringify({ ...usage, events }) }, now);
    }
  }

  test('a reopened history continues from its offsets, and a rebuilt one gives the same answers', async (t) => {
    const topics = createTopics();
    fill(topics, 60);
    const first = await open(t, topics);
    const before = everything(first.history);
    assert.equal(before.all.length, 60);
    assert.deepEqual(before.days[0]?.byType, { track: 120 });
    await first.history.close();

    const again = await open(t, topics, { folder: first.folder });
    assert.deepEqual(everything(again.history), before);
    topics.append(encodeDelivery(names.deliveries, delivery('d-late')), now);
    await again.history.refresh();
    const after = everything(again.history);
    assert.equal(after.all.length, 61);

    const rebuilt = await open(t, topics);
    assert.deepEqual(everything(rebuilt.history), after);
  });

  test('a duplicate attempt record counts once', async (t) => {
    const topics = createTopics();
    const one = delivery('d-1');
    for (let n = 0; n < 2; n++) topics.append(attempt(one, now), now);
    const { history } = await open(t, topics);
    assert.equal(history.read((queries) => queries.findDelivery('d-1'))?.attempts, 1);
    const [counts] = history
      .read((queries) => queries.countsOf('crm', { since: 0, until: Infinity, stepMs: 60_000 }))
      .values();
    assert.deepEqual(counts?.outcomes, { delivered: 1 });
  });

  test('each filter and each pair of filters lists the matching deliveries in pages, newest first', async (t) => {
    const topics = createTopics();
    fill(topics, 60);
    const { history } = await open(t, topics);
    const all = history.read((queries) => queries.listDeliveries({}, 1_000)).rows;
    const filter: fc.Arbitrary<DeliveryFilter> = fc.record(
      {
        destinationId: fc.constantFrom('crm', 'erp', 'none', ['crm', 'erp'], ['none', 'erp'], []),
        sourceId: fc.constantFrom('web', 'none', ['web'], ['ios', 'none']),
        type: fc.constantFrom('page', 'track'),
        event: fc.constantFrom('Event 1', 'Event 2'),
        userKey: fc.constantFrom('u-1', 'u-2'),
        status: fc.constantFrom('waiting', 'retrying', 'delivered', 'dead'),
        since: fc.integer({ min: now - 60_000, max: now }),
        until: fc.integer({ min: now - 60_000, max: now }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(filter, fc.integer({ min: 1, max: 20 }), (filter, limit) => {
        const { status, since = 0, until = Infinity, ...equal } = filter;
        const expected = all.filter(
          (row) =>
            Object.entries(equal).every(([name, value]) =>
              [value].flat().some((one) => row[name as keyof typeof row] === one),
            ) &&
            (status === undefined || row.state.status === status) &&
            row.createdAt >= since &&
            row.createdAt < until,
        );
        const found: string[] = [];
        for (
          let slice = history.read((queries) => queries.listDeliveries(filter, limit));
          ;
          slice = history.read((queries) => queries.listDeliveries(filter, limit, slice.reached))
        ) {
          found.push(...slice.rows.map(({ id }) => id));
          if (!slice.reached) break;
        }
        assert.deepEqual(
          found,
          expected.map(({ id }) => id),
        );
      }),
    );
  });

  test('deliveries beyond the age limit are removed, and not stored again', async (t) => {
    const topics = createTopics();
    topics.append(encodeDelivery(names.deliveries, delivery('d-old')), now - 2 * dayMs);
    topics.append(encodeDelivery(names.deliveries, delivery('d-new')), now);
    const first = await open(t, topics);
    assert.equal(first.history.read((queries) => queries.listDeliveries({}, 10)).rows.length, 2);
    await first.history.close();
    const { history } = await open(t, topics, { folder: first.folder, limits: { maxAgeMs: dayMs } });
    await eventually(() => history.read((queries) => queries.listDeliveries({}, 10)).rows.length === 1);
    assert.equal(history.read((queries) => queries.listDeliveries({}, 10)).rows[0]?.id, 'd-new');
  });

  test('above the size limit the oldest deliveries of the source and destination with the most are removed', async (t) => {
    const topics = createTopics();
    for (let n = 0; n < 40; n++) {
      const quiet = delivery(`quiet-${n}`, n % 2 === 0 ? { sourceId: 'ios' } : { destinationId: 'erp' });
      topics.append(encodeDelivery(names.deliveries, quiet), now - 6 * dayMs + n);
    }
    fill(topics, 3_000);
    const limits = { maxBytes: 2 ** 20 };
    const { history } = await open(t, topics, { limits });
    const kept = history.read((queries) => queries.listDeliveries({}, 10_000)).rows;
    assert.ok(history.status.bytes <= limits.maxBytes, `${history.status.bytes} bytes`);
    assert.ok(kept.length > 500 && kept.length < 3_000, `${kept.length} are kept`);
    assert.equal(kept[0]?.id, 'd-2999');
    assert.deepEqual(
      history.read((queries) => queries.attemptsOf('d-2')),
      [],
    );
    assert.equal(
      history.read((queries) => queries.listDeliveries({ sourceId: 'ios' }, 100)).rows.length,
      20,
      'the other source keeps its history',
    );
    const erp = history.read((queries) => queries.listDeliveries({ destinationId: 'erp' }, 10_000)).rows;
    const crm = kept.filter(({ sourceId, destinationId }) => sourceId === 'web' && destinationId === 'crm');
    // Rows are removed in portions of 500.
    assert.ok(
      crm.length - erp.length <= 500,
      `the larger destination has ${crm.length}, the other ${erp.length}`,
    );
  });

  test('a flood of long event names does not remove deliveries, and is counted together', async (t) => {
    const topics = createTopics();
    fill(topics, 200);
    const day = new Date(now).toISOString().slice(0, 10);
    const times = { firstAt: new Date(now).toISOString(), lastAt: new Date(now).toISOString() };
    const usageOf = (sourceId: string, events: readonly string[]): OutgoingRecord => {
      const counted = events.map((event) => ({ event, calls: 1, filtered: 0, ...times }));
      const usage = { sourceId, day, calls: { track: events.length }, filtered: 0, events: counted };
      return { topic: names.usage, key: sourceId, value: JSON.stringify(usage) };
    };
    for (let n = 0; n < 2_700; n += 10) {
      const long = Array.from({ length: 10 }, (_, index) => `${n + index}${'x'.repeat(30_000)}`);
      topics.append(usageOf('web', long), now);
    }
    for (let n = 0; n < 2_000; n += 100) {
      const short = Array.from({ length: 100 }, (_, index) => `Name ${n + index}`);
      topics.append(usageOf('web', short), now);
    }
    const { history } = await open(t, topics, { limits: { maxBytes: 2 ** 20 } });
    assert.equal(history.read((queries) => queries.listDeliveries({}, 1_000)).rows.length, 200);
    assert.equal(history.read((queries) => queries.eventsOf('web', 10_000)).length, 500);
    assert.equal(history.read((queries) => queries.otherEventsOf('web'))?.calls, 2_700 + 2_000 - 499);
    assert.ok(history.status.bytes < 2 ** 20, `${history.status.bytes} bytes`);
  });

  test('a long event name, user and id are stored bounded, and found', async (t) => {
    const topics = createTopics();
    const long = 'n'.repeat(30_000);
    const one = delivery('d-long', { eventName: `${long}1`, eventId: `${long}2`, key: `crm/${long}3` });
    topics.append(encodeDelivery(names.deliveries, one), now);
    topics.append(encodeDelivery(names.deliveriesDead, { ...one, reason: 'timeout' }), now);
    const { history } = await open(t, topics);
    const [found] = history.read((queries) => queries.listDeliveries({ event: `${long}1` }, 10)).rows;
    assert.equal(found?.event?.length, 200);
    assert.deepEqual(history.read((queries) => queries.listDeliveries({ userKey: `${long}3` }, 10)).rows, [
      found,
    ]);
    assert.deepEqual(history.read((queries) => queries.listDeliveries({ userKey: `${long}4` }, 10)).rows, []);
    assert.deepEqual(history.read((queries) => queries.ofEvent(`${long}2`)).deliveries, [found]);
    assert.equal(
      history.read((queries) => queries.listDeadLetters({ userKey: `${long}3` }, 10)).rows.length,
      1,
    );
  });

  /** `count` dead letters, of which the first `replayed` were replayed. */
  function fillDead(topics: Topics, count: number, replayed: number): void {
    for (let n = 0; n < count; n++) {
      const one = delivery(`d-${n}`, {
        destinationId: n % 3 === 0 ? 'erp' : 'crm',
        key: `${n % 3 === 0 ? 'erp' : 'crm'}/u-${n % 7}`,
        reason: n % 5 === 0 ? 'timeout' : 'client-error',
      });
      topics.append(encodeDelivery(names.deliveriesDead, one), now - (count - n) * 90_000);
    }
    topics.append({ topic: names.deliveriesDead, key: 'odd', value: 'odd', headers: {} }, now);
    for (let n = 0; n < replayed; n++) {
      const one = delivery(`d-${n}`, { replayedFrom: `0/${n}` });
      topics.append(encodeDelivery(names.deliveriesReplay, one), now + n);
    }
  }

  test('dead letters are listed and counted by filter, and those that were replayed are marked, in any order of reading', async (t) => {
    const topics = createTopics();
    fillDead(topics, 200, 40);
    const { history } = await open(t, topics);
    topics.log.reverse();
    const ascending = topics.log.filter(({ topic }) => topic === names.deliveriesReplay).reverse();
    topics.log.splice(
      0,
      topics.log.length,
      ...ascending,
      ...topics.log.filter((r) => !ascending.includes(r)),
    );
    const list: DeadLetterFilter[] = [
      {},
      { destinationId: 'crm' },
      { destinationId: 'erp', reason: 'timeout' },
      { userKey: 'u-3' },
      { since: now - 60 * 90_000, until: now - 5 * 90_000 },
    ];
    const all = history.read((queries) => queries.listDeadLetters({}, 1_000)).rows;
    assert.equal(all.length, 201);
    assert.equal(all[0]?.deliveryId, undefined);
    assert.equal(all.filter(({ replayed }) => replayed).length, 40);
    for (const filter of list) {
      const expected = all.filter((letter) => matches(filter, letter));
      const found = [];
      let slice = history.read((queries) => queries.listDeadLetters(filter, 7));
      for (; ; slice = history.read((queries) => queries.listDeadLetters(filter, 7, slice.reached))) {
        found.push(...slice.rows);
        if (!slice.reached) break;
      }
      assert.deepEqual(found, expected);
      const rows = (await countLetters(history, filter)) ?? assert.fail();
      assert.equal(
        rows.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
        expected.length,
      );
      assert.equal(
        rows.reduce((sum, { replayed }) => sum + replayed, 0),
        expected.filter(({ replayed }) => replayed).length,
      );
    }
  });

  test('a replay that is read before its dead letter marks it', async (t) => {
    const topics = createTopics();
    topics.append(encodeDelivery(names.deliveriesReplay, delivery('d-0', { replayedFrom: '0/0' })), now);
    topics.append(
      encodeDelivery(names.deliveriesReplay, delivery('of-an-old-topic', { replayedFrom: '0/1' })),
      now,
    );
    const { history } = await open(t, topics);
    fillDead(topics, 2, 0);
    await history.refresh();
    assert.deepEqual(
      history
        .read((queries) => queries.listDeadLetters({ destinationId: 'erp' }, 9))
        .rows.map(({ replayed }) => replayed),
      [true],
    );
    assert.deepEqual(
      history
        .read((queries) => queries.listDeadLetters({ destinationId: 'crm' }, 9))
        .rows.map(({ replayed }) => replayed),
      [false],
    );
  });

  test('dead letters whose records have expired are removed', async (t) => {
    const topics = createTopics();
    fillDead(topics, 1_000, 0);
    const first = await open(t, topics);
    assert.equal(first.history.read((queries) => queries.listDeadLetters({}, 10_000)).rows.length, 1_001);
    await first.history.close();
    topics.lows.low = 900;
    const { history } = await open(t, topics, { folder: first.folder });
    await eventually(
      () => history.read((queries) => queries.listDeadLetters({}, 10_000)).rows.length === 101,
    );
    const counts = history.read((queries) => queries.countDeadLetters({}));
    assert.equal(
      counts.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
      101,
    );
  });

  test('on a full disk queries are refused with the reason, and they work again once there is space', async (t) => {
    const topics = createTopics();
    fill(topics, 100);
    const disk = { pages: 120 };
    const limitPages = (db: DatabaseSync): void => {
      db.exec(`PRAGMA max_page_count = ${disk.pages}`);
    };
    const { history, logged } = await open(t, topics, { prepareStore: limitPages });
    assert.equal(history.read((queries) => queries.listDeliveries({}, 1_000)).rows.length, 100);
    fill(topics, 5_000);
    await history.refresh().catch(unlessUnavailable);
    await eventually(() => history.status.unavailableBecause?.includes('the disk is full') === true);
    assert.throws(
      () => history.read((queries) => queries.listDeliveries({}, 1)),
      (error) => isTailraceError(error, 'history-unavailable') && error.message.includes('the disk is full'),
    );
    assert.match(logged.join(), /history unavailable/);
    disk.pages = 100_000;
    await eventually(() => history.refresh().then(() => true, unlessUnavailable));
    assert.equal(history.read((queries) => queries.listDeliveries({}, 10_000)).rows.length, 5_000);
    assert.deepEqual(
      logged.filter((line) => line.includes('available')),
      ['history unavailable', 'history available again'],
    );
  });

  test('a corrupt file is rebuilt from the topics', async (t) => {
    const topics = createTopics();
    fill(topics, 20);
    const folder = newFolder(t);
    writeFileSync(path.join(folder, 'history.sqlite'), Buffer.alloc(100_000, 'no database '));
    const { history, logged } = await open(t, topics, { folder });
    assert.equal(history.read((queries) => queries.listDeliveries({}, 100)).rows.length, 20);
    assert.match(logged.join(), /corrupt/);
  });

  test('without a writable folder queries are refused with the reason, and they work once the folder is writable', async (t) => {
    const topics = createTopics();
    fill(topics, 5);
    const folder = path.join(newFolder(t), 'file');
    writeFileSync(folder, '');
    const opening = open(t, topics, { folder });
    const blocked = new History({
      kafka: topics.kafka,
      names,
      deliveryGroup: 't.delivery',
      folder,
      limits: { maxAgeMs: dayMs, maxBytes: 2 ** 30 },
      log: { info: () => undefined, warn: () => undefined },
    });
    t.after(() => blocked.close());
    await eventually(() => blocked.status.unavailableBecause?.includes('EEXIST') === true);
    assert.throws(
      () => blocked.read((queries) => queries.listDeliveries({}, 1)),
      (error) => isTailraceError(error, 'history-unavailable'),
    );
    await blocked.close();
    rmSync(folder);
    const { history } = await opening;
    assert.equal(history.read((queries) => queries.listDeliveries({}, 100)).rows.length, 5);
  });

  test('a second process on the same folder is refused, and the first continues', async (t) => {
    const topics = createTopics();
    fill(topics, 5);
    const { history, folder } = await open(t, topics);
    const second = new History({
      kafka: topics.kafka,
      names,
      deliveryGroup: 't.delivery',
      folder,
      limits: { maxAgeMs: dayMs, maxBytes: 2 ** 30 },
      log: { info: () => undefined, warn: () => undefined },
    });
    t.after(() => second.close());
    await eventually(() => second.status.unavailableBecause?.includes('another process') === true);
    assert.equal(history.read((queries) => queries.listDeliveries({}, 100)).rows.length, 5);
  });
});
