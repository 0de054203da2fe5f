/** Calls that users of a generated client make: compiled with the project, and run by test/api-client.slow.test.ts. */
import assert from 'node:assert/strict';
import type { paths, Schema } from '@tailrace/api';
import createClient from 'openapi-fetch';

/** @param fetch sends a request to the API */
export async function useApi(fetch: (request: Request) => Promise<Response>, token: string): Promise<void> {
  const client = createClient<paths>({
    baseUrl: 'http://control',
    fetch,
    headers: { authorization: `Bearer ${token}` },
  });

  // Nothing is required for a source.
  const generated = await client.POST('/v1/sources');
  assert.equal(generated.response.status, 201);
  const created = await client.POST('/v1/sources', { body: { id: 'web', name: 'Website' } });
  const source: Schema['Source'] | undefined = created.data;
  assert.equal(source?.enabled, true);
  // @ts-expect-error a number is no name
  const invalid = await client.POST('/v1/sources', { body: { name: 3 } });
  assert.equal(invalid.error?.problems?.[0]?.field, 'name');

  const url = 'https://crm.example.com/hook';
  const settings = { sharedSecret: 's3cret', webhooks: [{ url, headers: { 'X-Team': 'growth' } }] };
  const destination = await client.POST('/v1/destinations', { body: { type: 'Webhooks', settings } });
  const id = destination.data?.id ?? '';
  assert.match(id, /^dst_/);
  const one = { params: { path: { id } } };

  // One key, and null.
  const off = await client.PATCH('/v1/destinations/{id}', { ...one, body: { enabled: false, rateLimit: 5 } });
  assert.deepEqual([off.data?.enabled, off.data?.rateLimit], [false, 5]);
  const unlimited = await client.PATCH('/v1/destinations/{id}', { ...one, body: { rateLimit: null } });
  assert.equal(unlimited.data?.rateLimit, undefined);
  const unsigned = await client.PATCH('/v1/destinations/{id}', {
    ...one,
    body: { settings: { sharedSecret: null } },
  });
  assert.equal(unsigned.data?.settings.sharedSecret, undefined);
  // @ts-expect-error settings cannot be removed
  const refused = await client.PATCH('/v1/destinations/{id}', { ...one, body: { settings: null } });
  assert.equal(refused.response.status, 400);
  const renamed = await client.PATCH('/v1/sources/{id}', {
    params: { path: { id: 'web' }, header: { 'if-match': created.response.headers.get('etag') ?? '' } },
    body: { name: null },
  });
  assert.equal(renamed.data?.name, undefined);

  // A condition inside another one.
  const condition = {
    any: [{ field: 'properties.total', atLeast: 100 }, { not: { field: 'userId', exists: true } }],
  };
  const filtered = await client.PATCH('/v1/destinations/{id}', { ...one, body: { filter: { condition } } });
  assert.deepEqual(filtered.data?.filter?.condition, condition);

  // An answer is a valid request.
  const shown = await client.GET('/v1/destinations/{id}', one);
  assert.ok(shown.data);
  const replaced = await client.PUT('/v1/destinations/{id}', {
    ...one,
    body: { ...shown.data, name: 'CRM' },
  });
  assert.equal(replaced.data?.name, 'CRM');
  const connected = await client.PUT('/v1/destinations/{id}/sources/{sourceId}', {
    params: { path: { id, sourceId: 'web' } },
  });
  assert.deepEqual(connected.data?.sources, ['web']);

  const page = await client.GET('/v1/sources', { params: { query: { limit: 1 } } });
  const next = page.data?.next;
  assert.ok(next !== undefined);
  const rest = await client.GET('/v1/sources', { params: { query: { cursor: next } } });
  assert.ok(rest.data?.items.every(({ id }) => id !== page.data?.items[0]?.id));
  assert.ok(rest.data?.items.some(({ id }) => id === 'web'));

  const replay = await client.POST('/v1/replays', { body: { destination: id, dryRun: true } });
  assert.equal(replay.data?.dryRun, true);
  const deletion = await client.POST('/v1/deletions', { body: { userIds: ['ada'] } });
  assert.ok(deletion.data ?? deletion.error);
  const removed = await client.DELETE('/v1/destinations/{id}', one);
  assert.equal(removed.response.status, 204);
  const missing = await client.GET('/v1/destinations/{id}', one);
  assert.equal(missing.error?.code, 'not-found');
}
