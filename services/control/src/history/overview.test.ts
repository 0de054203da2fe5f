/** The flow of all events, what is pending, and the stream of what is new. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { adminToken, names, newCluster, openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow, type Flow } from '../testing/flow.ts';

const cluster = newCluster();
let control: Api;
let url: string;
let flow: Flow;
before(async () => {
  control = await openApi(cluster);
  url = await control.listen();
  flow = createFlow(control.kafka);
  for (const id of ['web', 'app'])
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id } });
  for (const id of ['crm', 'erp']) {
    const settings = { webhooks: [{ url: `https://${id}.example.com` }] };
    await control.expect(201, {
      method: 'POST',
      path: '/v1/destinations',
      body: { id, type: 'Webhooks', enabled: true, sources: ['web'], settings },
    });
  }
});
after(() => control[Symbol.asyncDispose]());

const now = Date.now();
async function overview(query = ''): Promise<Record<string, unknown>> {
  await control.historyRead();
  return control.expect(200, { path: `/v1/overview${query}` });
}

test('an empty history has an overview of zeros, with all steps', async () => {
  const shown = await overview('?since=1h&step=5m');
  const items = shown['items'] as unknown[];
  assert.ok(items.length >= 12 && items.length <= 13);
  assert.deepEqual([shown['pending'], shown['deadLetters'], shown['breakers']], [[], 0, []]);
});

test('each delivery counts once with its current status, in every order of its records', async () => {
  const [delivered, retried, waiting] = [flow.delivery('crm'), flow.delivery('erp'), flow.delivery('erp')];
  await flow.publish(names.deliveries, delivered);
  await flow.attempt(delivered, 'delivered');
  await flow.attempt(retried, 'retry', {
    reason: 'timeout',
    startedAt: new Date(now - 1_000).toISOString(),
    nextDueAt: new Date(now + 60_000).toISOString(),
  });
  await flow.publish(names.deliveries, retried);
  await flow.publish(names.retryTier(1_000), {
    ...retried,
    attempt: 1,
    dueAt: now + 60_000,
    reason: 'circuit-open',
  });
  await flow.publish(names.deliveries, waiting);
  const shown = await overview();
  const total = shown['total'] as Record<string, unknown>;
  assert.deepEqual(
    ['delivered', 'retrying', 'waiting', 'dead'].map((status) => total[status]),
    [1, 1, 1, 0],
  );
  assert.deepEqual((total['attempts'] as Record<string, unknown>)['attempts'], 2);
  assert.deepEqual(shown['pending'], [
    { deliveries: 1 },
    { tier: '1s', reason: 'circuit-open', deliveries: 1 },
  ]);
  assert.deepEqual(shown['breakers'], [{ destinationId: 'erp', deliveries: 1 }]);
  const pending = await control.expect(200, { path: '/v1/destinations/erp/pending', token: readToken });
  assert.deepEqual([pending['total'], pending['reason']], [2, 'circuit-open']);
  assert.equal(Date.parse(String(pending['nextDueAt'])), now + 60_000);
});

test('an open circuit breaker is shown with the time since which its latest attempt reports it', async () => {
  const since = now - 120_000;
  const breakerOpenSince = new Date(since).toISOString();
  const shownSince = async (): Promise<unknown[]> => {
    await control.historyRead();
    const pending = await control.expect(200, { path: '/v1/destinations/erp/pending', token: readToken });
    const { breakers } = await overview();
    return [pending['openSince'], (breakers as { openSince?: string }[])[0]?.openSince];
  };
  const failed = flow.delivery('erp');
  // The older attempt is read later.
  await flow.attempt(failed, 'retry', { startedAt: new Date(now - 1_000).toISOString(), breakerOpenSince });
  await flow.attempt(failed, 'retry', { startedAt: new Date(now - 9_000).toISOString(), attempt: 9 });
  assert.deepEqual(await shownSince(), [breakerOpenSince, breakerOpenSince]);
  await flow.attempt(failed, 'delivered', { startedAt: new Date(now).toISOString(), attempt: 10 });
  assert.deepEqual(await shownSince(), [undefined, undefined]);
});

test('the backlog of a destination over time is what was added and has not ended', async () => {
  const body = {
    id: 'late',
    type: 'Webhooks',
    enabled: true,
    sources: ['web'],
    settings: { webhooks: [{ url: 'https://late.example.com' }] },
  };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  const backlogOf = async (): Promise<readonly { readonly at: string; readonly deliveries: number }[]> => {
    await control.historyRead();
    const path = '/v1/destinations/late/stats?since=10m&step=1m';
    const { backlog } = await control.expect(200, { path, token: readToken });
    return backlog as { at: string; deliveries: number }[];
  };
  const made = [flow.delivery('late'), flow.delivery('late'), flow.delivery('late')];
  for (const one of made) await flow.publish(names.deliveries, one);
  const before = await backlogOf();
  assert.ok(before.length >= 10 && before.length <= 11, String(before.length));
  assert.deepEqual([before[0]?.deliveries, before.at(-1)?.deliveries], [0, 3]);
  const { oldestAt } = await control.expect(200, { path: '/v1/destinations/late/pending' });
  assert.ok(Math.abs(Date.parse(String(oldestAt)) - Date.now()) < 60_000);

  const [first = flow.delivery('late'), second = first] = made;
  await flow.attempt(first, 'delivered');
  await flow.publish(names.deliveriesDead, { ...second, reason: 'drained' });
  assert.equal((await backlogOf()).at(-1)?.deliveries, 1);
  // Of one millisecond, the history takes the dead letter for the later record.
  const written = Date.now();
  await eventually(() => Date.now() > written);
  await flow.publish(names.deliveriesReplay, { ...second, replayedFrom: '0/0' });
  await control.historyRead();
  const day = await control.expect(200, { path: '/v1/destinations/late/stats?since=24h' });
  const steps = (day['backlog'] as { deliveries: number }[]).map(({ deliveries }) => deliveries);
  assert.deepEqual([steps[0], steps.at(-1)], [0, 2]);
  const all = await control.expect(200, { path: '/v1/destinations/late/stats?since=9999999d' });
  assert.equal(all['since'], '1970-01-01T00:00:00.000Z');
  const after = await backlogOf();
  assert.deepEqual([after[0]?.deliveries, after.at(-1)?.deliveries], [0, 2]);
});

test('reasons of the router and of dead letters are counted, and repeats of a record are not', async () => {
  const dead = flow.delivery('crm');
  await flow.publish(names.deliveriesDead, { ...dead, reason: 'client-error' });
  await flow.publish(names.deliveriesDead, { ...dead, reason: 'client-error' });
  const filtered = [{ reason: 'filter', destinations: [{ id: 'crm' }, { id: 'erp' }] }];
  await flow.decision('e-x', filtered, now);
  await flow.decision('e-x', filtered, now);
  await flow.usage('web', 5, 2);
  const { total } = (await overview()) as { total: Record<string, unknown> };
  assert.deepEqual(total['deadReasons'], [{ reason: 'client-error', count: 1 }]);
  assert.deepEqual(total['filtered'], [{ reason: 'filter', count: 2 }]);
  assert.deepEqual([total['received'], total['blocked']], [5, 2]);
  // Each step has what was counted in all of its minutes.
  for (const query of ['?since=6h&step=10m', '?since=24h', '?since=7d']) {
    const { items } = (await overview(query)) as { items: readonly { readonly received: number }[] };
    assert.equal(
      items.reduce((sum, { received }) => sum + received, 0),
      5,
      query,
    );
  }
  const week = (await overview('?since=7d')) as { total: Record<string, unknown>; step: string };
  assert.deepEqual([week.total['received'], week.step], [5, '3h']);
});

test('a period that cannot be is refused with the rule', async () => {
  for (const query of ['?since=0s', '?since=1h&until=2h', '?step=90s', '?since=46h&step=1m', '?since=soon']) {
    await control.refused({ path: `/v1/overview${query}` }, 400, 'invalid-request');
  }
});

/** Reads a stream until `wanted` is in it. */
async function streamUntil(
  wanted: RegExp,
  query = '',
  headers: Record<string, string> = {},
): Promise<string> {
  const ending = new AbortController();
  const authorization = `Bearer ${adminToken}`;
  const answer = await fetch(`${url}/v1/stream${query}`, {
    headers: { authorization, ...headers },
    signal: ending.signal,
  });
  assert.equal(answer.headers.get('content-type'), 'text/event-stream');
  // A connection that outlives its stream would hold up the shutdown.
  assert.equal(answer.headers.get('connection'), 'close');
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? assert.fail('a stream has a body')) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (wanted.test(text)) break;
  }
  ending.abort();
  return text;
}

test('an open page gets attempts and changes of the configuration as they happen', async () => {
  const seen = streamUntil(
    /event: config[^]*event: counts|event: counts[^]*event: config/,
    '?attempts=true&destination=crm',
  );
  const watched = { isSeen: false };
  void seen.then(() => (watched.isSeen = true));
  let number = 0;
  await eventually(async () => {
    const made = flow.delivery('crm');
    await flow.attempt(made, 'delivered', { startedAt: new Date().toISOString() });
    await flow.attempt(flow.delivery('erp'), 'delivered', { startedAt: new Date().toISOString() });
    const body = { name: `CRM ${(number += 1)}` };
    await control.expect(200, { method: 'PATCH', path: '/v1/destinations/crm', body });
    return watched.isSeen;
  });
  const text = await seen;
  assert.match(
    text,
    /^retry: 1000\n\nevent: hello\nid: [0-9a-f]{8}-\d+\ndata: \{"origin":"[0-9a-f]{8}","missed":false\}/,
  );
  assert.match(text, /event: attempt\n/);
  assert.doesNotMatch(text, /"destinationId":"erp"/);
});

test('a page that was disconnected gets what it missed, or the notice that it missed something', async () => {
  const text = await streamUntil(/event: hello[^]*\n\n/);
  const [, origin = ''] = /"origin":"([0-9a-f]{8})"/.exec(text) ?? [];
  const before = Number(/id: [0-9a-f]+-(\d+)/.exec(text)?.[1]);
  const missedOne = flow.delivery('crm');
  await flow.attempt(missedOne, 'delivered');
  await control.historyRead();
  const resumed = await streamUntil(/event: attempt/, '?attempts=true', {
    'last-event-id': `${origin}-${before}`,
  });
  assert.match(resumed, /"missed":false/);
  assert.ok(resumed.includes(missedOne.deliveryId));
  const ofOther = await streamUntil(/event: hello[^]*\n\n/, '', { 'last-event-id': '00000000-5' });
  assert.match(ofOther, /"missed":true/);
  const damaged = await streamUntil(/event: hello[^]*\n\n/, '', { 'last-event-id': 'x' });
  assert.match(damaged, /"missed":true/);
});
