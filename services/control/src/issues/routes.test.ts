/** Issues: what fails, and what people say about it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { names, newCluster, openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow, type Flow } from '../testing/flow.ts';

type Issue = Readonly<Record<string, unknown>>;

async function create(control: Api, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const settings = { webhooks: [{ url: `https://${id}.example.com` }] };
    const body = { id, type: 'Webhooks', sources: [], settings };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
}

async function issues(control: Api, query = '', token = readToken): Promise<readonly Issue[]> {
  await control.historyRead();
  return (await control.expect(200, { path: `/v1/issues${query}`, token }))['items'] as Issue[];
}

const named = (found: readonly Issue[]): string[] =>
  found.map(({ destinationId, reason, state }) => [destinationId, reason, state].join(' '));

/** A minute is enough for the order of two failures, also where they are known to the minute. */
const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

async function failAt(flow: Flow, destinationId: string, reason: string, startedAt: string): Promise<string> {
  const failed = flow.delivery(destinationId);
  await flow.attempt(failed, 'retry', { reason, startedAt });
  return failed.deliveryId;
}

const say = (control: Api, path: string, body: object) =>
  control.expect(200, { method: 'PUT', path: `/v1/destinations/${path}`, body });

test('an issue has the failures of a destination with one reason, and the latest as an example', async () => {
  await using control = await openApi();
  const flow = createFlow(control.kafka);
  await create(control, 'crm', 'erp');
  const [first, last] = [minutesAgo(30), minutesAgo(5)];
  const example = await failAt(flow, 'crm', 'timeout', last);
  await failAt(flow, 'crm', 'timeout', first);
  await failAt(flow, 'deleted', 'timeout', first);
  const given = flow.delivery('erp');
  await flow.publish(names.deliveriesDead, { ...given, reason: 'window-exceeded' });
  await flow.publish(names.deliveriesDead, { ...flow.delivery('erp'), reason: 'user-deleted' });
  await flow.publish(names.deliveriesDead, { ...flow.delivery('erp'), reason: 'drained' });
  const found = await issues(control);
  assert.deepEqual(named(found), ['erp window-exceeded open', 'crm timeout open']);
  const counts = { attempts: 2, dead: 0, firstAt: first, lastAt: last, deliveryId: example };
  assert.partialDeepStrictEqual(found[1], counts);
  assert.partialDeepStrictEqual(found[0], { attempts: 0, dead: 1, deliveryId: given.deliveryId });
  assert.deepEqual(named(await issues(control, '?destination=crm')), ['crm timeout open']);
  const page = await control.expect(200, { path: '/v1/issues?limit=1' });
  assert.deepEqual(named(await issues(control, `?cursor=${String(page['next'])}`)), ['crm timeout open']);
});

test('an acknowledged issue stays so while it fails, and a dismissed one is opened by the next failure', async () => {
  await using control = await openApi();
  const flow = createFlow(control.kafka);
  await create(control, 'crm');
  await failAt(flow, 'crm', 'timeout', minutesAgo(30));
  await failAt(flow, 'crm', 'server-error', minutesAgo(40));
  await control.historyRead();
  const note = 'Ada asks the provider.';
  const acknowledged = await say(control, 'crm/issues/timeout', { state: 'acknowledged', note });
  const { at, ...mark } = acknowledged['mark'] as Record<string, unknown>;
  assert.deepEqual([typeof at, mark], ['string', { state: 'acknowledged', note, by: 'TAILRACE_API_TOKEN' }]);
  await say(control, 'crm/issues/server-error', { state: 'dismissed' });
  assert.deepEqual(named(await issues(control)), ['crm timeout acknowledged', 'crm server-error dismissed']);
  assert.deepEqual(named(await issues(control, '?state=dismissed')), ['crm server-error dismissed']);

  await failAt(flow, 'crm', 'timeout', minutesAgo(2));
  await failAt(flow, 'crm', 'server-error', minutesAgo(35));
  const [reopened] = await issues(control, '?state=open');
  assert.deepEqual(
    [reopened?.['reason'], (reopened?.['mark'] as Issue)['state']],
    ['server-error', 'dismissed'],
  );
  await say(control, 'crm/issues/timeout', { state: 'open' });
  const open = await issues(control, '?state=open');
  assert.deepEqual(named(open), ['crm timeout open', 'crm server-error open']);
  assert.equal('mark' in (open[0] ?? {}), false);
  const line = await control.logged((line) => line['audit'] === 'issue.dismiss');
  assert.deepEqual([line['target'], line['outcome']], ['issue/crm/server-error', 'done']);
});

test('what was said is known in every instance, also to one with a new history, and goes with the destination', async () => {
  const cluster = newCluster();
  await using control = await openApi(cluster);
  const flow = createFlow(control.kafka);
  await create(control, 'crm', 'erp');
  for (const id of ['crm', 'erp']) await failAt(flow, id, 'timeout', minutesAgo(5));
  await control.historyRead();
  {
    await using other = await openApi(cluster);
    await other.historyRead();
    await say(control, 'crm/issues/timeout', { state: 'dismissed' });
    assert.deepEqual(named(await issues(other)), ['erp timeout open', 'crm timeout dismissed']);
  }
  await control.expect(204, { method: 'DELETE', path: '/v1/destinations/crm' });
  await say(control, 'erp/issues/timeout', { state: 'acknowledged' });
  const kept = new Map(
    cluster.records(names.destinationsHealth).map(({ key, value }) => [String(key), value !== null]),
  );
  assert.deepEqual(Object.fromEntries(kept), { 'issue/crm/timeout': false, 'issue/erp/timeout': true });
});

test('only failures that the history has are marked, with a bounded note, by a token that reaches all sources', async () => {
  await using control = await openApi();
  const flow = createFlow(control.kafka);
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'web' } });
  await create(control, 'crm', 'erp');
  for (const id of ['crm', 'erp']) await failAt(flow, id, 'timeout', minutesAgo(5));
  await control.historyRead();
  const put = (path: string, body: object, token?: string) =>
    ({
      method: 'PUT',
      path: `/v1/destinations/${path}`,
      body,
      ...(token !== undefined && { token }),
    }) as const;
  const acknowledged = { state: 'acknowledged' };
  await control.refused(put('crm/issues/other', acknowledged), 404, 'not-found');
  await control.refused(put('nothing/issues/timeout', acknowledged), 404, 'not-found');
  await control.refused(put('crm/issues/timeout', { state: 'solved' }), 400, 'invalid-request');
  const long = { ...acknowledged, note: 'x'.repeat(501) };
  await control.refused(put('crm/issues/timeout', long), 400, 'invalid-request');
  await control.refused(put('crm/issues/timeout', acknowledged, readToken), 403, 'forbidden');

  const tokenOf = async (limits: object): Promise<string> => {
    const body = { name: JSON.stringify(limits), scope: 'write', ...limits };
    return String((await control.expect(201, { method: 'POST', path: '/v1/tokens', body }))['token']);
  };
  const ofCrm = await tokenOf({ destinations: ['crm'] });
  assert.deepEqual(named(await issues(control, '', ofCrm)), ['crm timeout open']);
  await control.refused(put('erp/issues/timeout', acknowledged, ofCrm), 404, 'not-found');
  const marked = await control.expect(200, put('crm/issues/timeout', acknowledged, ofCrm));
  assert.equal('by' in (marked['mark'] as object), false);
  const ofSources = await tokenOf({ sources: ['web'], destinations: ['crm'] });
  assert.deepEqual(await issues(control, '', ofSources), []);
  await control.refused(put('crm/issues/timeout', acknowledged, ofSources), 403, 'forbidden');
});
