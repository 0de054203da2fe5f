/** What topics have of one user: calls, audiences and deletion requests. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { names, openApi, readToken, type Api } from '../testing/api.ts';

let control: Api;
before(async () => {
  control = await openApi();
  for (const id of ['web', 'app'])
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id } });
  const settings = { webhooks: [{ url: 'https://crm.example.com/' }] };
  const body = { id: 'crm', type: 'Webhooks', enabled: true, sources: ['web'], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
});
after(() => control[Symbol.asyncDispose]());

/** Writes calls of users, as ingest does, in this order. */
async function send(calls: readonly (readonly [messageId: string, userId: string])[]): Promise<void> {
  const publisher = control.kafka.publisher({});
  const headers = { 'source-id': 'web' };
  await Promise.all(
    calls.map(([messageId, userId]) => {
      const value = JSON.stringify({ type: 'track', messageId, userId, event: 'Signed Up' });
      return publisher.publish({ topic: names.events, key: userId, value, headers });
    }),
  );
}

interface CallPage {
  readonly items: readonly { readonly eventId: string; readonly sourceId: string; readonly event: string }[];
  readonly next?: string;
  readonly searchedSince?: string;
}

async function callsOf(userId: string, query = ''): Promise<CallPage> {
  const path = `/v1/users/${encodeURIComponent(userId)}/calls${query}`;
  return (await control.expect(200, { path, token: readToken })) as unknown as CallPage;
}

test('the calls of a user are listed newest first, page by page, however many others are between them', async () => {
  await send([
    ['a-1', 'ada'],
    ['a-2', 'ada'],
    ...Array.from({ length: 3_000 }, (_, n) => [`b-${n}`, 'b/ü'] as const),
  ]);
  // Of the same partition, which depends on the key.
  await send([['a-3', 'ada']]);
  const first = await callsOf('ada', '?limit=2');
  assert.deepEqual(
    first.items.map(({ eventId, sourceId, event }) => [eventId, sourceId, event]),
    [
      ['a-3', 'web', 'Signed Up'],
      ['a-2', 'web', 'Signed Up'],
    ],
  );
  assert.ok(Date.parse(first.searchedSince ?? '') <= Date.now());
  const second = await callsOf('ada', `?limit=2&cursor=${first.next ?? ''}`);
  assert.deepEqual([second.items.map(({ eventId }) => eventId), second.next], [['a-1'], undefined]);
  assert.equal((await callsOf('b/ü', '?limit=200')).items[0]?.eventId, 'b-2999');
  assert.deepEqual((await callsOf('a')).items, [], 'a part of an id is another user');
  await control.refused({ path: '/v1/users/ada/calls?cursor=x' }, 400, 'invalid-request');
});

test('the audiences of a user are those that the user has not left', async () => {
  const upload = async (source: string, name: string, userIds: readonly string[]): Promise<void> => {
    const path = `/v1/sources/${source}/audiences/${encodeURIComponent(name)}`;
    const bytes = userIds.map((id) => `{"userId":"${id}"}\n`).join('');
    const headers = { 'content-type': 'application/x-ndjson' };
    const { id } = await control.expect(202, { method: 'PUT', path, bytes, headers });
    await eventually(
      () => control.expect(200, { path }),
      ({ sync }) => {
        const ended = sync as { readonly id: string; readonly state: string };
        return ended.id === id && ended.state === 'done';
      },
    );
  };
  const of = (userId: string) => control.expect(200, { path: `/v1/users/${userId}/audiences` });
  assert.deepEqual(await of('cleo'), { items: [], complete: true });
  await upload('web', 'Buyers', ['cleo', 'xcleo']);
  await upload('app', 'Guests', ['cleo']);
  await upload('app', 'Guests', ['dora']);
  assert.deepEqual(await of('cleo'), { items: [{ sourceId: 'web', name: 'Buyers' }], complete: true });
  assert.deepEqual(await of('dora'), { items: [{ sourceId: 'app', name: 'Guests' }], complete: true });
});

test('the deletion requests of a user are those in force', async () => {
  const create = (requestId: string, body: object) =>
    control.expect(202, { method: 'POST', path: '/v1/deletions', body: { requestId, ...body } });
  await create('all', { userIds: ['eve', 'ada'] });
  await create('web-only', { userIds: ['eve'], sources: ['web'] });
  await create('other', { userIds: ['finn'] });
  const of = async (userId: string): Promise<string[]> => {
    const { items } = await control.expect(200, { path: `/v1/deletions?userId=${userId}` });
    return (items as { id: string }[]).map(({ id }) => id).sort();
  };
  assert.deepEqual(await of('eve'), ['all', 'web-only']);
  await eventually(
    () => control.ask({ method: 'POST', path: '/v1/deletions/all/lift' }),
    ({ status }) => status === 200,
  );
  assert.deepEqual(await of('eve'), ['web-only']);
  assert.deepEqual(await of('ada'), []);
});
