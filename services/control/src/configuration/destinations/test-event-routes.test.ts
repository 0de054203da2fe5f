/** Test events to a receiver on loopback. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { maxEventBytes } from '@tailrace/events';
import { newCluster, openApi, type Api } from '../../testing/api.ts';

const received: string[] = [];
let header: string | string[] | undefined;
const receiver = createServer((request, response) => {
  header = request.headers['x-a'];
  void textOf(request).then((body) => {
    received.push(body);
    response.end();
  });
});
let control: Api;
before(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  control = await openApi(newCluster(), { TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' });
  const { port } = receiver.address() as AddressInfo;
  const settings = { webhooks: [{ url: `http://127.0.0.1:${port}/` }] };
  const filter = { types: ['page'] };
  const body = { id: 'crm', type: 'Webhooks', sources: [], filter, settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
});
after(async () => {
  await control[Symbol.asyncDispose]();
  receiver.closeAllConnections();
  receiver.close();
});

const request = { method: 'POST', path: '/v1/destinations/crm/test' } as const;

test('a call is sent with the body that the router would build, and the digits of its numbers', async () => {
  received.length = 0;
  const properties = '"properties":{"total":12345678901234567890,"rate":1e400}';
  const call = `{"type":"track","userId":"ada","event":"Order","timestamp":"2026-11-22T10:00:00Z",${properties}}`;
  const { items } = await control.expect(200, { ...request, bytes: `{"call":${call}}` });
  const body =
    '{"version":1,"type":"track","userId":"ada","timestamp":"2026-11-22T10:00:00.000Z","event":"Order",' +
    `${properties}}`;
  assert.deepEqual(received, [body]);
  assert.equal((items as { request: { body: string } }[])[0]?.request.body, body);
});

test('6.9 7.10 a call is sent as the fields and the content type of the destination say', async () => {
  received.length = 0;
  const path = '/v1/destinations/crm';
  const change = { fields: { exclude: ['properties.email'] }, settings: { contentType: 'form' } };
  await control.expect(200, { method: 'PATCH', path, body: change });
  const call = { type: 'track', userId: 'ada', event: 'Order', properties: { email: 'a@b', total: 1 } };
  await control.expect(200, { ...request, body: { call } });
  const payload = new URLSearchParams(received[0]).get('payload') ?? '';
  assert.deepEqual((JSON.parse(payload) as { properties: object }).properties, { total: 1 });
  await control.expect(200, {
    method: 'PATCH',
    path,
    body: { fields: null, settings: { contentType: null } },
  });
});

test('6.10 a call is sent as the transform makes it, and refused where it makes nothing of it', async () => {
  received.length = 0;
  const path = '/v1/destinations/crm';
  const code = `({ event, type }) => event === 'Skip' || type === 'delete' ? null
    : { body: { text: event.slice(1) }, headers: { 'X-A': 'b' }, url: 0 }`;
  await control.expect(200, { method: 'PATCH', path, body: { transform: { code } } });
  const call = { type: 'track', userId: 'ada', event: 'Order' };
  await control.expect(200, { ...request, body: { call } });
  assert.deepEqual([received, header], [['{"text":"rder"}'], 'b']);
  const skipped = await control.refused(
    { ...request, body: { call: { ...call, event: 'Skip' } } },
    400,
    'invalid-request',
  );
  assert.match(skipped.text, /the transform of the destination returned null/);
  const failed = await control.refused({ ...request, body: { type: 'page' } }, 400, 'invalid-request');
  assert.match(failed.text, /fails in the transform: TypeError.*\(line 2\)/);
  await control.expect(200, { ...request, body: { call: { type: 'delete', userId: 'ada' } } });
  assert.equal(received.length, 2);
  assert.match(received[1] ?? '', /"type":"delete"/);
  await control.expect(200, { method: 'PATCH', path, body: { transform: null } });
});

test('without a call a sample of the type is sent, also without a body', async () => {
  received.length = 0;
  await control.expect(200, { ...request, body: { type: 'group' } });
  await control.expect(200, request);
  assert.deepEqual(
    received.map((body) => (JSON.parse(body) as { type: string }).type),
    ['group', 'track'],
  );
});

test('a call that the router would refuse is refused with the reason, and nothing is sent', async () => {
  received.length = 0;
  const track = { type: 'track', userId: 'ada', event: 'E' };
  for (const [call, problem] of [
    [{}, /^call is not valid: type must be one of /],
    [{ type: 'track', event: 'E' }, /^call is not valid: userId or anonymousId is required/],
    [{ ...track, properties: 7 }, /^call is not valid: properties /],
    [
      { ...track, properties: { text: 'x'.repeat(maxEventBytes) } },
      /^call has \d+ bytes as JSON; 69632 are allowed/,
    ],
    ['track', /^call is not a tracking call/],
  ] as const) {
    const { json } = await control.refused({ ...request, body: { call } }, 400, 'invalid-request');
    assert.match(String(json['message']), problem);
  }
  assert.deepEqual(received, []);
});
