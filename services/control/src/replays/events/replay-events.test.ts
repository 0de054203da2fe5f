/** Replays of events on several control instances, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { applyConfiguration, openConfig, type Destination } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { noRegistry } from '@tailrace/registry';
import { eventually } from '@tailrace/testing';
import { Transforms } from '@tailrace/transform';
import { names, newCluster } from '../../testing/api.ts';
import { encodeReplay, type OwnedReplay, type Replay, type ReplayOrder } from '../record.ts';
import { openReplays, type Replays } from '../replays.ts';
import type { EventSelection } from './selection.ts';
import { readSent } from './sent.ts';

const quiet = { info: () => undefined, warn: () => undefined };
const hourMs = 3_600_000;
const routerGroup = 'router';

const crm = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  settings: { webhooks: [{ url: 'https://crm.example.com/' }] },
} as unknown as Destination;

interface Stage {
  readonly cluster: MemoryCluster;
  readonly kafka: Kafka;
  readonly suppressed: Set<string>;
  /** By deleted user, when. */
  readonly deleted: Map<string, number>;
  /** The deliveries that wait, as the history counts them. */
  readonly pending: { reason: string; deliveries: number; looks: number };
  /** Writes calls that the router then has routed. */
  write(calls: readonly object[]): Promise<void>;
  /** Writes calls that the router has routed. The result commits them, when an instance has asked for the commits. */
  writeUncommitted(calls: readonly object[]): Promise<() => Promise<void>>;
  /** The same, of calls of some days ago in partition 0. */
  writeBefore(days: number, calls: readonly object[]): Promise<void>;
  configure(destinations: readonly Destination[]): Promise<void>;
  /** Instances have not read the configuration of now yet. */
  beBehind(): void;
  instance(longestMs?: number): Promise<Replays>;
  /** Writes the dead letter of a delivery. */
  die(record: Pick<ConsumedRecord, 'partition' | 'key' | 'value' | 'headerList'>): Promise<void>;
  /** The deliveries in the replay topic. */
  sent(): readonly { readonly id: string; readonly event: string; readonly from: string | undefined }[];
}

const valueOf = (call: object): string => JSON.stringify({ type: 'track', userId: 'ada', ...call });

async function newStage(t: TestContext): Promise<Stage> {
  const cluster = newCluster();
  const kafka = cluster.connect();
  const config = await openConfig(kafka, names.config, quiet);
  const suppressed = new Set<string>();
  const deleted = new Map<string, number>();
  const pending = { reason: '', deliveries: 0, looks: 0 };
  const publisher = kafka.publisher();
  const transforms = new Transforms({ threads: 1 });
  let [isHolding, isBehind, looks] = [false, false, 0];
  const held: (() => void)[] = [];
  const routed = await kafka.consume({
    groupId: routerGroup,
    topics: [names.events],
    onRecord: (record) => {
      if (isHolding) held.push(() => record.done());
      else record.done();
    },
  });
  t.after(async () => {
    await transforms.close();
    await routed.close();
    await config.close();
    await kafka.close();
  });
  const configure = async (destinations: readonly Destination[]): Promise<void> => {
    const sources = [{ id: 'web', enabled: true, writeKeys: ['wk_web_0123'] }];
    await applyConfiguration(kafka, names.config, { sources, destinations });
    await config.refresh();
  };
  await configure([crm]);
  const untilRouted = async (): Promise<void> => {
    const isRouted = async (): Promise<boolean> => {
      const ends = await kafka.ends(names.events);
      const finished = (await kafka.finished(routerGroup, [names.events])).get(names.events);
      return [...ends].every(([partition, end]) => (finished?.get(partition)?.[0]?.to ?? 0) >= end);
    };
    await eventually(isRouted, (done) => done);
  };
  const publish = async (calls: readonly object[]): Promise<void> => {
    for (const call of calls) {
      const { userId = 'ada' } = call as { userId?: string };
      const value = valueOf(call);
      await publisher.publish({ topic: names.events, key: userId, value, headers: { 'source-id': 'web' } });
    }
  };
  return {
    cluster,
    kafka,
    suppressed,
    deleted,
    pending,
    configure,
    beBehind() {
      isBehind = true;
    },
    async write(calls) {
      await publish(calls);
      await untilRouted();
    },
    async writeUncommitted(calls) {
      isHolding = true;
      await publish(calls);
      await eventually(() => held.length === calls.length);
      return async () => {
        await eventually(() => looks > 0);
        for (const done of held) done();
      };
    },
    async writeBefore(days, calls) {
      for (const call of calls) {
        const record = { key: 'ada', value: valueOf(call), headers: { 'source-id': 'web' } };
        cluster.partition(names.events, 0)?.append(record, Date.now() - days * 24 * hourMs);
      }
      cluster.notify();
      await untilRouted();
    },
    async instance(longestMs = hourMs) {
      const ofInstance = cluster.connect();
      const finished = ofInstance.finished.bind(ofInstance);
      ofInstance.finished = (...asked) => {
        looks += 1;
        return finished(...asked);
      };
      const users = {
        isSuppressed: (id: string) => suppressed.has(id),
        deletions: 1,
        deletionsOf(_: string, id: string) {
          const at = deleted.get(id);
          return at === undefined ? [] : [{ at, before: undefined }];
        },
      };
      const history = {
        read() {
          pending.looks += 1;
          return [pending];
        },
      } as never;
      const seen = Object.assign(Object.create(config) as typeof config, {
        destination: (id: string) => (isBehind ? undefined : config.destination(id)),
        refresh() {
          isBehind = false;
          return config.refresh();
        },
      });
      const kept = { kafka: ofInstance, names, config: seen, frames: noRegistry, users, history };
      const events = { ...kept, routerGroup, transforms };
      const options = { kafka: ofInstance, names, log: quiet, events, takeOverAfterMs: 600, longestMs };
      const replays = await openReplays(options);
      t.after(async () => {
        await replays.close();
        await ofInstance.close();
      });
      return replays;
    },
    async die({ partition, key, value, headerList }) {
      const headers = [...headerList, ['reason', Buffer.from('client-error')] as const];
      await publisher.publish({ topic: names.deliveriesDead, partition, key, value, headers });
    },
    sent: () =>
      cluster.records(names.deliveriesReplay).map(({ headers, value }) => ({
        id: String(headers['delivery-id']),
        event: (JSON.parse(String(value)) as { event: string }).event,
        from: headers['replayed-from']?.toString(),
      })),
  };
}

function order(more: Partial<EventSelection> = {}, ratePerSecond = 1_000): ReplayOrder {
  const [from, until] = [Date.now() - hourMs, Date.now() + hourMs];
  const selection = { destinationId: 'crm', from, until, mode: 'missing', ...more } as const;
  return { selection, ratePerSecond, dryRun: false };
}

const calls = (count: number, of = 'Order'): readonly object[] =>
  Array.from({ length: count }, (_, nth) => ({
    messageId: `${of}-${nth}`,
    userId: `u-${nth}`,
    event: `${of} ${nth}`,
  }));
const eventsOf = (sent: ReturnType<Stage['sent']>): readonly string[] =>
  sent.map(({ event }) => event).sort();
const namesOf = (count: number, of = 'Order'): readonly string[] =>
  Array.from({ length: count }, (_, nth) => `${of} ${nth}`).sort();

async function until(replays: Replays, id: string, holds: (replay: Replay) => boolean): Promise<Replay> {
  const found = await eventually(
    () => replays.find(id),
    (replay) => replay !== undefined && holds(replay),
  );
  return found ?? assert.fail();
}

async function ended(replays: Replays, of: ReplayOrder): Promise<Replay> {
  const { id } = await replays.start(of);
  return until(replays, id, ({ endedAt }) => endedAt !== undefined);
}

/** Starts a replay, pauses it once it has sent something, and waits until no instance runs it. */
async function pausedMidway(replays: Replays, of: ReplayOrder): Promise<Replay> {
  const { id } = await replays.start(of);
  await until(replays, id, ({ replayed }) => replayed > 0);
  await replays.pause(id);
  return until(replays, id, (replay) => (replay as OwnedReplay).instance === '');
}

describe('replays of events', { concurrency: true }, () => {
  test('9.8 an event that the destination was not sent is sent once, and with the mode all again, as another delivery', async (t) => {
    const stage = await newStage(t);
    await stage.write([...calls(6), ...calls(2)]);
    const replays = await stage.instance();
    const first = await ended(replays, order());
    assert.deepEqual([first.state, first.replayed, first.eventTally?.events], ['done', 6, 6]);
    assert.deepEqual(eventsOf(stage.sent()), namesOf(6), 'a repeat is one event');
    const again = await ended(replays, order());
    assert.deepEqual([again.state, again.replayed], ['done', 0]);
    const before = stage.sent();
    assert.equal((await ended(replays, order({ mode: 'all' }))).replayed, 6);
    const ids = new Set(before.map(({ id }) => id));
    const later = stage.sent().filter(({ id }) => !ids.has(id));
    assert.deepEqual(eventsOf(later), namesOf(6));
    assert.equal(stage.sent().length, 12);
  });

  test('only what the selection and the filter of the destination allow is sent, and nothing of suppressed and deleted users', async (t) => {
    const stage = await newStage(t);
    stage.suppressed.add('u-0');
    stage.deleted.set('u-4', Date.now() + hourMs);
    await stage.configure([{ ...crm, filter: { events: { exclude: ['Order 1'] } } }]);
    await stage.write([...calls(5), { type: 'identify', userId: 'u-5', traits: {} }, ...calls(2, 'Cart')]);
    const replays = await stage.instance();
    const counted = await ended(replays, { ...order({ types: ['track'] }), dryRun: true });
    const rows = counted.eventTally?.rows.map(({ type, event, events }) => [type, event, events]);
    assert.deepEqual(rows?.sort(), [
      ['track', 'Cart 1', 1],
      ['track', 'Order 2', 1],
      ['track', 'Order 3', 1],
    ]);
    assert.equal(stage.sent().length, 0);
    await ended(replays, order({ events: ['Order*'] }));
    assert.deepEqual(eventsOf(stage.sent()), ['Order 2', 'Order 3']);
    await ended(replays, order({ userKey: 'u-1' }));
    assert.deepEqual(eventsOf(stage.sent()), ['Cart 1', 'Order 2', 'Order 3']);
    const past = { from: Date.now() - 2 * hourMs, until: Date.now() - hourMs };
    assert.equal((await ended(replays, order(past))).eventTally?.events, 0);
    const condition = { field: 'event', equals: 'Cart 1' } as const;
    const filtered = await ended(replays, { ...order({ mode: 'all', filter: { condition } }), dryRun: true });
    assert.equal(filtered.eventTally?.events, 1);
  });

  test('6.10 a transform makes what is sent, or filters it, and what it fails on says so', async (t) => {
    const stage = await newStage(t);
    const code = `({ event }) => {
      if (event === 'Order 1') return null;
      if (event === 'Order 2') event.no.such;
      return { event: event.slice(-1) };
    }`;
    await stage.configure([{ ...crm, transform: { code } }]);
    await stage.write(calls(4));
    const replays = await stage.instance();
    const done = await ended(replays, order());
    assert.deepEqual([done.state, done.replayed], ['done', 3]);
    assert.deepEqual(eventsOf(stage.sent()), ['0', '3', 'Order 2']);
    const failed = stage.cluster
      .records(names.deliveriesReplay)
      .flatMap(({ headers }) => headers['transform-failed']?.toString() ?? []);
    assert.match(failed.join(), /^Transform of version 1: TypeError: [^,]*line 3\)$/);
    assert.equal((await ended(replays, order())).replayed, 0);
  });

  test('a dead letter is replayed as the same delivery, and not again', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(2));
    const replays = await stage.instance();
    await ended(replays, order());
    const [record] = stage.cluster.records(names.deliveriesReplay);
    assert.ok(record);
    const before = stage.sent().find(({ id }) => id === String(record.headers['delivery-id']));
    await stage.die(record);
    const [letter] = stage.cluster.records(names.deliveriesDead);
    assert.equal((await ended(replays, order())).replayed, 1);
    const after = stage.sent().filter(({ from }) => from !== undefined);
    const from = `${letter?.partition ?? ''}/${letter?.offset ?? ''}`;
    assert.deepEqual(after, [{ ...before, from }]);
    assert.equal((await ended(replays, order())).replayed, 0);
    const letters = { filter: { destinationId: 'crm' }, ratePerSecond: 100, dryRun: false };
    assert.equal((await ended(replays, letters)).replayed, 0, 'it counts as replayed');
  });

  test('another instance continues a replay whose instance shuts down or has died, and each event is sent once', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(20));
    const [one, other] = [await stage.instance(), await stage.instance()];
    const { id } = await one.start(order({}, 20));
    await until(other, id, ({ replayed }) => replayed > 0);
    await one.close();
    // The last report of an instance that is killed is older than what it has sent.
    const found = await until(other, id, ({ endedAt }) => endedAt !== undefined);
    assert.deepEqual([found.state, found.replayed], ['done', 20]);
    assert.deepEqual(eventsOf(stage.sent()), namesOf(20));
    const dead = { ...found, endedAt: undefined, state: 'running', replayed: 3, instance: 'dead', term: 9 };
    const publisher = stage.kafka.publisher();
    await publisher.publish(encodeReplay(names.replays, { ...dead, revision: 1 } as OwnedReplay));
    await publisher.close();
    const later = await until(other, id, (replay) => replay.endedAt !== undefined && replay.replayed === 20);
    assert.equal(later.state, 'done');
    assert.equal(stage.sent().length, 20);
  });

  test('a paused replay waits until it is resumed, and another to the destination sends nothing twice', async (t) => {
    const stage = await newStage(t);
    // With this limit it takes a minute, and so is paused before its end.
    await stage.configure([{ ...crm, rateLimit: 1 }]);
    await stage.write(calls(60));
    const [one, other] = [await stage.instance(), await stage.instance()];
    const { id } = await one.start(order());
    await until(other, id, ({ replayed }) => replayed > 0);
    assert.equal((await other.pause(id))?.paused, true);
    await until(one, id, (replay) => (replay as OwnedReplay).instance === '');
    const before = stage.sent().length;
    assert.ok(before < 60);
    await stage.configure([crm]);
    assert.equal((await one.resume(id))?.paused, false);
    const next = await one.start(order());
    const hasEnded = ({ endedAt }: Replay): boolean => endedAt !== undefined;
    const both = [await until(other, id, hasEnded), await until(one, next.id, hasEnded)];
    assert.deepEqual(
      both.map(({ state }) => state),
      ['done', 'done'],
    );
    assert.equal(
      both.reduce((sum, { replayed }) => sum + replayed, 0),
      60,
    );
    assert.deepEqual(eventsOf(stage.sent()), namesOf(60));
  });

  test('a replay of all sends each event once, also if its first delivery dies or expires meanwhile', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(24));
    const replays = await stage.instance();
    await ended(replays, order());
    const firstDeliveries = stage.cluster.records(names.deliveriesReplay);
    await stage.configure([{ ...crm, rateLimit: 1 }]);
    const { id } = await pausedMidway(replays, order({ mode: 'all' }));
    const ofPartition = (wanted: number) => firstDeliveries.filter(({ partition }) => partition === wanted);
    for (const record of ofPartition(0)) await stage.die(record);
    const last = ofPartition(1).at(-1) ?? assert.fail();
    await stage.cluster.expire(names.deliveriesReplay, 1, last.offset + 1);
    await stage.configure([crm]);
    await replays.resume(id);
    await until(replays, id, ({ endedAt }) => endedAt !== undefined);
    const ofReplay = stage.cluster
      .records(names.deliveriesReplay)
      .filter(({ headers }) => String(headers['replay-id']) === id)
      .map(({ value }) => (JSON.parse(String(value)) as { event: string }).event);
    assert.deepEqual(ofReplay.sort(), namesOf(24));
  });

  test('a replay whose destination is disabled while it is paused has failed, and another one sends the rest', async (t) => {
    const stage = await newStage(t);
    await stage.configure([{ ...crm, rateLimit: 1 }]);
    await stage.write(calls(24));
    const replays = await stage.instance();
    const { id } = await pausedMidway(replays, order());
    await stage.configure([{ ...crm, enabled: false }]);
    await replays.resume(id);
    const { state, failure } = await until(replays, id, ({ endedAt }) => endedAt !== undefined);
    assert.deepEqual([state, failure?.code], ['failed', 'conflict']);
    await stage.configure([crm]);
    await ended(replays, order());
    assert.deepEqual(eventsOf(stage.sent()), namesOf(24));
  });

  test('an instance that has not read the destination yet reads it first', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(3));
    const replays = await stage.instance();
    for (const dryRun of [true, false]) {
      stage.beBehind();
      const { state, eventTally } = await ended(replays, { ...order(), dryRun });
      assert.deepEqual([state, eventTally?.events], ['done', 3]);
    }
  });

  test('of replays that nobody runs, the one that was requested first is continued first', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(3));
    const publisher = stage.kafka.publisher();
    const requested = { ...order(), state: 'requested', replayed: 0, malformed: 0, term: 1, revision: 1 };
    for (const [nth, id] of ['first', 'second'].entries()) {
      const replay = { ...requested, id, startedAt: Date.now() + nth, instance: '' } as OwnedReplay;
      await publisher.publish(encodeReplay(names.replays, replay));
    }
    await publisher.close();
    const replays = await stage.instance();
    const hasEnded = ({ endedAt }: Replay): boolean => endedAt !== undefined;
    const both = [await until(replays, 'first', hasEnded), await until(replays, 'second', hasEnded)];
    assert.deepEqual(
      both.map(({ replayed }) => replayed),
      [3, 0],
    );
  });

  test('a replay whose progress has expired while it was paused sends nothing more', async (t) => {
    const stage = await newStage(t);
    await stage.configure([{ ...crm, rateLimit: 1 }]);
    await stage.write(calls(24));
    const replays = await stage.instance();
    const { id } = await pausedMidway(replays, order({ mode: 'all' }));
    const [first] = stage.cluster.records(names.deliveriesReplay);
    assert.ok(first);
    await stage.cluster.expire(names.deliveriesReplay, first.partition, first.offset + 1);
    const before = stage.sent();
    await stage.configure([crm]);
    await replays.resume(id);
    const { state, failure } = await until(replays, id, ({ endedAt }) => endedAt !== undefined);
    assert.deepEqual([state, failure?.code], ['failed', 'expired']);
    assert.deepEqual(stage.sent(), before);
  });

  test('what the router has routed and commits a moment later is past too', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(2));
    const commit = await stage.writeUncommitted(calls(5).slice(2));
    const replays = await stage.instance();
    const { id } = await replays.start(order());
    await commit();
    await until(replays, id, ({ endedAt }) => endedAt !== undefined);
    assert.deepEqual(eventsOf(stage.sent()), namesOf(5));
  });

  test('a change of the rate limit of the destination counts for a replay that runs', async (t) => {
    const stage = await newStage(t);
    // With this limit it takes five minutes.
    await stage.configure([{ ...crm, rateLimit: 1 }]);
    await stage.write(calls(300));
    const replays = await stage.instance();
    const { id } = await replays.start(order());
    await until(replays, id, ({ replayed }) => replayed > 0);
    await stage.configure([crm]);
    await until(replays, id, ({ endedAt }) => endedAt !== undefined);
    assert.deepEqual(eventsOf(stage.sent()), namesOf(300));
  });

  test('nothing is sent while deliveries wait for a turn in the lane of the destination', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(3));
    Object.assign(stage.pending, { reason: 'lane-full', deliveries: 100_000 });
    const replays = await stage.instance();
    const { id } = await replays.start(order());
    await eventually(
      () => stage.pending.looks,
      (looks) => looks > 1,
    );
    assert.deepEqual(stage.sent(), []);
    stage.pending.deliveries = 0;
    await until(replays, id, ({ endedAt }) => endedAt !== undefined);
    assert.deepEqual(eventsOf(stage.sent()), namesOf(3));
  });

  test('the same request twice is one replay, and a paused one is interrupted', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(3));
    const [one, other] = [await stage.instance(), await stage.instance()];
    const wanted = order({ mode: 'all' }, 0.01);
    const [first, second] = [
      await one.start(wanted, undefined, 'same'),
      await other.start(wanted, undefined, 'same'),
    ];
    assert.equal(first.id, second.id);
    const seen: unknown[] = [];
    const judge = (overlapping: readonly Replay[]): readonly string[] => {
      seen.push(overlapping.map(({ id }) => id));
      return [];
    };
    await other.start({ ...order(), dryRun: true }, undefined, undefined, judge);
    await other.start({ ...order({ destinationId: 'erp' }), dryRun: true }, undefined, undefined, judge);
    assert.deepEqual(seen, [['same'], []]);
    await one.pause('same');
    await one.interrupt('same');
    const { state } = await until(other, 'same', ({ endedAt }) => endedAt !== undefined);
    assert.equal(state, 'interrupted');
    assert.ok(stage.sent().length < 3);
  });

  test('of two requests at the same moment on two instances that overlap, one is started', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(3));
    const both = [await stage.instance(), await stage.instance()];
    const refuse = (overlapping: readonly Replay[]): readonly string[] => {
      if (overlapping.length > 0) throw new TailraceError('conflict');
      return [];
    };
    const wanted = order({ mode: 'all' }, 0.01);
    const started = await Promise.allSettled(
      both.map((replays) => replays.start(wanted, undefined, undefined, refuse)),
    );
    assert.deepEqual(started.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.equal((await both[0]?.all())?.length, 1);
  });

  test('events that expire before they are sent are counted', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(12));
    const replays = await stage.instance();
    const { id, replayed } = await pausedMidway(replays, order({}, 0.01));
    assert.ok(replayed < 12);
    for (const partition of [0, 1]) {
      const end = stage.cluster.partition(names.events, partition)?.high ?? 0;
      await stage.cluster.expire(names.events, partition, end);
    }
    await replays.resume(id);
    const { state, failure } = await until(replays, id, ({ endedAt }) => endedAt !== undefined);
    assert.deepEqual([state, failure?.code], ['failed', 'expired']);
    const lost = 12 - stage.sent().length;
    assert.equal(failure?.message, `${lost} of 12 events expired in Kafka before they were sent.`);
  });

  test('an event that waits for a schema is left to the router', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(3));
    const waiting = stage.cluster.records(names.events).find(({ key }) => String(key) === 'u-1');
    assert.ok(waiting);
    const { partition, offset, timestamp, key, value } = waiting;
    const headers = { 'source-id': 'web', 'tailrace-place': `${offset} ${timestamp}` };
    const publisher = stage.kafka.publisher();
    await publisher.publish({ topic: names.eventsWaiting, partition, key, value, headers });
    await publisher.close();
    const replays = await stage.instance();
    assert.equal((await ended(replays, order({ mode: 'all' }))).replayed, 2);
    assert.deepEqual(eventsOf(stage.sent()), ['Order 0', 'Order 2']);
    await stage.cluster.commit(routerGroup, names.eventsWaiting, partition, 1);
    assert.equal((await ended(replays, order())).replayed, 1, 'the router has filtered it');
  });

  test('an event whose delivery may have expired is not sent as missing', async (t) => {
    const stage = await newStage(t);
    await stage.writeBefore(8, calls(2));
    await stage.writeBefore(1, calls(3, 'Cart'));
    const publisher = stage.kafka.publisher();
    for (const partition of [0, 1])
      await publisher.publish({ topic: names.deliveries, partition, key: null, value: null });
    await publisher.close();
    for (const partition of [0, 1]) await stage.cluster.expire(names.deliveries, partition, 1);
    const replays = await stage.instance();
    // Deliveries are kept for seven days, so what was written later has not expired, though the oldest delivery is of now.
    const from = Date.now() - 9 * 24 * hourMs;
    const { replayed, eventTally } = await ended(replays, order({ from }));
    assert.deepEqual([replayed, eventTally?.events, eventTally?.expired], [3, 3, 2]);
    assert.deepEqual(eventsOf(stage.sent()), namesOf(3, 'Cart'));
    assert.equal((await ended(replays, order({ from, until: from + 48 * hourMs, mode: 'all' }))).replayed, 2);
  });

  test('restored events are those of the time at which they were accepted, each once, and none of users deleted since', async (t) => {
    const stage = await newStage(t);
    const dayMs = 24 * hourMs;
    const acceptedAt = Date.now() - 200 * dayMs;
    const past = calls(4).map((call) => ({ ...call, receivedAt: new Date(acceptedAt).toISOString() }));
    const period = { from: acceptedAt - dayMs, until: acceptedAt + dayMs };
    await stage.writeBefore(200, past.slice(0, 1));
    const replays = await stage.instance();
    assert.equal((await ended(replays, order(period))).replayed, 1);
    stage.deleted.set('u-1', Date.now() - dayMs);
    stage.cluster.createTopic(names.eventsRestore, { partitions: 1 });
    const publisher = stage.kafka.publisher();
    const later = calls(1, 'Later').map((call) => ({ ...call, receivedAt: new Date().toISOString() }));
    for (const call of [...past, ...past, ...later]) {
      const record = { key: null, value: valueOf(call), headers: { 'source-id': 'web' } };
      await publisher.publish({ topic: names.eventsRestore, partition: 0, ...record });
    }
    const foreign = [null, '', '[]', '{"schema":{},"payload":"{}"}', '\ufffe{', '{"type":"track"}'];
    for (const value of foreign)
      await publisher.publish({ topic: names.eventsRestore, partition: 0, key: null, value });
    await publisher.close();
    const restored = order({ ...period, topic: names.eventsRestore });
    const { replayed, eventTally } = await ended(replays, restored);
    const days = eventTally?.rows.map(({ day }) => day);
    const day = new Date(acceptedAt).toISOString().slice(0, 10);
    assert.deepEqual([replayed, days, eventTally?.unreadable], [2, [day, day], foreign.length]);
    assert.deepEqual(eventsOf(stage.sent()), ['Order 0', 'Order 2', 'Order 3']);
    assert.equal((await ended(replays, restored)).replayed, 0);
    const [, record] = stage.cluster.records(names.deliveriesReplay);
    const { 'event-accepted-at': time, 'event-position': position } = record?.headers ?? {};
    assert.deepEqual([String(time), position], [new Date(acceptedAt).toISOString(), undefined]);
  });

  test('only deliveries of the sources and the period are kept in mind', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(2));
    const replays = await stage.instance();
    await ended(replays, order());
    const selection = {
      destinationId: 'crm',
      from: Date.now() - hourMs,
      until: Date.now(),
      mode: 'missing',
    } as const;
    const known = async (more: Partial<EventSelection>): Promise<readonly boolean[]> => {
      const deps = { kafka: stage.kafka, names, routerGroup };
      const sent = await readSent(deps, { ...selection, ...more }, 'other');
      return stage.sent().map(({ id }) => sent.knows(id));
    };
    assert.deepEqual(await known({ sources: ['web'] }), [true, true]);
    assert.deepEqual(await known({ sources: ['app'] }), [false, false]);
    assert.deepEqual(await known({ until: Date.now() - 48 * hourMs }), [false, false]);
  });

  test('a paused replay of a limited token ends when its time is over', async (t) => {
    const stage = await newStage(t);
    await stage.write(calls(3));
    const replays = await stage.instance(300);
    const token = { tokenId: 't', fingerprint: 't', sources: undefined, destinations: ['crm'] };
    const { id } = await replays.start(order({}, 1), token);
    await replays.pause(id);
    const { state, failure } = await until(replays, id, ({ endedAt }) => endedAt !== undefined);
    assert.deepEqual([state, failure?.code], ['interrupted', 'took-too-long']);
  });
});
