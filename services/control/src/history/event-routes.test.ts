/** The answer of the API about an event that did not become a delivery for each connected destination. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { encodeDecision, formatPosition, type FilteredDestinations } from '@tailrace/records';
import { names, openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow, type Flow } from '../testing/flow.ts';

let api: Api;
let flow: Flow;
before(async () => {
  api = await openApi();
  flow = createFlow(api.kafka);
});
after(() => api[Symbol.asyncDispose]());

const decidedAt = Math.floor(Date.now() / 1_000) * 1_000;

async function decide(eventId: string, filtered: readonly FilteredDestinations[], routed = 0): Promise<void> {
  const decision = { eventId, sourceId: 'web', type: 'track', decidedAt, routed, filtered };
  await api.kafka.publisher().publish(encodeDecision(names.decisions, 'ada', decision));
}

type Answer = Readonly<Record<string, unknown>>;

/** The answer once the history has read what was published. */
async function explained(
  eventId: string,
  holds: (answer: Answer) => boolean = ({ outcome }) => outcome !== 'unknown',
): Promise<Answer> {
  const { json } = await eventually(
    () => api.ask({ path: `/v1/events/${eventId}` }),
    ({ status, json }) => status === 200 && holds(json),
  );
  return json;
}

const at = new Date(decidedAt).toISOString();

test('an event that was sent while a destination was disabled says so, however the destination is configured now', async () => {
  await api.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web', writeKeys: ['wk_web'] } });
  const settings = { webhooks: [{ url: 'https://crm.example/hook' }] };
  const crm = { id: 'crm', type: 'Webhooks', sources: ['web'], settings };
  await api.expect(201, { method: 'POST', path: '/v1/destinations', body: crm });
  await decide('m-off', [{ reason: 'disabled', destinations: [{ id: 'crm' }] }]);
  const answer = await explained('m-off');
  assert.deepEqual(
    { ...answer, behind: 0 },
    {
      eventId: 'm-off',
      outcome: 'filtered',
      deliveries: [],
      rejections: [],
      behind: 0,
      explanation: `At ${at} the router filtered it for crm: the destination was disabled.`,
      decisions: [
        {
          decidedAt: at,
          sourceId: 'web',
          type: 'track',
          routed: 0,
          filtered: [{ reason: 'disabled', count: 1, destinations: ['crm'] }],
        },
      ],
    },
  );
});

test('an event that was filtered names the rule, and one that had no destination says that', async () => {
  const rule = { path: 'condition', text: 'properties.total atLeast 100' };
  await decide('m-rule', [{ reason: 'filter', rule, destinations: [{ id: 'crm' }] }]);
  const { outcome, explanation } = await explained('m-rule');
  assert.deepEqual(
    [outcome, explanation],
    [
      'filtered',
      `At ${at} the router filtered it for crm: it did not meet the filter's rule condition, properties.total atLeast 100.`,
    ],
  );
  await decide('m-none', []);
  const none = await explained('m-none');
  assert.deepEqual(
    [none['outcome'], none['explanation']],
    ['no-destination', `At ${at} the router found no destination connected to the source web.`],
  );
});

test('an event that was routed to some destinations says so for the others too', async () => {
  await flow.publish(names.deliveries, flow.delivery('erp', { eventId: 'm-some' }));
  const many = Array.from({ length: 1_000 }, (_, index) => ({ id: `d${index}` }));
  await decide('m-some', [{ reason: 'integrations', destinations: many }], 1);
  const answer = await explained('m-some', (known) =>
    ['deliveries', 'decisions'].every((key) => (known[key] as unknown[]).length > 0),
  );
  assert.equal(answer['outcome'], 'routed');
  assert.match(
    String(answer['explanation']),
    /^It was routed to one destination\. At .* filtered it for d0, d1, d2, d3, d4 and 995 more: the integrations of the call turned them off\.$/,
  );
  assert.ok(JSON.stringify(answer).length < 5_000);
});

/** Publishes deliveries of the event to `crm`, each of another content. */
async function deliverTwice(eventId: string, deliveryIds: readonly string[]): Promise<void> {
  const deliveries = deliveryIds.map((deliveryId) => flow.delivery('crm', { deliveryId, eventId }));
  await Promise.all(deliveries.map((delivery) => flow.publish(names.deliveries, delivery)));
}

test('two events with one messageId and different content are both listed, and the answer says so', async () => {
  await deliverTwice('m-twice', ['d-forged', 'd-genuine']);
  const { explanation } = await explained(
    'm-twice',
    ({ deliveries }) => (deliveries as unknown[]).length === 2,
  );
  assert.equal(
    explanation,
    'It was routed to one destination. Its messageId was used for 2 events with different content, which are all listed.',
  );
});

test('a delivery that a replay made is listed after the first one, and is no other event', async () => {
  const [first, again] = ['d-first', 'd-later'].map((deliveryId) =>
    flow.delivery('crm', { deliveryId, eventId: 'm-replayed' }),
  );
  assert.ok(first && again);
  await flow.publish(names.deliveries, first);
  await flow.publish(names.deliveriesReplay, again);
  const { deliveries, explanation } = await explained(
    'm-replayed',
    (known) => (known['deliveries'] as unknown[]).length === 2,
  );
  const listed = (deliveries as { deliveryId: string; resends: unknown[] }[]).map(
    ({ deliveryId, resends }) => [deliveryId, resends.length],
  );
  assert.deepEqual(listed, [
    ['d-first', 0],
    ['d-later', 1],
  ]);
  assert.equal(explanation, 'It was routed to one destination.');
});

test('of thousands of events with one messageId the newest are listed', async () => {
  const ids = Array.from({ length: 600 }, (_, nth) => `d-${String(nth).padStart(3, '0')}`);
  await deliverTwice('m-thousand', ids);
  const { deliveries, explanation } = await explained('m-thousand', (known) =>
    JSON.stringify(known['deliveries']).includes('d-599'),
  );
  const listed = (deliveries as { deliveryId: string }[]).map(({ deliveryId }) => deliveryId);
  assert.deepEqual(listed, ids.slice(-500));
  assert.match(
    String(explanation),
    /^It was routed to at least one destination\..* of which the newest are listed\.$/,
  );
});

test('the call of an event is shown as it was accepted, to tokens that may read all of it', async () => {
  const call = '"type":"track","userId":"ada","event":"Order","properties":{"total":9007199254740993}';
  const value = `{"messageId":"m-call",${call}}`;
  const headers = { 'source-id': 'web' };
  await api.kafka.publisher().publish({ topic: names.events, key: 'ada', value, headers });
  const record = api.cluster.records(names.events).at(-1);
  assert.ok(record);
  // The body of a destination with a transform.
  const made = { eventId: 'm-call', eventPosition: formatPosition(record), body: Buffer.from('{}') };
  await flow.publish(names.deliveries, flow.delivery('crm', made));
  await api.historyRead();
  const path = '/v1/events/m-call/call';
  const { text } = await api.expect(200, { path });
  assert.match(String(text), /"properties":\{"total":9007199254740993\}/);

  const tokenFor = async (limits: object): Promise<string> => {
    const body = { name: `call-${JSON.stringify(limits).length}`, scope: 'write', ...limits };
    return String((await api.expect(201, { method: 'POST', path: '/v1/tokens', body }))['token']);
  };
  await api.expect(200, { path, token: await tokenFor({ sources: ['web'], destinations: ['crm'] }) });
  // `fields` may hide some of it from the destination.
  await api.refused({ path, token: await tokenFor({ destinations: ['crm'] }) }, 404, 'not-found');
  await api.refused({ path, token: readToken }, 403, 'forbidden');
  for (const unknown of ['m-some', 'm-never']) {
    await api.refused({ path: `/v1/events/${unknown}/call` }, 404, 'not-found');
  }
});
