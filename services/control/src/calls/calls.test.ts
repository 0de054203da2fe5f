/** Streams of the calls of a source: what came in, and what became of it. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { OutgoingHeaders } from '@tailrace/kafka';
import { encodeDecision, type FilteredDestinations } from '@tailrace/records';
import { eventually } from '@tailrace/testing';
import { amounts } from '../access/shared.ts';
import { adminToken, names, openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow } from '../testing/flow.ts';
import { openLines, type LineStream } from '../testing/lines.ts';

interface Line {
  readonly id?: string;
  readonly outcome?: string;
  readonly missed?: number;
  readonly [field: string]: unknown;
}

let control: Api;
let url: string;
let streams: LineStream<Line>[] = [];
before(async () => {
  control = await openApi();
  for (const id of ['web', 'app']) {
    const body = { id, writeKeys: [`wk_${id}1`] };
    await control.expect(201, { method: 'POST', path: '/v1/sources', body });
  }
  const settings = { webhooks: [{ url: 'https://crm.example.com/hook' }] };
  const body = { id: 'crm', type: 'Webhooks', settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  url = await control.listen();
});
after(() => control[Symbol.asyncDispose]());
afterEach(async () => {
  for (const stream of streams) stream.leave();
  streams = [];
  await eventually(() => groups().length === 0);
});

/** The groups that read `events` for streams. */
function groups(): readonly string[] {
  return control.cluster.activeGroups.filter((id) => id.startsWith(`${names.events}.tail.`));
}

async function watch(source: string, query = '', token = adminToken): Promise<LineStream<Line>> {
  const stream = await openLines<Line>(`${url}/v1/sources/${source}/calls/stream${query}`, token);
  streams.push(stream);
  return stream;
}

const publish = async (topic: string, value: string, headers: OutgoingHeaders): Promise<void> =>
  control.kafka.publisher({}).publish({ topic, partition: 0, key: 'ada', value, headers });

/** Writes a call of a source to `events`, and returns its position. */
async function call(
  changes: object = {},
  headers: OutgoingHeaders = { 'source-id': 'web' },
): Promise<{ readonly id: string; readonly offset: number; readonly json: string }> {
  const offset = control.cluster.topic(names.events).partitions[0]?.high ?? 0;
  const json = JSON.stringify({
    type: 'track',
    event: 'Order Completed',
    userId: 'ada',
    messageId: `m-${offset}`,
    ...changes,
  });
  await publish(names.events, json, headers);
  return { id: `events/0/${offset}`, offset, json };
}

async function decide(offset: number, filtered: readonly FilteredDestinations[], routed = 0): Promise<void> {
  const base = { eventId: `m-${offset}`, sourceId: 'web', type: 'track', decidedAt: Date.now() };
  const decision = { ...base, routed, filtered };
  const record = encodeDecision(names.decisions, 'ada', decision, { partition: 0, offset });
  await control.kafka.publisher({}).publish(record);
}

async function deliver(offset: number, destinationId: string): Promise<void> {
  const flow = createFlow(control.kafka);
  const delivery = flow.delivery(destinationId, { eventPosition: `0/${offset}` });
  await flow.publish(names.deliveries, delivery);
}

/** Resolves with the line of the call with this outcome. */
const lineOf = (stream: LineStream<Line>, id: string, outcome: string): Promise<Line> =>
  stream.find((line) => line.id === id && line.outcome === outcome);

test('the first call of a source is shown at once, also where no destination is connected', async () => {
  const stream = await watch('web');
  const { id, json, offset } = await call({ properties: { total: 25.5 } });
  const { receivedAt, ...line } = await lineOf(stream, id, 'accepted');
  assert.ok(!Number.isNaN(Date.parse(String(receivedAt))));
  const shown = { type: 'track', event: 'Order Completed', userKey: 'ada', eventId: `m-${offset}` };
  const where = { destinations: [], filtered: [] };
  assert.deepEqual(line, { id, outcome: 'accepted', ...shown, ...where, call: json });
  await decide(offset, []);
  const { call: content } = await lineOf(stream, id, 'no-destination');
  assert.equal(content, undefined, 'a change has no content');
});

test('a call is routed, blocked, filtered or rejected, with the destinations and the reason', async () => {
  const stream = await watch('web');
  const [routed, blocked, filtered, rejected] = [await call(), await call(), await call(), await call()];
  for (const destination of ['crm', 'erp']) await deliver(routed.offset, destination);
  await decide(routed.offset, [{ reason: 'disabled', destinations: [{ id: 'mailer' }] }], 2);
  await stream.find(
    ({ id, destinations, filtered }) =>
      id === routed.id &&
      JSON.stringify([destinations, filtered]) ===
        '[["crm","erp"],[{"reason":"disabled","count":1,"destinations":["mailer"]}]]',
  );
  await decide(blocked.offset, [{ reason: 'schema', destinations: [{ id: 'crm' }] }]);
  await lineOf(stream, blocked.id, 'blocked');
  await decide(filtered.offset, [
    { reason: 'schema', destinations: [{ id: 'crm' }] },
    { reason: 'integrations', destinations: [{ id: 'erp' }] },
  ]);
  await lineOf(stream, filtered.id, 'filtered');
  await publish(names.eventsRejected, rejected.json, {
    'source-id': 'web',
    'error-code': 'invalid-call',
    'error-message': 'event is required.',
    'origin-topic': names.events,
    'origin-partition': '0',
    'origin-offset': String(rejected.offset),
  });
  const { code, message } = await lineOf(stream, rejected.id, 'rejected');
  assert.deepEqual([code, message], ['invalid-call', 'event is required.']);
});

test('a call that ingest has refused is shown with its answer, also where it is no JSON', async () => {
  const stream = await watch('web');
  await publish(names.eventsRejected, '{"userId":', {
    'source-id': 'web',
    'error-code': 'malformed-json',
    'error-message': 'The body is not JSON.',
    origin: 'ingest',
    status: '400',
  });
  const { outcome, code, status, call } = await stream.find(({ id }) => id?.startsWith('rejected/') ?? false);
  assert.deepEqual([outcome, code, status, call], ['rejected', 'malformed-json', 400, '{"userId":']);
});

test('a call whose deliveries are read before it has them in its first line', async () => {
  const stream = await watch('web');
  const before = await call();
  await deliver(before.offset + 1, 'crm');
  await decide(before.offset, []);
  await lineOf(stream, before.id, 'no-destination');
  const { id } = await call();
  const [line] = (await stream.waitFor((lines) => lines.some((line) => line.id === id))).filter(
    (line) => line.id === id,
  );
  assert.deepEqual([line?.outcome, line?.['destinations']], ['routed', ['crm']]);
});

test('a call that the router has finished without a trace is a repeat, and one that waits for its schema is not', async () => {
  const stream = await watch('web');
  const [first, repeat, waits] = [await call(), await call({ messageId: 'm-repeat' }), await call()];
  await decide(first.offset, []);
  await publish(names.eventsWaiting, waits.json, {
    'source-id': 'web',
    'tailrace-place': `${waits.offset} ${Date.now()}`,
  });
  await lineOf(stream, waits.id, 'waiting');
  await control.cluster.commit('test.router', names.events, 0, repeat.offset);
  const next = await call();
  await lineOf(stream, next.id, 'accepted');
  assert.ok(!stream.items.some(({ outcome }) => outcome === 'repeated'));
  await control.cluster.commit('test.router', names.events, 0, next.offset);
  await lineOf(stream, repeat.id, 'repeated');
  const repeated = stream.items.filter(({ outcome }) => outcome === 'repeated').map(({ id }) => id);
  assert.deepEqual(repeated, [repeat.id]);
});

test('a stream has the calls of its source, event and user, also where they name their source by a write key', async () => {
  const own = await watch('web');
  const filtered = await watch('web', '?event=Signed%20Up&userId=ben');
  await call({ event: 'Signed Up', userId: 'ben' }, { 'source-id': 'app' });
  const byHeader = await call({}, { 'write-key': 'wk_web1' });
  const byField = await call({ writeKey: 'wk_web1' }, {});
  await call({ event: 'Signed Up', userId: 'ada', properties: { name: 'ben' } });
  const wanted = await call({ event: 'Signed Up', userId: 'ben' });
  await lineOf(own, wanted.id, 'accepted');
  await lineOf(filtered, wanted.id, 'accepted');
  assert.equal(own.items.length, 4);
  assert.deepEqual(
    own.items.slice(0, 2).map(({ id }) => id),
    [byHeader.id, byField.id],
  );
  assert.deepEqual(
    filtered.items.map(({ id }) => id),
    [wanted.id],
  );
});

test('a read-only token sees no values, and its stream is not audited', async () => {
  const [masked, whole] = [await watch('web', '?userId=ada', readToken), await watch('web')];
  const { id } = await call({ properties: { email: 'ada@example.com' } });
  assert.match(JSON.stringify(await lineOf(whole, id, 'accepted')), /ada@example\.com/);
  const line = await lineOf(masked, id, 'accepted');
  assert.deepEqual(
    [line['userKey'], line['call']],
    [
      '***',
      '{"type":"track","event":"Order Completed","userId":"***","messageId":"***","properties":{"email":"***"}}',
    ],
  );
  const audited = await eventually(
    async () => (await control.expect(200, { path: '/v1/audit?limit=200' }))['items'] as Line[],
    (items) => items.some(({ action }) => action === 'source.read-calls'),
  );
  const readers = audited
    .filter(({ action }) => action === 'source.read-calls')
    .map(({ actor }) => (actor as { name: string }).name);
  assert.deepEqual([...new Set(readers)], ['TAILRACE_API_TOKEN']);
});

test('a limited token watches its sources, and sees its destinations', async () => {
  const body = { name: 'crm team', scope: 'write', sources: ['web'], destinations: ['crm'] };
  const token = String((await control.expect(201, { method: 'POST', path: '/v1/tokens', body }))['token']);
  await control.refused({ path: '/v1/sources/app/calls/stream', token }, 404, 'not-found');
  await control.refused({ path: '/v1/sources/none/calls/stream' }, 404, 'not-found');
  const [limited, whole] = [await watch('web', '', token), await watch('web')];
  const { id, offset } = await call();
  for (const destination of ['crm', 'erp']) await deliver(offset, destination);
  const group = { reason: 'disabled', destinations: [{ id: 'mailer' }] };
  await decide(offset, [group], 2);
  await whole.find((line) => line.id === id && JSON.stringify(line).includes('mailer'));
  const { id: last } = await call();
  await lineOf(limited, last, 'accepted');
  assert.ok(limited.items.some(({ destinations }) => JSON.stringify(destinations) === '["crm"]'));
  assert.doesNotMatch(JSON.stringify(limited.items), /erp|mailer/);
});

test('a flood of one source is counted for those who watch it, and another source is shown beside it', async () => {
  const [flooded, beside] = [await watch('web'), await watch('app')];
  const sent = 4 * amounts.calls.ofOne;
  await Promise.all(Array.from({ length: sent }, () => call()));
  const { id } = await call({}, { 'source-id': 'app' });
  await lineOf(beside, id, 'accepted');
  const missedOf = (lines: readonly Line[]): number => lines.reduce((sum, { missed = 0 }) => sum + missed, 0);
  const lines = await flooded.waitFor(
    (lines) => missedOf(lines) + lines.filter((line) => line.id !== undefined).length === sent,
  );
  assert.ok(missedOf(lines) > 0);
  assert.ok(!beside.items.some(({ missed }) => missed !== undefined));
});

test('what cannot be shown does no harm: binary, deep, huge and hostile content', async () => {
  const stream = await watch('web', '', readToken);
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const contents = [
    '\0\0\0\0\u0001avro',
    deep,
    'x'.repeat(500_000),
    '"\u2028</script>\n{"id":1}"',
    'null',
    '[]',
  ];
  for (const content of contents) await publish(names.events, content, { 'source-id': 'web' });
  const { id } = await call();
  await lineOf(stream, id, 'accepted');
  assert.equal(stream.items.length, contents.length + 1);
});

test('topics are read only while somebody watches', async () => {
  assert.deepEqual(groups(), []);
  const [first, second] = [await watch('web'), await watch('app')];
  assert.equal(groups().length, 1);
  first.leave();
  const { id } = await call({}, { 'source-id': 'app' });
  await lineOf(second, id, 'accepted');
  second.leave();
  await eventually(() => groups().length === 0);
  const again = await watch('web');
  const later = await call();
  await lineOf(again, later.id, 'accepted');
});
