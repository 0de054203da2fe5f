/** Dead letters and replays through the API, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deliveryKey, encodeDelivery } from '@tailrace/records';
import { names, openApi, readToken, type Api } from '../testing/api.ts';

type Json = Readonly<Record<string, unknown>>;

let control: Api;
before(async () => {
  control = await openApi();
});
after(() => control[Symbol.asyncDispose]());

const itemsOf = (json: Json): readonly Json[] => json['items'] as Json[];
const replay = (status: number, body: object): Promise<Json> =>
  control.expect(status, { path: '/v1/replays', method: 'POST', body });

/** Writes dead letters of a destination. */
async function writeDeadLetters(destinationId: string, count: number): Promise<void> {
  const publisher = control.kafka.publisher();
  const letters = Array.from({ length: count }, (_, nth) => {
    const userId = `u-${nth}`;
    return encodeDelivery(names.deliveriesDead, {
      deliveryId: `${destinationId}-${nth}`,
      eventId: `event-${nth}`,
      sourceId: 'web',
      destinationId,
      type: 'track',
      eventName: 'Died',
      attempt: 1,
      step: 1,
      deferrals: 0,
      closedUrls: [],
      reason: 'client-error',
      key: deliveryKey(destinationId, userId),
      body: Buffer.from(JSON.stringify({ version: 1, type: 'track', userId, event: 'Died' })),
    });
  });
  await Promise.all(letters.map((letter) => publisher.publish(letter)));
  await publisher.close();
  await control.historyRead();
}

async function ended(started: Json): Promise<Json> {
  const id = String(started['id']);
  await control.logged(({ msg, replay }) => msg === 'replay ended' && replay === id);
  return control.expect(200, { path: `/v1/replays/${id}` });
}

test('a summary with a limit has the largest counts and says how many it leaves out', async () => {
  await writeDeadLetters('small', 1);
  await writeDeadLetters('large', 2);
  const all = await control.expect(200, { path: '/v1/dead-letters/summary' });
  const limited = await control.expect(200, { path: '/v1/dead-letters/summary?limit=1' });
  assert.equal(itemsOf(all)[0]?.['destinationId'], 'large');
  assert.deepEqual([all['omitted'], all['deadLetters']], [0, 3]);
  assert.deepEqual(limited, { ...all, items: itemsOf(all).slice(0, 1), omitted: 1 });
  assert.equal((await control.expect(200, { path: '/v1/overview' }))['deadLetters'], 3);
  await control.refused({ path: '/v1/dead-letters/summary?limit=0' }, 400, 'invalid-request');
});

test('dead letters are listed in pages, counted, shown, counted for a replay, and replayed once', async () => {
  await writeDeadLetters('crm', 3);
  const list = '/v1/dead-letters?destination=crm';
  const first = await control.expect(200, { path: `${list}&limit=2` });
  const second = await control.expect(200, { path: `${list}&limit=2&cursor=${String(first['next'])}` });
  const refs = [...itemsOf(first), ...itemsOf(second)].map(({ ref }) => ref);
  assert.equal(new Set(refs).size, 3);
  assert.equal(second['next'], undefined);
  const summary = await control.expect(200, { path: '/v1/dead-letters/summary?destination=crm' });
  assert.deepEqual([summary['deadLetters'], itemsOf(summary)[0]?.['reason']], [3, 'client-error']);

  const path = `/v1/dead-letters/${String(refs[0])}`;
  const [letter] = itemsOf(await control.expect(200, { path }));
  assert.deepEqual([letter?.['event'], letter?.['masked'], letter?.['replayed']], ['Died', false, false]);
  const [masked] = itemsOf(await control.expect(200, { path, token: readToken }));
  assert.deepEqual([masked?.['masked'], (masked?.['body'] as Json)['userId']], [true, '***']);
  const ofDelivery = { path: `/v1/dead-letters/${String(letter?.['deliveryId'])}` };
  assert.deepEqual(itemsOf(await control.expect(200, ofDelivery)), [letter]);

  const counted = await ended(await replay(202, { destination: 'crm', dryRun: true }));
  assert.deepEqual([counted['state'], counted['due'], counted['replayed']], ['done', 3, 0]);
  const done = await ended(await replay(202, { destination: 'crm', ratePerSecond: 1_000 }));
  assert.deepEqual([done['state'], done['due'], done['replayed']], ['done', 3, 3]);
  assert.equal(control.cluster.records(names.deliveriesReplay).length, 3);
  const again = await ended(await replay(202, { destination: 'crm' }));
  assert.deepEqual([again['due'], again['replayed']], [0, 0]);
  assert.equal(itemsOf(await control.expect(200, { path: '/v1/replays' })).length, 3);
  await using other = await openApi(control.cluster);
  assert.deepEqual(await other.expect(200, { path: `/v1/replays/${String(done['id'])}` }), done);
});

test('a token reads ten bodies at a time', async () => {
  const path = '/v1/dead-letters/crm-0';
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => control.ask({ path, token: readToken })),
  );
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 200), 429, 429]);
});

test('an interrupted replay stops, and another replay sends the rest', async () => {
  await writeDeadLetters('slow', 60);
  const slow = await replay(202, { destination: 'slow', ratePerSecond: 1 });
  const interrupted = await control.expect(202, {
    path: `/v1/replays/${String(slow['id'])}`,
    method: 'DELETE',
  });
  assert.equal(interrupted['id'], slow['id']);
  const { state, replayed } = await ended(slow);
  assert.equal(state, 'interrupted');
  const rest = await ended(await replay(202, { destination: 'slow', ratePerSecond: 1_000 }));
  assert.equal(Number(rest['replayed']) + Number(replayed), 60);
});

test('a replay requires a filter, and an unknown replay is not found', async () => {
  await replay(400, {});
  await replay(400, { all: true, destination: 'crm' });
  await replay(400, { destination: 'crm', ratePerSecond: 0 });
  await control.expect(404, { path: '/v1/replays/none' });
  await control.expect(404, { path: '/v1/replays/none', method: 'DELETE' });
  await control.expect(404, { path: '/v1/dead-letters/0-999999' });
  await control.expect(403, { path: '/v1/replays', method: 'POST', body: { all: true }, token: readToken });
});

test('a replay of events names a destination and a beginning, and a limited token starts one within its limits', async () => {
  for (const id of ['web', 'app'])
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id } });
  const settings = { webhooks: [{ url: 'https://hook.example.com/' }] };
  const destination = { id: 'hook', type: 'Webhooks', sources: ['web'], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: destination });
  const order = { kind: 'events', destination: 'hook', from: '1h' };
  await replay(400, { kind: 'events', destination: 'hook' });
  await replay(400, { kind: 'events', from: '1h' });
  await replay(400, { ...order, reason: 'client-error' });
  await replay(400, { ...order, until: '2h' });
  await replay(400, { destination: 'hook', from: '1h' });
  await replay(404, { ...order, destination: 'none' });
  await replay(409, { ...order, source: 'app' });
  await replay(413, { ...order, userId: 'u'.repeat(70_000) });
  const bad = await control.ask({
    path: '/v1/replays',
    method: 'POST',
    body: { ...order, filter: { none: 1 } },
  });
  assert.equal(bad.status, 400, bad.text);

  await replay(400, { ...order, topic: names.audit });
  await replay(409, { ...order, topic: names.eventsRestore });
  control.cluster.createTopic(names.eventsRestore, { partitions: 1 });
  const restored = await replay(202, { ...order, topic: names.eventsRestore, dryRun: true });
  assert.equal(((await ended(restored))['filter'] as Json)['topic'], names.eventsRestore);
  assert.equal(restored['estimate'], undefined, 'the history does not count what was restored');
  const counted = await replay(202, { ...order, topic: names.events, userId: 'ada', dryRun: true });
  assert.deepEqual([counted['kind'], counted['estimate']], ['events', { events: 0, rows: [] }]);
  const { due, expectedSeconds } = await ended(counted);
  assert.deepEqual([due, expectedSeconds, counted['overlaps']], [0, 0, []]);
  const path = `/v1/replays/${String(counted['id'])}`;
  const shown = (await control.expect(200, { path, token: readToken }))['filter'] as Json;
  assert.equal(shown['userId'], '***');

  const wanted = { name: 'hook', scope: 'write', destinations: ['hook'], sources: ['app'] };
  const { token } = await control.expect(201, { method: 'POST', path: '/v1/tokens', body: wanted });
  const limited = (status: number, body: object) =>
    control.expect(status, { method: 'POST', path: '/v1/replays', body, token: String(token) });
  await limited(403, { all: true });
  await limited(404, { ...order, destination: 'other' });
  await limited(404, { ...order, source: 'web' });
  const own = await limited(202, order);
  assert.deepEqual((own['filter'] as Json)['sources'], ['app']);
  const ofDestination = { name: 'crm', scope: 'write', destinations: ['hook'] };
  const other = await control.expect(201, { method: 'POST', path: '/v1/tokens', body: ofDestination });
  const asked = { method: 'POST', path: '/v1/replays', body: { ...order, dryRun: true } } as const;
  const unseen = await control.expect(202, { ...asked, token: String(other['token']) });
  assert.equal(unseen['estimate'], undefined, 'the usage of the source is not shown to it');
  await control.expect(404, { path, token: String(token) });
});

test('the estimate counts what was routed since the day of the oldest event', async () => {
  const sources = Array.from({ length: 3 }, (_, nth) => `counted-${nth}`);
  for (const id of sources) await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id } });
  const settings = { webhooks: [{ url: 'https://counted.example.com/' }] };
  const destination = { id: 'counted', type: 'Webhooks', sources, settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body: destination });
  const publisher = control.kafka.publisher();
  const dayOf = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  await publisher.publish({ topic: names.events, key: 'ada', value: '{}' });
  for (const sourceId of sources) {
    for (const [day, calls] of [
      [dayOf(0), 2],
      [dayOf(30), 1],
    ] as const) {
      const usage = { sourceId, day, calls: { page: calls }, filtered: 0, events: [] };
      await publisher.publish({ topic: names.usage, key: sourceId, value: JSON.stringify(usage) });
    }
  }
  await publisher.close();
  await control.historyRead();
  const counted = await replay(202, {
    kind: 'events',
    destination: 'counted',
    from: '60d',
    dryRun: true,
  });
  assert.equal((counted['estimate'] as Json)['events'], 6);
  await ended(counted);
});
