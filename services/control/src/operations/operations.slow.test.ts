/** Operational events on an in-memory cluster: written once by all instances, and never about themselves. */
import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { builtInSource } from '@tailrace/config';
import type { DeadLetterSummary } from '@tailrace/deadletters';
import type { AttemptRecord } from '@tailrace/records';
import { TransformFailureCounts } from './transform-failures.ts';
import { names, newCluster, openApi, readToken, type Api } from '../testing/api.ts';

interface Event {
  readonly event: string;
  readonly messageId: string;
  readonly anonymousId: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

function events({ cluster }: Pick<Api, 'cluster'>, name = /./): Event[] {
  const records = cluster.records(names.events);
  assert.ok(records.every(({ headers }) => String(headers['source-id']) === builtInSource.id));
  return records
    .map(({ value }) => JSON.parse(String(value)) as Event)
    .filter(({ event }) => name.test(event));
}

const settings = { webhooks: [{ url: 'https://example.com/hook' }] };
const destination = (id: string, ...sources: readonly string[]) => ({
  id,
  type: 'Webhooks',
  sources,
  settings,
});

/** A source `web` and destinations of it; `hook` is connected to the built-in source. */
async function configure(api: Api, ...connected: readonly string[]): Promise<void> {
  await api.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web' } });
  for (const id of ['crm', 'hook', 'pager']) {
    const sources = connected.includes(id) ? ['web', builtInSource.id] : ['web'];
    await api.expect(201, { method: 'POST', path: '/v1/destinations', body: destination(id, ...sources) });
  }
}

let attempts = 0;

async function attempt(
  api: Api,
  destinationId: string,
  agoMs: number,
  outcome: AttemptRecord['outcome'] = 'retry',
  sourceId = 'web',
): Promise<void> {
  const record: AttemptRecord = {
    deliveryId: `d-${(attempts += 1)}`,
    eventId: 'e',
    sourceId,
    destinationId,
    type: 'track',
    userKey: 'ada',
    attempt: 1,
    startedAt: new Date(Date.now() - agoMs).toISOString(),
    latencyMs: 1,
    outcome,
    urls: [],
    ...(outcome !== 'delivered' && { reason: 'server-error' }),
  };
  await api.kafka.publisher().publish({ topic: names.attempts, key: 'd', value: JSON.stringify(record) });
}

async function fail(api: Api, destinationId: string, sourceId?: string): Promise<void> {
  for (const agoMs of [200_000, 100_000, 1_000]) await attempt(api, destinationId, agoMs, 'retry', sourceId);
}

async function succeed(api: Api, destinationId: string): Promise<void> {
  for (let nth = 0; nth < 3; nth += 1) await attempt(api, destinationId, 0, 'delivered');
}

async function die(api: Api, destinationId: string, reason: string, sourceId = 'web'): Promise<void> {
  const headers = {
    'delivery-id': `d-${(attempts += 1)}`,
    'event-id': 'e',
    'source-id': sourceId,
    type: 'track',
    reason,
    'destination-id': destinationId,
  };
  const record = { topic: names.deliveriesDead, key: `${destinationId}/ada`, value: '{}', headers };
  await api.kafka.publisher().publish(record);
}

const has = (api: Api, name: RegExp) => eventually(() => events(api, name).length > 0);
/** Several turns of every instance, after which nothing more is written. */
async function someTurns(...instances: readonly Api[]): Promise<void> {
  for (const api of instances) await api.historyRead();
  await Promise.all(instances.map((api) => api.turns(5)));
}

describe('a destination', () => {
  test('that fails and recovers is reported once by two instances, and not again by a third', async () => {
    const cluster = newCluster();
    await using api = await openApi(cluster);
    await using other = await openApi(cluster);
    await configure(api, 'hook');
    await fail(api, 'crm');
    await has(api, /failing/);
    const [failing] = events(api, /failing/);
    assert.equal(failing?.anonymousId, 'tailrace');
    const { destinationId, failedAttempts, reason } = failing.properties;
    assert.deepEqual([destinationId, failedAttempts, reason], ['crm', 3, 'server-error']);
    await using third = await openApi(cluster);
    await fail(third, 'crm');
    await someTurns(api, other, third);
    assert.equal(events(other, /failing/).length, 1);

    await succeed(api, 'crm');
    await has(api, /recovered/);
    await someTurns(api, other, third);
    const [recovered, ...more] = events(api, /recovered/);
    assert.deepEqual(more, []);
    assert.equal(recovered?.properties['failingSince'], failing.properties['since']);
    assert.equal(events(api, /failing/).length, 1);
  });

  test('is not reported while none is connected to the source, or where its failures are old', async () => {
    await using api = await openApi();
    await configure(api);
    await fail(api, 'crm');
    await someTurns(api);
    assert.deepEqual(events(api), []);
    await api.expect(200, { method: 'PUT', path: '/v1/destinations/hook/sources/tailrace' });
    await has(api, /failing/);

    for (const agoMs of [4_000_000, 3_000_000, 2_000_000]) await attempt(api, 'pager', agoMs);
    await someTurns(api);
    assert.deepEqual(
      events(api, /failing/).map(({ properties }) => properties['destinationId']),
      ['crm'],
    );
  });

  test('that receives operational events and fails to do so causes none, also where two do', async () => {
    await using api = await openApi();
    await configure(api, 'hook', 'pager');
    for (const id of ['hook', 'pager']) {
      await fail(api, id, builtInSource.id);
      await die(api, id, 'attempts-exhausted', builtInSource.id);
    }
    await someTurns(api);
    assert.deepEqual(events(api, /destination|deliveries/), []);
    // Other events of the same destinations are reported.
    await fail(api, 'hook');
    await has(api, /failing/);
    assert.equal(events(api, /failing/)[0]?.properties['destinationId'], 'hook');
    const { length } = events(api);
    await fail(api, 'pager', builtInSource.id);
    await someTurns(api);
    assert.equal(events(api).length, length);
  });

  test('with dead letters is reported with their number, and at most once in a while', async () => {
    await using api = await openApi();
    await configure(api, 'hook');
    for (const reason of ['client-error', 'client-error', 'attempts-exhausted', 'drained', 'user-deleted']) {
      await die(api, 'crm', reason);
    }
    await has(api, /dead/);
    await die(api, 'crm', 'client-error');
    await someTurns(api);
    const reports = events(api, /dead/).map(({ properties }) => properties);
    const counted = reports.reduce((sum, { count }) => sum + Number(count), 0);
    assert.equal(reports.length, 1);
    assert.ok(counted >= 1 && counted <= 3, 'the rest is in the next report');
    assert.equal(reports[0]?.['destinationId'], 'crm');
  });

  test('whose transform fails ten times in a row is reported once', async () => {
    await using api = await openApi();
    await configure(api, 'hook');
    for (let nth = 0; nth < 9; nth += 1) await die(api, 'crm', 'transform-failed');
    await attempt(api, 'crm', 60_000, 'delivered');
    await someTurns(api);
    assert.deepEqual(events(api, /transform/), []);
    for (let nth = 0; nth < 3; nth += 1) await die(api, 'crm', 'transform-failed');
    await has(api, /transform/);
    await someTurns(api);
    const found = events(api, /transform/).map(({ event, properties }) => [
      event,
      properties['destinationId'],
    ]);
    assert.deepEqual(found, [['transform.failing', 'crm']]);
  });

  test('whose transform fails with attempts between is not reported', () => {
    const counts = new TransformFailureCounts();
    const failAt = (...times: readonly number[]): void => {
      for (const diedAt of times) {
        counts.failed({ destinationId: 'crm', reason: 'transform-failed', diedAt } as DeadLetterSummary);
      }
    };
    failAt(1, 2, 3, 4, 5, 6, 7, 8, 9);
    counts.attempted('crm', 5);
    failAt(4, 11, 12, 13, 14, 15);
    assert.deepEqual(counts.failing(), []);
    failAt(16);
    assert.deepEqual(counts.failing(), [['crm', { failures: 10, since: 6 }]]);
  });

  test('whose failures and dead letters are reported in the same turn is reported when it recovers', async () => {
    await using api = await openApi();
    await configure(api);
    await fail(api, 'crm');
    await die(api, 'crm', 'client-error');
    await someTurns(api);
    // The span of the dead letter is over, and nothing was reported, so both are due in the turn after the connection.
    const countedAt = Date.now();
    await eventually(() => Date.now() > countedAt + 200);
    await api.expect(200, { method: 'PUT', path: '/v1/destinations/hook/sources/tailrace' });
    await has(api, /failing/);
    await has(api, /dead/);
    await succeed(api, 'crm');
    await has(api, /recovered/);
  });
});

test('dead letters from more than 15 minutes before somebody is told of them are not reported', async () => {
  await using api = await openApi();
  await configure(api);
  await die(api, 'crm', 'client-error');
  await someTurns(api);
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 16 * 60_000 });
  try {
    await someTurns(api);
    await die(api, 'pager', 'client-error');
    await someTurns(api);
    await api.expect(200, { method: 'PUT', path: '/v1/destinations/hook/sources/tailrace' });
    mock.timers.tick(1_000);
    await has(api, /dead/);
    await someTurns(api);
  } finally {
    mock.timers.reset();
  }
  const reported = events(api, /dead/).map(({ properties }) => properties['destinationId']);
  assert.deepEqual(reported, ['pager']);
});

describe('the configuration', () => {
  test('is reported once for each change, with what was created, updated and deleted', async () => {
    const cluster = newCluster();
    await using api = await openApi(cluster);
    await using other = await openApi(cluster);
    await configure(api, 'hook');
    const changes = () =>
      events(api, /config/).map(({ properties }) => {
        const [entry] = properties['entries'] as { kind: string; id: string; change: string }[];
        return [entry?.change, entry?.kind, entry?.id].join(' ');
      });
    await eventually(() => changes().includes('created destination pager'));
    await other.expect(200, { method: 'PATCH', path: '/v1/sources/web', body: { enabled: false } });
    await other.expect(204, { method: 'DELETE', path: '/v1/destinations/pager' });
    await eventually(() => changes().includes('deleted destination pager'));
    const after = changes().slice(changes().indexOf('created destination pager'));
    assert.deepEqual(after, ['created destination pager', 'updated source web', 'deleted destination pager']);
    assert.equal(new Set(events(api).map(({ messageId }) => messageId)).size, events(api).length);
    const text = JSON.stringify(events(api));
    assert.doesNotMatch(text, /example\.com|wk_/, 'an event has no settings');
  });
});

describe('the built-in source', () => {
  test('5.9 is listed and read, and cannot be created, changed or deleted', async () => {
    await using api = await openApi();
    await configure(api);
    const { items } = await api.expect(200, { path: '/v1/sources', token: readToken });
    assert.deepEqual(
      (items as { id: string }[]).map(({ id }) => id),
      ['tailrace', 'web'],
    );
    const path = '/v1/sources/tailrace';
    const found = await api.expect(200, { path });
    assert.deepEqual([found['builtIn'], found['writeKeys']], [true, []]);
    const taken = { method: 'POST', path: '/v1/sources', body: { id: 'tailrace' } } as const;
    assert.match((await api.refused(taken, 400, 'invalid-configuration')).text, /is reserved/);
    for (const request of [
      { method: 'PUT', path, body: { writeKeys: ['wk'] } },
      { method: 'PATCH', path, body: { enabled: false } },
      { method: 'POST', path: `${path}/write-keys` },
      { method: 'PUT', path: `${path}/blocked-events/config.changed` },
      { method: 'DELETE', path: `${path}/blocked-events/config.changed` },
      { method: 'DELETE', path },
    ] as const) {
      await api.refused(request, 409, 'conflict');
    }
    const headers = { 'content-type': 'application/x-ndjson' };
    const upload = { method: 'PUT', path: `${path}/audiences/All`, bytes: '"ada"', headers } as const;
    await api.refused(upload, 409, 'conflict');
    const body = { userIds: ['ada'], sources: ['tailrace'] };
    await api.refused({ method: 'POST', path: '/v1/deletions', body }, 400, 'invalid-request');
    const all = await api.expect(202, { method: 'POST', path: '/v1/deletions', body: { userIds: ['ada'] } });
    assert.doesNotMatch(JSON.stringify(all), /tailrace/);
  });
});
