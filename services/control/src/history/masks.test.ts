/** What a read-only token sees of users: the same in bodies, lists and streams. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeExchanges, type UrlAttempt } from '@tailrace/records';
import { collect } from '@tailrace/testing';
import { adminToken, names, openApi, readToken, type Api } from '../testing/api.ts';
import { createFlow, type Flow } from '../testing/flow.ts';

let control: Api;
let flow: Flow;
let deliveryId: string;
let eventId: string;
const exchange = {
  address: '203.0.113.7:443',
  requestHeaders: { 'User-Agent': 'Tailrace/1.0' },
  responseHeaders: { 'content-type': 'application/json', 'x-request-id': 'of-ada' },
  responseBody: '{"type":"ada","error":{"user":"ada","codes":[1,null]}}',
};
const refused: UrlAttempt = {
  url: 'https://crm.example/hook',
  status: 400,
  reason: 'client-error',
  latencyMs: 9,
  exchange,
};
before(async () => {
  control = await openApi();
  flow = createFlow(control.kafka);
  const delivery = flow.delivery('crm');
  ({ deliveryId, eventId } = delivery);
  await flow.publish(names.deliveries, delivery);
  await flow.attempt(delivery, 'dead', { reason: 'client-error', urls: [refused] });
  const { exchange: _, ...lastAnswer } = refused;
  await flow.publish(names.deliveriesDead, {
    ...delivery,
    attempt: 1,
    reason: 'client-error',
    lastAnswer: JSON.stringify([lastAnswer]),
    exchanges: encodeExchanges([exchange]),
  });
  await flow.decision(eventId, [{ reason: 'disabled', destinations: [{ id: 'erp' }] }]);
  const replay = { method: 'POST', path: '/v1/replays', body: { userId: 'ada', dryRun: true } } as const;
  await control.expect(202, replay);
  await control.expect(200, { method: 'POST', path: '/v1/suppressions', body: { userIds: ['ada'] } });
  await control.historyRead();
});
after(() => control[Symbol.asyncDispose]());

const paths = (): readonly string[] => [
  '/v1/deliveries',
  '/v1/deliveries?userId=ada',
  `/v1/deliveries/${deliveryId}`,
  `/v1/deliveries/${deliveryId}/body`,
  `/v1/events/${eventId}`,
  '/v1/decisions',
  '/v1/dead-letters',
  '/v1/dead-letters?userId=ada',
  `/v1/dead-letters/${deliveryId}`,
  '/v1/replays',
];

test('a read-only token sees no user id in bodies and lists, and filters by one that it knows', async () => {
  for (const path of paths()) {
    const whole = await control.ask({ path });
    assert.match(whole.text, /"(userKey|userId)":"ada"/, path);
    const masked = await control.ask({ path, token: readToken });
    assert.equal(masked.status, 200);
    // A random id may contain the letters.
    assert.doesNotMatch(masked.text, /\bada\b/, path);
    assert.match(masked.text, /"(userKey|userId)":"\*\*\*"/, path);
  }
});

test('a read-only token sees the names of events in bodies as in lists', async () => {
  for (const path of paths().filter((path) => !path.startsWith('/v1/replays'))) {
    const { text } = await control.ask({ path, token: readToken });
    assert.match(text, /"event":"Order Completed"/, path);
  }
});

test('a read-only token sees the names in the answer of a receiver, and no value', async () => {
  const settings = { webhooks: [{ url: refused.url }] };
  const body = { id: 'crm', type: 'Webhooks', sources: [], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  for (const path of [
    `/v1/deliveries/${deliveryId}`,
    `/v1/events/${eventId}`,
    '/v1/destinations/crm/failures',
    `/v1/dead-letters/${deliveryId}`,
  ]) {
    const whole = await control.ask({ path });
    assert.ok(whole.text.includes(JSON.stringify(exchange)), `${path} ${whole.text}`);
    const masked = await control.ask({ path, token: readToken });
    const shown = {
      address: exchange.address,
      requestHeaders: exchange.requestHeaders,
      responseHeaders: { 'content-type': '***', 'x-request-id': '***' },
      responseBody: '{"type":"***","error":{"user":"***","codes":["***",null]}}',
    };
    assert.ok(masked.text.includes(JSON.stringify(shown)), `${path} ${masked.text}`);
  }
});

test('a read-only token does not list the suppressed users, and looks one up whom it knows', async () => {
  await control.refused({ path: '/v1/suppressions', token: readToken }, 403, 'forbidden');
  await control.expect(200, { path: '/v1/suppressions/ada', token: readToken });
});

test('a read-only token sees no user id in streams', async () => {
  const address = await control.listen();
  for (const path of ['/v1/attempts/stream', '/v1/stream?attempts=true']) {
    for (const [token, shown] of [
      [adminToken, 'ada'],
      [readToken, '***'],
    ] as const) {
      const ending = new AbortController();
      const headers = { authorization: `Bearer ${token}` };
      const stream = await fetch(`${address}${path}`, { headers, signal: ending.signal });
      await flow.attempt(flow.delivery('crm'), 'retry', { reason: 'client-error', urls: [refused] });
      const chunks = collect<string>('the stream', String);
      const reading = stream.body
        ?.pipeThrough(new TextDecoderStream())
        .pipeTo(new WritableStream({ write: chunks.add }), { signal: ending.signal });
      const text = () => chunks.items.join('');
      await chunks.waitFor(() => text().includes('"userKey"'));
      ending.abort();
      await assert.rejects(reading ?? Promise.resolve(), { name: 'AbortError' });
      assert.ok(text().includes(`"userKey":"${shown}"`), text());
      assert.equal(text().includes('of-ada'), token === adminToken);
    }
  }
});
