/** Suppressions and the marks of deleted users over the API, with several instances on one in-memory cluster. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { deletedKey, encodeDeleted, openSuppressions, type Suppressions } from '@tailrace/suppressions';
import { topicSpecs } from '@tailrace/topology';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { names, newCluster, openApi, readToken, type Api } from '../testing/api.ts';
import { openSuppressionStore } from './store.ts';

const log = { warn: () => undefined };

async function viewOf(api: Api): Promise<Suppressions> {
  return openSuppressions({ kafka: api.kafka, topic: names.suppressions, log });
}

async function connect(api: Api, sourceId: string): Promise<void> {
  await api.expect(201, { method: 'POST', path: '/v1/sources', body: { id: sourceId } });
  const settings = { webhooks: [{ url: 'https://crm.example.com/hook' }] };
  const destination = { id: `crm-${sourceId}`, type: 'Webhooks', sources: [sourceId], settings };
  await api.expect(201, { method: 'POST', path: '/v1/destinations', body: destination });
}

const post = (path: string, body?: object) => ({ method: 'POST', path, body }) as const;
const suppress = (...userIds: readonly string[]) => post('/v1/suppressions', { userIds });
const deleteUsers = (requestId: string, userIds: readonly string[], sources?: readonly string[]) =>
  post('/v1/deletions', { requestId, userIds, ...(sources && { sources }) });
const remove = (path: string) => ({ method: 'DELETE', path }) as const;

/** The calls in `events`, as `<type> <user> <traits>`, by user. */
function calls({ cluster }: Api): string[] {
  const found = cluster.records(names.events).map(({ value }) => {
    const { type, userId, traits } = JSON.parse(String(value)) as Record<string, unknown>;
    return {
      userId: String(userId),
      text: [type, userId, traits && JSON.stringify(traits)].join(' ').trim(),
    };
  });
  // Users are in different partitions.
  return found
    .sort((a, b) => (a.userId < b.userId ? -1 : a.userId > b.userId ? 1 : 0))
    .map(({ text }) => text);
}

describe('suppressions', () => {
  test('are created once, listed in pages by id, found by any instance, and lifted', async () => {
    const cluster = newCluster();
    await using api = await openApi(cluster);
    await using other = await openApi(cluster);
    const created = await api.expect(200, suppress('bob', 'ada', 'ada', 'a/ö?'));
    assert.deepEqual(created, { users: 3, added: 3 });
    assert.deepEqual(await other.expect(200, suppress('ada', 'cleo')), { users: 2, added: 1 });
    const first = await api.expect(200, { path: '/v1/suppressions?limit=3' });
    const ids = (page: object) => (page as { items: { userId: string }[] }).items.map(({ userId }) => userId);
    assert.deepEqual(ids(first), ['a/ö?', 'ada', 'bob']);
    const next = await other.expect(200, {
      path: `/v1/suppressions?limit=3&cursor=${String(first['next'])}`,
    });
    assert.deepEqual([ids(next), next['next']], [['cleo'], undefined]);

    const path = `/v1/suppressions/${encodeURIComponent('a/ö?')}`;
    const found = await other.expect(200, { path, token: readToken });
    assert.equal(found['userId'], 'a/ö?');
    assert.ok(Date.parse(String(found['since'])) <= Date.now());
    await other.expect(204, remove(path));
    await api.refused({ path }, 404, 'not-found');
    await api.refused(remove(path), 404, 'not-found');
    assert.deepEqual(ids(await api.expect(200, { path: '/v1/suppressions' })), ['ada', 'bob', 'cleo']);
  });

  test('are refused where a user id is not valid, or the token may only read', async () => {
    await using api = await openApi();
    const pair = await api.refused(suppress('ada', '\ud800'), 400, 'invalid-request');
    assert.match(pair.text, /userIds\[1\] has half a surrogate pair/);
    for (const userIds of [[], [''], ['x'.repeat(1_025)], [7], Array.from({ length: 1_001 }, String), null]) {
      const body = { userIds };
      await api.refused({ method: 'POST', path: '/v1/suppressions', body }, 400, 'invalid-request');
    }
    await api.refused({ ...suppress('ada'), token: readToken }, 403, 'forbidden');
    const refused = (cursor: string) =>
      api.refused({ path: `/v1/suppressions?cursor=${cursor}` }, 400, 'invalid-request');
    for (const json of ['[]', 'null', '["suppressions"]', '["suppressions",1]']) {
      await refused(Buffer.from(json).toString('base64url'));
    }
    await api.expect(200, suppress('ada', 'bob'));
    const { next } = await api.expect(200, { path: '/v1/suppressions?limit=1' });
    for (const list of ['sources', 'tokens', 'deliveries']) {
      await api.refused({ path: `/v1/${list}?cursor=${String(next)}` }, 400, 'invalid-request');
    }
  });

  test('beyond the limit are refused with the number that there are, and so are deletions', async () => {
    await using api = await openApi(newCluster(), {}, { maxSuppressions: 3 });
    await api.expect(200, suppress('ada', 'bob'));
    await api.refused(suppress('ada', 'cleo', 'dan'), 409, 'too-many-suppressions');
    const refused = await api.refused(deleteUsers('r', ['eve', 'finn']), 409, 'too-many-suppressions');
    assert.match(refused.text, /There are 2 suppressed users and deletions, and 2 more/);
    assert.deepEqual(await api.expect(200, suppress('ada', 'bob', 'cleo')), { users: 3, added: 1 });
  });
});

describe('a deletion', () => {
  test('marks its users for the sources that it covers, before its events', async () => {
    await using api = await openApi();
    await connect(api, 'web');
    const startedAt = Date.now();
    const request = await api.expect(202, deleteUsers('r-1', ['ada', 'bob']));
    assert.equal(request['state'], 'sent');
    await api.expect(202, deleteUsers('r-2', ['cleo'], ['web']));
    await using view = disposable(await viewOf(api));
    for (const userId of ['ada', 'bob']) {
      const until = view.deletedUntil('any', userId) ?? 0;
      assert.ok(until >= startedAt && until <= Date.now(), userId);
    }
    assert.equal(view.deletedUntil('app', 'cleo'), undefined);
    assert.notEqual(view.deletedUntil('web', 'cleo'), undefined);
    assert.equal(view.isSuppressed('ada'), false);
    assert.deepEqual(calls(api), ['delete ada', 'delete bob', 'delete cleo']);
    const kept = JSON.stringify(api.cluster.records(names.deletions).map(({ value }) => String(value)));
    assert.doesNotMatch(kept, /\b(ada|bob|cleo)\b/, 'a request that is written holds no user ids');
  });

  test('marks the users of a source without destinations too, and in several transactions', async () => {
    await using api = await openApi();
    await api.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'quiet' } });
    const userIds = Array.from({ length: 1_000 }, (_, nth) => `user ${nth}`);
    await api.expect(202, deleteUsers('r-1', userIds, ['quiet']));
    await using view = disposable(await viewOf(api));
    for (let state; state !== 'sent';) {
      const request = await api.expect(200, { path: '/v1/deletions/r-1' });
      ({ state } = request);
      assert.deepEqual(request['unaffected'], [{ sourceId: 'quiet', reason: 'no-destination' }]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await view.refresh();
    assert.equal(view.size, 1_000);
    assert.deepEqual(calls(api), []);
  });

  test('is lifted on request, by any instance, and only as far as no other request covers the users', async () => {
    const cluster = newCluster();
    await using api = await openApi(cluster);
    await using other = await openApi(cluster);
    await connect(api, 'web');
    await api.expect(202, deleteUsers('r-1', ['ada', 'bob']));
    await api.expect(202, deleteUsers('r-2', ['ada']));
    const lifted = await other.expect(200, post('/v1/deletions/r-2/lift'));
    assert.ok(Date.parse(String(lifted['liftedAt'])) <= Date.now());
    await using view = disposable(await viewOf(api));
    const first = view.deletedUntil('web', 'ada');
    assert.notEqual(first, undefined);
    await api.expect(200, post('/v1/deletions/r-1/lift'));
    await view.refresh();
    assert.deepEqual([view.size, view.deletedUntil('web', 'ada')], [0, undefined]);

    const again = await other.expect(200, post('/v1/deletions/r-2/lift'));
    assert.equal(again['liftedAt'], lifted['liftedAt'], 'a repeated request changes nothing');
    const listed = await api.expect(200, { path: '/v1/deletions' });
    assert.ok((listed['items'] as { liftedAt?: string }[]).every(({ liftedAt }) => liftedAt !== undefined));
    await api.refused(post('/v1/deletions/unknown/lift'), 404, 'not-found');
    const { length } = calls(api);
    await api.expect(200, deleteUsers('r-1', ['ada', 'bob']));
    assert.equal(calls(api).length, length, 'the same request is not executed again');
  });

  test('does not need the history', async () => {
    const cluster = new MemoryCluster();
    for (const spec of topicSpecs(names, { partitions: 2, retryScheduleMs: [1_000] })) {
      if (spec.name !== names.usage) cluster.createTopic(spec.name, { partitions: spec.partitions });
    }
    await using api = await openApi(cluster);
    await connect(api, 'web');
    await api.refused({ path: '/v1/deliveries' }, 503, 'history-unavailable');
    const sources = [{ sourceId: 'web', destinations: ['crm-web'], sent: 1 }];
    assert.deepEqual((await api.expect(202, deleteUsers('r-1', ['ada'])))['sources'], sources);
    assert.deepEqual((await api.expect(200, deleteUsers('r-1', ['ada'])))['sources'], sources);
    assert.deepEqual((await api.expect(200, { path: '/v1/deletions/r-1' }))['sources'], sources);
    assert.deepEqual(calls(api), ['delete ada']);
  });
});

describe('an audience', () => {
  const path = '/v1/sources/web/audiences/Big%20Spenders';
  const upload = async (api: Api, ...userIds: readonly string[]): Promise<Record<string, unknown>> => {
    const bytes = userIds.map((id) => `${JSON.stringify(id)}\n`).join('');
    const headers = { 'content-type': 'application/x-ndjson' };
    await api.expect(202, { method: 'PUT', path: `${path}?allowEmpty=true`, bytes, headers });
    for (;;) {
      const { sync } = await api.expect(200, { path });
      const found = sync as Record<string, unknown>;
      if (found['state'] !== 'running') return found;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  test('has a deleted user no more, and sends nothing for her, until she is uploaded again', async () => {
    await using api = await openApi();
    await connect(api, 'web');
    await upload(api, 'ada', 'bob');
    await api.expect(202, deleteUsers('r-1', ['ada']));
    const members = api.cluster.records(names.audiences).filter(({ key }) => String(key).endsWith('/ada'));
    assert.equal(members.at(-1)?.value, null, 'she has left the audience');
    const sync = await upload(api, 'bob');
    assert.deepEqual([sync['state'], sync['total']], ['done', 0]);
    const joined = 'identify ada {"big_spenders":true}';
    const bob = 'identify bob {"big_spenders":true}';
    assert.deepEqual(calls(api), [joined, 'delete ada', bob]);

    const again = await upload(api, 'ada', 'bob');
    assert.deepEqual([again['added'], again['sent'], again['refused']], [1, 1, undefined]);
    const left = await upload(api, 'bob');
    assert.deepEqual([left['removed'], left['sent']], [1, 1], 'she is a member like any other');
    const leaves = 'identify ada {"big_spenders":false}';
    assert.deepEqual(calls(api), [joined, 'delete ada', joined, leaves, bob]);
  });

  test('sends nothing for a suppressed user, and sends it after the suppression was lifted', async () => {
    await using api = await openApi();
    await connect(api, 'web');
    await upload(api, 'bob');
    await api.expect(200, suppress('ada', 'bob'));
    const sync = await upload(api, 'ada', 'cleo');
    assert.deepEqual([sync['state'], sync['total'], sync['sent'], sync['refused']], ['done', 3, 1, 2]);
    assert.equal((await api.expect(200, { path }))['members'], 2, 'bob has not left, cleo has joined');
    await api.expect(204, remove('/v1/suppressions/ada'));
    await api.expect(204, remove('/v1/suppressions/bob'));
    await upload(api, 'ada', 'cleo');
    assert.deepEqual(calls(api), [
      'identify ada {"big_spenders":true}',
      'identify bob {"big_spenders":true}',
      'identify bob {"big_spenders":false}',
      'identify cleo {"big_spenders":true}',
    ]);
  });
});

test('whether a user was deleted since a moment is known by the order of the records, not by their times', async () => {
  const cluster = newCluster();
  await using kafka = cluster.connect();
  const publisher = kafka.publisher();
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-suppressions-'));
  const ada = { kind: 'deleted', userId: 'ada', scope: 'web' } as const;
  const deleteAda = (aheadMs: number): Promise<void> => {
    const requests = [{ id: 'r-1', at: new Date(Date.now() + aheadMs).toISOString() }];
    return publisher.publish(encodeDeleted(names.suppressions, { ...ada, requests }));
  };
  await deleteAda(3_600_000);
  const store = await openSuppressionStore({ kafka, names, folder, log });
  const { revision } = store;
  const wasDeleted = async (sourceId = 'web'): Promise<boolean> => {
    await store.refresh();
    return store.wasDeletedSince(revision, sourceId, 'ada');
  };
  assert.equal(await wasDeleted(), false);
  await deleteAda(-3_600_000);
  assert.deepEqual([await wasDeleted(), await wasDeleted('app')], [true, false]);
  await publisher.publish({ topic: names.suppressions, key: deletedKey('web', 'ada'), value: null });
  assert.equal(await wasDeleted(), false, 'lifted');
  await store.close();
  await rm(folder, { recursive: true });
});

function disposable(view: Suppressions): Suppressions & AsyncDisposable {
  return Object.assign(Object.create(view) as Suppressions, { [Symbol.asyncDispose]: () => view.close() });
}
