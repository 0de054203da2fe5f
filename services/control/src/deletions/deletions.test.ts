/** Deletion requests on an in-memory Kafka cluster: each affected source gets one event for each user, also after failures. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import type { Destination, Source } from '@tailrace/config';
import { readCall, webhookBody } from '@tailrace/events';
import type { OutgoingRecord } from '@tailrace/kafka';
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { eventually } from '@tailrace/testing';
import { formatPosition } from '@tailrace/records';
import type { UserDeletion } from '@tailrace/suppressions';
import { openSuppressionStore } from '../suppressions/store.ts';
import { names, newCluster } from '../testing/api.ts';
import { openDeletions, totalOf, type Deletions } from './index.ts';
import { encodeRequest } from './request.ts';

const sources = ['app', 'off', 'quiet', 'web'].map((id): Source => ({
  id,
  writeKeys: [`wk_${id}`],
  enabled: id !== 'off',
}));
const destinationsOf = (sourceId: string): Destination[] =>
  sourceId === 'quiet'
    ? []
    : [
        {
          id: `crm-${sourceId}`,
          type: 'Webhooks',
          enabled: true,
          sources: [sourceId],
          settings: { webhooks: [] },
        },
      ];

async function open(cluster: MemoryCluster, { portion = 500 } = {}): Promise<Deletions & AsyncDisposable> {
  const log = { info: () => undefined, warn: () => undefined };
  const kafka = cluster.connect();
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-deletions-'));
  const suppressions = await openSuppressionStore({ kafka, names, folder, log });
  const deletions = await openDeletions({
    kafka,
    names,
    suppressions,
    log,
    audiences: () => [{ sourceId: 'web', trait: 'big_spenders' }],
    config: {
      source: (id) => sources.find((source) => source.id === id),
      sources: () => sources,
      destinationsOf,
      refresh: () => Promise.resolve(),
    },
    takeOverAfterMs: 100,
    portion,
  });
  return Object.assign(deletions, {
    async [Symbol.asyncDispose]() {
      await deletions.close();
      await suppressions.close();
      await kafka.close();
      await rm(folder, { recursive: true });
    },
  });
}

const users = (count: number): string[] => Array.from({ length: count }, (_, nth) => `user ${nth}`);

/** `<source> <user>` for each readable event, sorted. */
function sentEvents(cluster: MemoryCluster): string[] {
  return cluster
    .records(names.events)
    .map(({ headers, key }) => `${String(headers['source-id'])} ${String(key)}`)
    .sort();
}

const expected = (...wanted: readonly (readonly [string, readonly string[]])[]): string[] =>
  wanted.flatMap(([source, ids]) => ids.map((id) => `${source} ${id}`)).sort();

async function untilSent(deletions: Deletions, id: string): Promise<void> {
  await eventually(
    () => deletions.get(id),
    (request) => (request ? request.sent === totalOf(request) : false),
  );
}

describe('deletion requests', { concurrency: true }, () => {
  test('12.1 12.2 12.3 each enabled source with an enabled destination gets an event for each user, which the router accepts', async () => {
    const cluster = newCluster();
    await using deletions = await open(cluster);
    const { request, isNew } = await deletions.create({ userIds: ['ada', 'bob', 'ada'] });
    assert.deepEqual([isNew, request.users, request.sent, totalOf(request)], [true, 2, 4, 4]);
    assert.deepEqual(
      request.sources.map(({ sourceId, destinations }) => [sourceId, destinations]),
      [
        ['app', ['crm-app']],
        ['web', ['crm-web']],
      ],
    );
    assert.deepEqual(request.unaffected, [
      { sourceId: 'off', reason: 'disabled' },
      { sourceId: 'quiet', reason: 'no-destination' },
    ]);
    assert.deepEqual(sentEvents(cluster), expected(['app', ['ada', 'bob']], ['web', ['ada', 'bob']]));
    const ids = new Set<string>();
    for (const { value, key } of cluster.records(names.events)) {
      const options = { enriched: true, receivedAt: 0, fallbackMessageId: () => '' };
      const reading = readCall(JSON.parse(value?.toString() ?? ''), options);
      assert.ok(reading.ok);
      assert.match(reading.event.messageId, /^deletion\/[\w-]{22}\/[01]$/);
      ids.add(reading.event.messageId);
      const body = JSON.parse(webhookBody(reading.event)) as object;
      assert.deepEqual(body, { type: 'delete', userId: key?.toString(), timestamp: request.createdAt });
    }
    assert.equal(ids.size, 4);
  });

  test('a repeated request, in any order and at any instance, is the same request; another request under its id is refused', async () => {
    const cluster = newCluster();
    await using one = await open(cluster);
    await using two = await open(cluster);
    const [first, again] = await Promise.all([
      one.create({ id: 'r1', userIds: ['ada', 'bob'], sources: ['web'] }),
      two.create({ id: 'r1', userIds: ['bob', 'ada'], sources: ['web'] }),
    ]);
    assert.deepEqual([first.isNew, again.isNew].sort(), [false, true]);
    assert.deepEqual(first.request, again.request);
    const later = await one.create({ id: 'r1', userIds: ['ada', 'bob'], sources: ['web'] });
    assert.deepEqual(later, { request: first.request, isNew: false });
    for (const wanted of [
      { id: 'r1', userIds: ['ada'], sources: ['web'] },
      { id: 'r1', userIds: ['ada', 'bob'] },
    ]) {
      await assert.rejects(two.create(wanted), { code: 'conflict' });
    }
    await assert.rejects(two.create({ userIds: ['ada'], sources: ['web', 'nowhere'] }), {
      code: 'invalid-request',
    });
    assert.deepEqual(sentEvents(cluster), expected(['web', ['ada', 'bob']]));
  });

  test('12.5 a request of several portions is sent in the background, and then holds no user ids', async () => {
    const cluster = newCluster();
    const [first, second] = [cluster.partition(names.events, 0), cluster.partition(names.events, 1)];
    first?.appendInvisible(5);
    second?.appendInvisible(3);
    await using deletions = await open(cluster, { portion: 7 });
    const { request } = await deletions.create({ id: 'r1', userIds: users(40) });
    for (const log of [first, second]) log?.appendInvisible(100);
    assert.deepEqual([request.marked, request.sent], [7, 0]);
    await untilSent(deletions, 'r1');
    assert.deepEqual(sentEvents(cluster), expected(['app', users(40)], ['web', users(40)]));
    const last = cluster.records(names.deletions).at(-1)?.value?.toString() ?? '';
    assert.ok(!/user 1|big_spenders/.test(last), last);
    const marks = cluster.records(names.suppressions);
    assert.deepEqual(
      marks.map(({ key }) => key?.toString()).sort(),
      users(40)
        .map((user) => `deleted/*/${user}`)
        .sort(),
    );
    // Each has where her partition of events ended when the request was created.
    const places = marks.map(({ value }) => {
      const { requests } = JSON.parse(String(value)) as { requests: UserDeletion[] };
      return requests.map(({ before }) => before && formatPosition(before)).join();
    });
    assert.deepEqual([...new Set(places)].sort(), ['0/5', '1/3']);
    const left = cluster.records(names.audiences);
    assert.equal(left.length, 40);
    assert.ok(
      left.every(({ key, value }) => key?.toString().startsWith('web/big_spenders/') && value === null),
    );
  });

  test('a written request is forgotten after 180 days, and one of a release before is kept without its audiences', async () => {
    const cluster = newCluster();
    const written = (id: string, updatedAt: string): OutgoingRecord =>
      encodeRequest(names.deletions, {
        id,
        createdAt: updatedAt,
        updatedAt,
        users: 1,
        content: '',
        sources: [],
        unaffected: [],
        sent: 0,
        scopes: ['web'],
        audiences: [{ sourceId: 'web', trait: 'big_spenders' }],
        marked: 2,
      });
    const records = [written('old', '2020-01-01T00:00:00.000Z'), written('new', new Date().toISOString())];
    for (const record of records) await cluster.connect().publisher().publish(record);
    await using deletions = await open(cluster);
    assert.equal(deletions.get('new')?.audiences, undefined);
    await eventually(() => deletions.get('old') === undefined);
    assert.deepEqual(
      cluster.records(names.deletions).map(({ key, value }) => [String(key), value === null]),
      [
        ['old', false],
        ['new', false],
        ['old', true],
      ],
    );
    assert.ok(deletions.get('new'));
  });

  test('12.4 another instance sends exactly the rest of a stopped one', async () => {
    const cluster = newCluster();
    const one = await open(cluster, { portion: 3 });
    await one.create({ id: 'r1', userIds: users(400) });
    await one.close();
    assert.ok(sentEvents(cluster).length < 800);
    await using two = await open(cluster);
    await untilSent(two, 'r1');
    assert.deepEqual(sentEvents(cluster), expected(['app', users(400)], ['web', users(400)]));
  });

  test('instances that receive requests at the same time send each event once', async () => {
    const cluster = newCluster();
    await using one = await open(cluster, { portion: 5 });
    await using two = await open(cluster, { portion: 5 });
    const ids = Array.from({ length: 6 }, (_, nth) => `r${nth}`);
    await Promise.all(
      ids.map((id, nth) => {
        const userIds = users(10).map((user) => `${id} ${user}`);
        return (nth % 2 === 0 ? one : two).create({ id, userIds });
      }),
    );
    for (const id of ids) await untilSent(one, id);
    const all = ids.flatMap((id) => users(10).map((user) => `${id} ${user}`));
    assert.deepEqual(sentEvents(cluster), expected(['app', all], ['web', all]));
  });

  test('12.4 each event is sent once even if responses of Kafka are lost', async () => {
    const cluster = newCluster();
    await using deletions = await open(cluster, { portion: 4 });
    cluster.loseCommitAnswers = 1;
    await deletions.create({ id: 'r1', userIds: users(10) });
    cluster.loseProduceAnswers = 8;
    await untilSent(deletions, 'r1');
    assert.deepEqual([cluster.loseCommitAnswers, cluster.loseProduceAnswers], [0, 0]);
    assert.deepEqual(sentEvents(cluster), expected(['app', users(10)], ['web', users(10)]));
  });
});
