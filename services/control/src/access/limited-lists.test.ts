/** Lists that a limited token reads: in pages and in counts, exactly what belongs to its sources and destinations. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { collect } from '@tailrace/testing';
import { openApi, names, type Api } from '../testing/api.ts';
import { createFlow } from '../testing/flow.ts';
import { access } from './table.ts';

type Item = Readonly<Record<string, unknown>>;

const destinations = ['crm', 'erp', 'oms'];
const sources = ['web', 'app'];
/** Of each destination and source. */
const deliveries = 8;

let control: Api;
const tokens = new Map<string, Limits>();
interface Limits {
  readonly sources?: readonly string[];
  readonly destinations?: readonly string[];
}
const limits: readonly Limits[] = [
  { destinations: ['crm', 'erp'] },
  { destinations: ['oms'] },
  { sources: ['web'] },
  { sources: ['web', 'app'], destinations: ['crm', 'oms'] },
  { sources: ['app'], destinations: ['erp', 'crm'] },
];

before(async () => {
  control = await openApi();
  for (const id of sources) await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id } });
  for (const id of destinations) {
    const settings = { webhooks: [{ url: `https://${id}.example.com/` }] };
    const body = { id, type: 'Webhooks', sources, settings };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
  const flow = createFlow(control.kafka);
  for (let count = 0; count < deliveries; count += 1) {
    for (const destinationId of destinations) {
      for (const sourceId of sources) {
        const one = flow.delivery(destinationId, { sourceId });
        await flow.publish(names.deliveries, one);
        if (count % 2 === 0) await flow.publish(names.deliveriesDead, { ...one, reason: 'client-error' });
      }
    }
  }
  const filtered = [{ reason: 'disabled', destinations: destinations.map((id) => ({ id })) }];
  for (const [count, sourceId] of [...sources, ...sources, ...sources].entries()) {
    await flow.decision(`filtered-${count}`, filtered, Date.now(), sourceId);
    await flow.decision(`unconnected-${count}`, [], Date.now(), sourceId);
  }
  for (const id of destinations) {
    const path = `/v1/destinations/${id}/recover`;
    await control.expect(202, { method: 'POST', path, body: { since: '1h', dryRun: true } });
  }
  await control.expect(202, { method: 'POST', path: '/v1/replays', body: { all: true, dryRun: true } });
  for (const [index, limited] of limits.entries()) {
    const body = { name: `limited ${index}`, scope: 'read', ...limited };
    const { token } = await control.expect(201, { method: 'POST', path: '/v1/tokens', body });
    tokens.set(String(token), limited);
  }
  await control.historyRead();
});
after(() => control[Symbol.asyncDispose]());

/** All items, in pages of three. */
async function all(path: string, token?: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ;) {
    const query = `limit=3${cursor === undefined ? '' : `&cursor=${cursor}`}`;
    const page = await control.expect(200, {
      path: `${path}?${query}`,
      ...(token !== undefined && { token }),
    });
    items.push(...(page['items'] as Item[]));
    cursor = page['next'] as string | undefined;
    if (cursor === undefined) return items;
  }
}

const isNamed = (list: readonly string[] | undefined, id: unknown): boolean =>
  list === undefined || list.includes(String(id));
const isOwn = (limited: Limits, { sourceId, destinationId }: Item): boolean =>
  isNamed(limited.sources, sourceId) && isNamed(limited.destinations, destinationId);

/** What a limited token must find among the items of all, by the operation of the list. */
const lists: Readonly<Record<string, [path: string, isReached: (limited: Limits, item: Item) => boolean]>> = {
  listSources: ['/v1/sources', (limited, { id }) => limited.sources?.includes(String(id)) ?? false],
  listDestinations: [
    '/v1/destinations',
    (limited, { id }) => limited.destinations?.includes(String(id)) ?? false,
  ],
  listDestinationHealth: [
    '/v1/destination-health',
    (limited, { destination }) =>
      limited.destinations?.includes(String((destination as Item)['id'])) ?? false,
  ],
  listIssues: [
    '/v1/issues',
    (limited, { destinationId }) =>
      limited.sources === undefined && isNamed(limited.destinations, destinationId),
  ],
  listDeliveries: ['/v1/deliveries', isOwn],
  listDeadLetters: ['/v1/dead-letters', isOwn],
  listDecisions: ['/v1/decisions', isOwn],
  listReplays: [
    '/v1/replays',
    // Those of dead letters are of all sources.
    (limited, { filter }) =>
      limited.sources === undefined && isNamed(limited.destinations, (filter as Item)['destination']),
  ],
};

/** The files of lists. */
const files = {
  exportDestinationHealth: '/v1/destination-health',
  exportIssues: '/v1/issues',
  exportDeliveries: '/v1/deliveries',
  exportDeadLetters: '/v1/dead-letters',
  exportDecisions: '/v1/decisions',
};

const idOf = ({ ref, id, deliveryId, eventId, destinationId, destination }: Item): string =>
  JSON.stringify([ref, id, deliveryId, eventId, destinationId, destination]);

test('every list of the table of access is tested here', () => {
  const inTable = Object.entries(access).flatMap(([id, { reach }]) => (reach === 'list' ? [id] : []));
  const tested = [...Object.keys({ ...lists, ...files }), 'summariseDeadLetters', 'streamAttempts'];
  assert.deepEqual(tested.sort(), inTable.sort());
});

for (const [operation, [path, isReached]] of Object.entries(lists)) {
  test(`${operation} has in its pages what the token reaches, in order, and nothing else`, async () => {
    const items = await all(path);
    for (const [token, limited] of tokens) {
      const expected = items.filter((item) => isReached(limited, item));
      assert.ok(expected.length < items.length, 'the token is limited');
      const found = await all(path, token);
      assert.deepEqual(found.map(idOf), expected.map(idOf), JSON.stringify(limited));
    }
  });
}

for (const [operation, path] of Object.entries(files)) {
  test(`${operation} has a row for each item of the list that the token reaches`, async () => {
    for (const token of tokens.keys()) {
      const items = await all(path, token);
      const { text } = await control.ask({ path: `${path}.csv`, token });
      assert.equal(text.trim().split('\r\n').length, items.length + 1);
    }
  });
}

test('the counts of dead letters are those of the letters that the token reaches', async () => {
  const letters = await all('/v1/dead-letters');
  for (const [token, limited] of tokens) {
    const expected = letters.filter((letter) => isOwn(limited, letter));
    const { deadLetters, items } = await control.expect(200, { path: '/v1/dead-letters/summary', token });
    assert.equal(deadLetters, expected.length, JSON.stringify(limited));
    const counted = (items as Item[]).map(({ destinationId, deadLetters }) => [destinationId, deadLetters]);
    const byDestination = Map.groupBy(expected, ({ destinationId }) => destinationId);
    assert.deepEqual(
      counted.sort(),
      [...byDestination].map(([id, { length }]) => [id, length] as const).sort(),
    );
  }
});

test('what counts or changes all deliveries of a destination needs a token that reaches all its sources', async () => {
  const deliveriesOf = '/v1/destinations/erp';
  const all = [
    { path: `${deliveriesOf}/stats` },
    { path: `${deliveriesOf}/health` },
    { path: `${deliveriesOf}/failures` },
    { path: `${deliveriesOf}/pending` },
    { path: `${deliveriesOf}/recall` },
    { method: 'POST', path: `${deliveriesOf}/retry` },
    { method: 'POST', path: `${deliveriesOf}/drain` },
    { method: 'POST', path: `${deliveriesOf}/recover`, body: { since: '1h' } },
  ] as const;
  const tokenOf = async (name: string, limited: Limits): Promise<string> => {
    const body = { name, scope: 'write', ...limited };
    return String((await control.expect(201, { method: 'POST', path: '/v1/tokens', body }))['token']);
  };
  const ofSource = await tokenOf('of a source', { sources: ['app'], destinations: ['erp'] });
  const ofDestination = await tokenOf('of a destination', { destinations: ['erp'] });
  const replays = (await control.expect(200, { path: '/v1/replays' }))['items'] as Item[];
  const recovery = replays.find(({ filter }) => (filter as Item)['destination'] === 'erp');
  const path = `/v1/replays/${String(recovery?.['id'])}`;
  for (const request of [
    { path },
    { method: 'POST', path: `${path}/pause` },
    { method: 'POST', path: `${path}/resume` },
    { method: 'DELETE', path },
  ] as const) {
    await control.refused({ ...request, token: ofSource }, 404, 'not-found');
    const { status } = await control.ask({ ...request, token: ofDestination });
    assert.ok([200, 202].includes(status), `${request.path}: ${status}`);
  }
  for (const request of all) {
    await control.refused({ ...request, token: ofSource }, 403, 'forbidden');
    const { status } = await control.ask({ ...request, token: ofDestination });
    assert.ok([200, 202].includes(status) || request.path.endsWith('/recall'), `${request.path}: ${status}`);
    const elsewhere = { ...request, path: request.path.replace('erp', 'oms') };
    for (const token of [ofSource, ofDestination])
      await control.refused({ ...elsewhere, token }, 404, 'not-found');
  }
});

test('an id that the token does not reach is not found, in a query and in a path', async () => {
  const [crmAndErp = ''] = tokens.keys();
  const paths = ['/v1/deliveries', '/v1/dead-letters', '/v1/dead-letters/summary', '/v1/attempts/stream'];
  for (const path of paths) {
    await control.refused({ path: `${path}?destination=oms`, token: crmAndErp }, 404, 'not-found');
  }
  const replays = (await control.expect(200, { path: '/v1/replays' }))['items'] as Item[];
  for (const { id, filter } of replays) {
    const isReached = ['crm', 'erp'].includes(String((filter as Item)['destination']));
    const { status } = await control.ask({ path: `/v1/replays/${String(id)}`, token: crmAndErp });
    assert.equal(status, isReached ? 200 : 404);
  }
});

test('a stream of attempts has those of the destinations and sources of its token', async () => {
  const address = await control.listen();
  const limited = [...tokens].find(([, { sources, destinations }]) => sources?.length === 1 && destinations);
  const [token, reached] = limited ?? assert.fail();
  const stream = await fetch(`${address}/v1/attempts/stream`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const flow = createFlow(control.kafka);
  const own = reached.destinations?.at(-1) ?? '';
  for (const [destinationId, sourceId] of [
    ['oms', 'app'],
    [own, 'web'],
    [own, 'app'],
  ] as const) {
    await flow.attempt(flow.delivery(destinationId, { sourceId }), 'delivered');
  }
  assert.ok(stream.body);
  const chunks = collect<string>('the stream', String);
  const enough = new AbortController();
  const reading = stream.body
    .pipeThrough(new TextDecoderStream())
    .pipeTo(new WritableStream({ write: chunks.add }), { signal: enough.signal });
  await chunks.waitFor((received) => received.join('').trim().endsWith('}'));
  enough.abort();
  await assert.rejects(reading, { name: 'AbortError' });
  const { sourceId, destinationId } = JSON.parse(chunks.items.join('').trim()) as Item;
  assert.deepEqual([destinationId, sourceId], [own, 'app']);
});
