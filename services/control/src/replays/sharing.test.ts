/** Replays of limited tokens beside those of others, through the API on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { names, openApi, type Api } from '../testing/api.ts';
import { createFlow } from '../testing/flow.ts';
import { encodeReplay, type OwnedReplay } from './record.ts';

type Json = Readonly<Record<string, unknown>>;

const destinations = ['crm', 'erp', 'oms', 'shop'];
let control: Api;
const tokens: Record<string, string> = {};
before(async () => {
  control = await openApi();
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web' } });
  const flow = createFlow(control.kafka);
  for (const id of destinations) {
    const settings = { webhooks: [{ url: `https://${id}.example.com/` }] };
    const body = { id, type: 'Webhooks', sources: ['web'], settings };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
    for (let count = 0; count < (id === 'oms' ? 100 : 6); count += 1) {
      await flow.publish(names.deliveriesDead, flow.delivery(id, { reason: 'client-error', attempt: 1 }));
    }
    const wanted = { name: id, scope: 'write', destinations: [id] };
    const { token } = await control.expect(201, { method: 'POST', path: '/v1/tokens', body: wanted });
    tokens[id] = String(token);
  }
});
after(() => control[Symbol.asyncDispose]());

const recovery = (id: string, more: object = {}) =>
  ({
    method: 'POST',
    path: `/v1/destinations/${id}/recover`,
    body: { since: '1h', ratePerSecond: 1, ...more },
  }) as const;

/** Resolves with the replay once it is as wanted. */
async function until(started: Json, holds: (replay: Json) => boolean): Promise<Json> {
  return eventually(() => control.expect(200, { path: `/v1/replays/${String(started['id'])}` }), holds);
}

const hasEnded = (replay: Json): boolean => replay['endedAt'] !== undefined;

function replayed(destinationId: string): number {
  const ofDestination = control.cluster
    .records(names.deliveriesReplay)
    .filter(({ headers }) => String(headers['destination-id']) === destinationId);
  assert.equal(
    new Set(ofDestination.map(({ headers }) => String(headers['delivery-id']))).size,
    ofDestination.length,
  );
  return ofDestination.length;
}

test('17.6 a recovery by a limited token ends no replay of another destination', async () => {
  const all = await control.expect(202, {
    method: 'POST',
    path: '/v1/replays',
    body: { destination: 'erp', ratePerSecond: 10 },
  });
  await until(all, (replay) => Number(replay['replayed']) > 0);
  const own = await control.expect(202, {
    ...recovery('crm', { ratePerSecond: 100 }),
    token: tokens['crm'] ?? '',
  });
  assert.equal((await until(own, hasEnded))['state'], 'done');
  assert.equal((await until(all, hasEnded))['state'], 'done');
  assert.deepEqual([replayed('crm'), replayed('erp')], [6, 6]);
});

test('a limited token leaves places for others, however slow its replays are', async () => {
  const token = tokens['oms'] ?? '';
  const answers = await Promise.all([1, 2, 3, 4].map(() => control.ask({ ...recovery('oms'), token })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 202, 429, 429]);
  const started = answers.filter(({ status }) => status === 202).map(({ json }) => json);
  const dryRun = { dryRun: true };
  const other = await control.expect(202, { ...recovery('shop', dryRun), token: tokens['shop'] ?? '' });
  const unlimited = await control.expect(202, recovery('oms', dryRun));
  for (const replay of [other, unlimited]) assert.equal((await until(replay, hasEnded))['state'], 'done');
  for (const { id } of started) {
    await control.expect(202, { method: 'DELETE', path: `/v1/replays/${String(id)}`, token });
    assert.equal((await until({ id }, hasEnded))['state'], 'interrupted');
  }
});

test('limited tokens push no replays of others out of the list, and of their own those of the destination with the most', async () => {
  const publisher = control.kafka.publisher();
  const before: OwnedReplay = {
    id: '',
    state: 'done',
    filter: {},
    ratePerSecond: 1,
    dryRun: true,
    startedAt: 1,
    endedAt: 2,
    replayed: 0,
    malformed: 0,
    instance: 'before',
    term: 1,
    revision: 1,
  };
  const idsOf = (name: string, count: number) => Array.from({ length: count }, (_, nth) => `${name}-${nth}`);
  const write = async (ids: readonly string[], more: Partial<OwnedReplay> = {}): Promise<void> => {
    await Promise.all(
      ids.map((id, nth) =>
        publisher.publish(encodeReplay(names.replays, { ...before, id, startedAt: nth, ...more })),
      ),
    );
  };
  const kept = idsOf('unlimited', 100);
  await write(kept);
  const [few, many] = [idsOf('few', 10), idsOf('many', 90)];
  await write(few, { limitedToken: 'few', filter: { destinationId: 'few' } });
  await write(many, { limitedToken: 'many', filter: { destinationId: 'many' } });
  await publisher.close();
  const token = tokens['shop'] ?? '';
  for (let count = 0; count < 2; count += 1) {
    const own = await control.expect(202, { ...recovery('shop', { dryRun: true }), token });
    await until(own, hasEnded);
  }
  for (const id of [...kept, ...few, ...many.slice(10)])
    await control.expect(200, { path: `/v1/replays/${id}` });
  await control.expect(404, { path: '/v1/replays/many-0' });
});
