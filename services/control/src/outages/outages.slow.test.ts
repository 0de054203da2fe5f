/** `disableAfter` on an in-memory cluster: attempts of past days, read one after another. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import type { Kafka } from '@tailrace/kafka';
import { eventually } from '@tailrace/testing';
import type { AttemptRecord, AuditRecord } from '@tailrace/records';
import type { ControlChanges } from '../open.ts';
import { names, newCluster, openApi, type Api } from '../testing/api.ts';
import { createFlow } from '../testing/flow.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const crm = '/v1/destinations/crm';
const start = Date.now() - 6 * dayMs;
const iso = (at: number): string => new Date(at).toISOString();

/** An instance of control, of which `looked` resolves when it has looked at all attempts. */
async function openInstance(cluster = newCluster(), changes: ControlChanges = {}) {
  const turns = new EventEmitter();
  const outages = { everyMs: 5, onTurn: () => turns.emit('turn') };
  const operations = { deadSpanMs: 100, everyMs: 10 };
  const api = await openApi(cluster, {}, { outages, operations, ...changes });
  return Object.assign(api, {
    async looked(): Promise<void> {
      await api.historyRead();
      // The first of these may have begun before, one ends an outage, and the next one begins another.
      for (let turn = 0; turn < 4; turn += 1) await once(turns, 'turn');
    },
  });
}
type Instance = Awaited<ReturnType<typeof openInstance>>;

async function configure(api: Api, more: object = { disableAfter: '3d' }): Promise<void> {
  await api.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web' } });
  const settings = { webhooks: [{ url: 'https://crm.example.com' }, { url: 'https://crm2.example.com' }] };
  for (const body of [
    { id: 'crm', type: 'Webhooks', sources: ['web'], settings, ...more },
    { id: 'hook', type: 'Webhooks', sources: ['tailrace'], settings },
  ]) {
    await api.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
}

/** Attempts at these hours after the start, each of which all instances look at before the next one. */
async function attempts(
  instances: readonly [Instance, ...Instance[]],
  hours: readonly number[],
  outcome: AttemptRecord['outcome'] = 'retry',
  reason = 'timeout',
): Promise<void> {
  const flow = createFlow(instances[0].kafka);
  for (const hour of hours) {
    const failed = outcome !== 'delivered' && { reason };
    const startedAt = iso(start + hour * hourMs);
    await flow.attempt(flow.delivery('crm'), outcome, { startedAt, latencyMs: 0, ...failed });
    for (const instance of instances) await instance.looked();
  }
}

async function outageOf(api: Api): Promise<Readonly<Record<string, unknown>> | undefined> {
  const health = await api.expect(200, { path: `${crm}/health` });
  return health['outage'] as Record<string, unknown> | undefined;
}

const isEnabled = async (api: Api) => (await api.expect(200, { path: crm }))['enabled'];

interface Event {
  readonly event: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

const events = ({ cluster }: Api, name: string): Event[] =>
  cluster
    .records(names.events)
    .map(({ value }) => JSON.parse(String(value)) as Event)
    .filter(({ event, properties }) => event === name && properties['destinationId'] === 'crm');

const toTheWarning = [0, 24, 48];
const toTheEnd = [72];

test('5.11 a destination whose attempts only fail is warned, disabled and shown so, once by two instances', async () => {
  const cluster = newCluster();
  await using api = await openInstance(cluster);
  await using other = await openInstance(cluster);
  await configure(api);
  const both = [api, other] as const;
  await attempts(both, toTheWarning);
  const since = iso(start);
  const disablesAt = iso(start + 3 * dayMs);
  for (const one of both) {
    assert.deepEqual(await outageOf(one), { state: 'warned', since, reason: 'timeout', disablesAt });
  }
  await attempts(both, toTheEnd);
  assert.deepEqual([await isEnabled(api), await isEnabled(other)], [false, false]);
  const missedFrom = iso(start - 4 * hourMs);
  for (const one of both) {
    assert.deepEqual(await outageOf(one), { state: 'disabled', since, reason: 'timeout', missedFrom });
  }
  const disabled = await eventually(
    () => events(api, 'destination.disabled'),
    ({ length }) => length > 0,
  );
  assert.deepEqual(
    disabled.map(({ properties }) => properties['failingSince']),
    [since],
  );
  assert.deepEqual(
    events(api, 'destination.disabling').map(({ properties }) => properties),
    [{ destinationId: 'crm', failingSince: since, disablesAt, reason: 'timeout' }],
  );
  const { items } = await api.expect(200, { path: '/v1/audit?target=destination/crm' });
  const [{ action, actor, changes } = {} as AuditRecord] = items as AuditRecord[];
  assert.deepEqual([action, actor], ['destination.update', { kind: 'service', name: 'control' }]);
  assert.deepEqual(changes, [{ field: 'enabled', before: true, after: false }]);
});

test('an instance that starts later, and rebuilds its history, continues an outage', async () => {
  const cluster = newCluster();
  {
    await using first = await openInstance(cluster);
    await configure(first);
    await attempts([first], toTheWarning);
  }
  await using second = await openInstance(cluster);
  await attempts([second], toTheEnd);
  assert.equal(await isEnabled(second), false);
  assert.equal(events(second, 'destination.disabling').length, 1);
});

test('one success keeps a destination enabled, an outage of the egress proxy is none of it, and without disableAfter all may fail', async () => {
  await using api = await openInstance();
  await configure(api);
  await attempts([api], toTheWarning);
  await attempts([api], [50], 'delivered');
  assert.equal(await outageOf(api), undefined);
  await attempts([api], [55], 'retry', 'proxy-unauthorized');
  await attempts([api], [58], 'retry', 'proxy-unreachable');
  assert.equal(await outageOf(api), undefined);
  await attempts([api], [60, 72, 90]);
  assert.deepEqual(
    [await isEnabled(api), (await outageOf(api))?.['since']],
    [true, iso(start + 60 * hourMs)],
  );

  await api.expect(200, { method: 'PATCH', path: crm, body: { disableAfter: null } });
  await attempts([api], [110, 130, 140]);
  assert.deepEqual([await isEnabled(api), await outageOf(api)], [true, undefined]);
});

test('a change by hand begins the time anew', async () => {
  await using api = await openInstance();
  await configure(api);
  await attempts([api], toTheWarning);
  for (const body of [{ enabled: false }, { enabled: true }]) {
    await api.expect(200, { method: 'PATCH', path: crm, body });
  }
  await api.looked();
  await attempts([api], toTheEnd);
  assert.equal(await isEnabled(api), true);
  assert.deepEqual((await outageOf(api))?.['since'], iso(start + 48 * hourMs));
});

test('an entry that is changed while it is being disabled stays enabled', async () => {
  const cluster = newCluster();
  await using other = await openInstance(cluster, { outages: { everyMs: dayMs } });
  let beforeWrite: (() => Promise<unknown>) | undefined;
  const configKafka = (kafka: Kafka): Kafka => ({
    ...kafka,
    async exclusivePublisher(...options) {
      const change = beforeWrite;
      beforeWrite = undefined;
      await change?.();
      return kafka.exclusivePublisher(...options);
    },
  });
  await using api = await openInstance(cluster, { configKafka });
  await configure(other);
  await attempts([api], toTheWarning);
  const body = { settings: { webhooks: [{ url: 'https://repaired.example.com' }] } };
  beforeWrite = () => other.expect(200, { method: 'PATCH', path: crm, body });
  await attempts([api], toTheEnd);
  assert.equal(beforeWrite, undefined);
  const { enabled, settings } = await api.expect(200, { path: crm });
  assert.deepEqual([enabled, settings], [true, body.settings]);
  assert.equal(await outageOf(api), undefined);
});

test('what was disabled is enabled again by hand, and has the whole time before it is disabled once more', async () => {
  await using api = await openInstance();
  await configure(api);
  await attempts([api], [...toTheWarning, ...toTheEnd]);
  assert.equal(await isEnabled(api), false);
  await api.expect(200, { method: 'PATCH', path: crm, body: { name: 'CRM' } });
  assert.equal((await outageOf(api))?.['state'], 'disabled');
  await api.expect(200, { method: 'PATCH', path: crm, body: { enabled: true } });
  await api.looked();
  await attempts([api], [80, 100, 119]);
  assert.deepEqual([await isEnabled(api), (await outageOf(api))?.['state']], [true, 'failing']);
  await api.expect(204, { method: 'DELETE', path: crm });
  await api.looked();
  const left = api.cluster
    .records(names.destinationsHealth)
    .filter(({ key }) => String(key) === 'outage/crm');
  assert.equal(left.at(-1)?.value, null);
});
