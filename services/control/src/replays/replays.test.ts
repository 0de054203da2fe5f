/** Replays on several control instances, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { eventually } from '@tailrace/testing';
import { deliveryKey, encodeDelivery } from '@tailrace/records';
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { names, newCluster } from '../testing/api.ts';
import { encodeInterrupt, encodeReplay, type OwnedReplay, type Replay } from './record.ts';
import { openReplays, type Replays, type ReplaysOptions } from './replays.ts';

const quiet = { info: () => undefined, warn: () => undefined };
const order = (destinationId: string, ratePerSecond: number) => ({
  filter: { destinationId },
  ratePerSecond,
  dryRun: false,
});

async function newInstance(
  t: TestContext,
  cluster: MemoryCluster,
  options: Pick<ReplaysOptions, 'longestMs'> = {},
): Promise<Replays> {
  const kafka = cluster.connect();
  const events = {} as ReplaysOptions['events'];
  const replays = await openReplays({ kafka, names, log: quiet, events, takeOverAfterMs: 600, ...options });
  t.after(async () => {
    await replays.close();
    await kafka.close();
  });
  return replays;
}

async function writeLetters(cluster: MemoryCluster, destinationId: string, count: number): Promise<void> {
  await using kafka = cluster.connect();
  const publisher = kafka.publisher();
  for (let n = 0; n < count; n++) {
    await publisher.publish(
      encodeDelivery(names.deliveriesDead, {
        deliveryId: `${destinationId}-${n}`,
        eventId: `e-${n}`,
        sourceId: 'web',
        destinationId,
        type: 'track',
        eventName: 'Died',
        attempt: 1,
        step: 1,
        deferrals: 0,
        closedUrls: [],
        reason: 'client-error',
        key: deliveryKey(destinationId, `u-${n}`),
        body: Buffer.from('{}'),
      }),
    );
  }
  await publisher.close();
}

async function until(replays: Replays, id: string, holds: (replay: Replay) => boolean): Promise<Replay> {
  const found = await eventually(
    () => replays.find(id),
    (replay) => replay !== undefined && holds(replay),
  );
  return found ?? assert.fail();
}

const hasEnded = ({ endedAt }: Replay): boolean => endedAt !== undefined;

/** The ids of the replayed deliveries, sorted. */
function replayedIds(cluster: MemoryCluster): string[] {
  return cluster
    .records(names.deliveriesReplay)
    .map(({ headers }) => String(headers['delivery-id']))
    .sort();
}

const ids = (destinationId: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${destinationId}-${n}`).sort();

// Some wait a second or two for the next look of an instance, so they run at the same time.
describe('replays', { concurrency: true }, () => {
  test('a replay is listed, shown and interrupted by an instance that does not run it', async (t) => {
    const cluster = newCluster();
    await writeLetters(cluster, 'crm', 8);
    const [one, other] = [await newInstance(t, cluster), await newInstance(t, cluster)];
    const { id } = await one.start(order('crm', 0.01));
    await until(other, id, ({ state, replayed }) => state === 'running' && replayed > 0);
    assert.deepEqual(
      (await other.all()).map((replay) => replay.id),
      [id],
    );
    assert.equal((await other.interrupt(id))?.id, id);
    const ended = await until(other, id, hasEnded);
    assert.equal(ended.state, 'interrupted');
    assert.equal((await one.find(id))?.state, 'interrupted');
    assert.equal(replayedIds(cluster).length, ended.replayed);
    assert.equal(await other.interrupt('none'), undefined);
  });

  test('another instance continues a replay whose instance shuts down, and each dead letter is replayed once', async (t) => {
    const cluster = newCluster();
    await writeLetters(cluster, 'crm', 12);
    const [one, other] = [await newInstance(t, cluster), await newInstance(t, cluster)];
    const { id } = await one.start(order('crm', 10));
    await until(other, id, ({ replayed }) => replayed > 0);
    await one.close();
    const ended = await until(other, id, hasEnded);
    assert.deepEqual([ended.state, ended.replayed, ended.tally?.deadLetters], ['done', 12, 12]);
    assert.deepEqual(replayedIds(cluster), ids('crm', 12));
  });

  test('another instance continues a replay whose instance has died, with what it had counted', async (t) => {
    const cluster = newCluster();
    await writeLetters(cluster, 'crm', 6);
    const first = await newInstance(t, cluster);
    const { id } = await first.start(order('crm', 1_000));
    const { tally } = await until(first, id, hasEnded);
    assert.ok(tally);
    // Dead letters of a later time are not part of the replay.
    await writeLetters(cluster, 'crm', 9);
    const dead: OwnedReplay = {
      ...order('crm', 1_000),
      id: 'left',
      state: 'running',
      startedAt: Date.now() + 1,
      tally,
      replayed: 2,
      malformed: 0,
      instance: 'dead',
      term: 1,
      revision: 7,
    };
    await using kafka = cluster.connect();
    await kafka.publisher().publish(encodeReplay(names.replays, dead));
    const ended = await until(first, 'left', hasEnded);
    assert.deepEqual([ended.state, ended.replayed], ['done', 6]);
    assert.deepEqual(replayedIds(cluster), ids('crm', 6));
  });

  test('replays of several instances run beside one another, and together they replay each dead letter once', async (t) => {
    const cluster = newCluster();
    for (const id of ['crm', 'erp']) await writeLetters(cluster, id, 10);
    const [one, other] = [await newInstance(t, cluster), await newInstance(t, cluster)];
    // At the same moment, so that each may begin to write.
    const started = await Promise.all([one.start(order('crm', 20)), other.start(order('erp', 20))]);
    const all = await one.start({ ...order('crm', 1_000), filter: {} });
    for (const { id } of [...started, all]) assert.equal((await until(other, id, hasEnded)).state, 'done');
    assert.deepEqual(replayedIds(cluster), [...ids('crm', 10), ...ids('erp', 10)].sort());
  });

  test('a replay goes on whose instance lost the writer to one that has ended its replay since', async (t) => {
    const cluster = newCluster();
    await writeLetters(cluster, 'crm', 4);
    const one = await newInstance(t, cluster);
    const { id } = await one.start(order('crm', 10));
    const replay = (await until(one, id, ({ replayed }) => replayed > 0)) as OwnedReplay;
    await using kafka = cluster.connect();
    const ended = { ...replay, id: 'ended', instance: 'other', state: 'done' as const, endedAt: Date.now() };
    await kafka.publisher().publish(encodeReplay(names.replays, ended));
    await kafka.exclusivePublisher(names.deliveriesReplay);
    assert.equal((await until(one, id, hasEnded)).state, 'done');
    assert.deepEqual(replayedIds(cluster), ids('crm', 4));
  });

  test('a command on Kafka that replays supersedes a replay', async (t) => {
    const cluster = newCluster();
    await writeLetters(cluster, 'crm', 3);
    const one = await newInstance(t, cluster);
    const { id } = await one.start(order('crm', 10));
    await until(one, id, ({ replayed }) => replayed > 0);
    await using kafka = cluster.connect();
    await kafka.exclusivePublisher(names.deliveriesReplay);
    const { state, failure } = await until(one, id, hasEnded);
    assert.deepEqual([state, failure?.code], ['superseded', 'superseded']);
  });

  test('a replay of a limited token ends when it has taken too long', async (t) => {
    const cluster = newCluster();
    await writeLetters(cluster, 'crm', 4);
    const replays = await newInstance(t, cluster, { longestMs: 0 });
    const limited = { tokenId: 'limited', fingerprint: '', sources: undefined, destinations: ['crm', 'erp'] };
    const { id } = await replays.start(order('crm', 1), limited);
    const { state, failure } = await until(replays, id, hasEnded);
    assert.deepEqual([state, failure?.code], ['interrupted', 'took-too-long']);
    const unlimited = await replays.start(order('crm', 1_000));
    assert.equal((await until(replays, unlimited.id, hasEnded)).state, 'done');
    assert.deepEqual(replayedIds(cluster), ids('crm', 4));
  });

  test('a replay whose record is too large for Kafka is refused, and one whose record becomes too large is forgotten', async (t) => {
    const cluster = newCluster();
    const topic = cluster.topic(names.replays);
    cluster.topics.set(names.replays, { ...topic, config: { 'max.message.bytes': '450' } });
    await writeLetters(cluster, 'crm', 1);
    const [one, other] = [await newInstance(t, cluster), await newInstance(t, cluster)];
    const filter = { destinationId: 'crm', userKey: 'u'.repeat(450) };
    await assert.rejects(one.start({ ...order('crm', 1), filter }), { code: 'record-too-large' });
    const { id } = await one.start(order('crm', 1_000));
    await eventually(
      () => one.find(id),
      (found) => found === undefined,
    );
    assert.deepEqual(replayedIds(cluster), ids('crm', 1));
    // It may have taken over one of which it hears nothing.
    await eventually(
      () => other.all(),
      (all) => all.length === 0,
    );
  });

  test('a record of an earlier term is ignored', async (t) => {
    const cluster = newCluster();
    const replays = await newInstance(t, cluster);
    await writeLetters(cluster, 'crm', 1);
    const { id } = await replays.start(order('crm', 1_000));
    const done = (await until(replays, id, hasEnded)) as OwnedReplay;
    await using kafka = cluster.connect();
    const late = { ...done, state: 'running' as const, endedAt: undefined, revision: 999 };
    const publisher = kafka.publisher();
    await publisher.publish(encodeReplay(names.replays, { ...late, term: 0 }));
    await publisher.publish(encodeReplay(names.replays, { ...late, instance: 'other' }));
    await publisher.publish({ topic: names.replays, key: 'replay/odd', value: 'odd' });
    assert.deepEqual(
      (await replays.all()).map(({ id, state }) => [id, state]),
      [[id, 'done']],
    );
  });

  test('a replay that is started again under its id is the first one, in another instance too', async (t) => {
    const cluster = newCluster();
    const [one, two] = [await newInstance(t, cluster), await newInstance(t, cluster)];
    await writeLetters(cluster, 'crm', 3);
    const first = await one.start(order('crm', 1_000), undefined, 'request-1');
    await until(one, 'request-1', hasEnded);
    const again = await two.start(order('crm', 1_000), undefined, 'request-1');
    assert.equal(again.startedAt, first.startedAt);
    assert.equal((await two.all()).length, 1);
    assert.deepEqual(replayedIds(cluster), ids('crm', 3));
  });

  test('a replay that is interrupted before another instance continues it shows what was replayed, not what was reported', async (t) => {
    const cluster = newCluster();
    await writeLetters(cluster, 'crm', 3);
    const one = await newInstance(t, cluster);
    const first = await one.start({ ...order('crm', 1_000), filter: { userKey: 'u-1' } });
    const { tally } = await until(one, first.id, hasEnded);
    await using kafka = cluster.connect();
    const publisher = kafka.publisher();
    const left: OwnedReplay = {
      ...order('crm', 1_000),
      id: 'left',
      state: 'running',
      startedAt: Date.now(),
      malformed: 0,
      tally: { deadLetters: 3, replayed: 0, rows: [], ends: tally?.ends ?? [] },
      replayed: 0,
      instance: 'ended',
      term: 1,
      revision: 1,
    };
    await publisher.publish(encodeInterrupt(names.replays, 'left'));
    await publisher.publish(encodeReplay(names.replays, left));
    const ended = await until(one, 'left', hasEnded);
    assert.deepEqual([ended.state, ended.replayed], ['interrupted', 1]);
  });
});
