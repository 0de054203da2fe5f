/** Masks for write keys, header values and the queries of URLs in answers. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { openConfig } from '@tailrace/config';
import { names, newCluster, openApi, readToken, secretKey, type Api } from '../testing/api.ts';

let control: Api;
before(async () => {
  control = await openApi(newCluster(), { TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' });
});
after(() => control[Symbol.asyncDispose]());

const mask = '********';
const url = 'https://crm.example.com/hook?token=S3CRET-query';
const headers = { Authorization: 'Bearer S3CRET-header', 'X-Team': 'growth' };

test('a read-only token sees neither write keys nor queries of URLs nor values of headers', async () => {
  const source = { id: 'web', writeKeys: ['wk_S3CRET', 'wk_S3CRET-2'] };
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: source });
  const settings = { sharedSecret: 'S3CRET-shared', webhooks: [{ url, headers }] };
  const body = { id: 'crm', type: 'Webhooks', sources: ['web'], settings };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });

  for (const path of ['/v1/sources', '/v1/sources/web', '/v1/destinations', '/v1/destinations/crm']) {
    const { text } = await control.ask({ path, token: readToken });
    assert.match(text, /web/);
    assert.doesNotMatch(text, /S3CRET|growth/, path);
  }
  const shownSource = await control.expect(200, { path: '/v1/sources/web', token: readToken });
  assert.deepEqual(shownSource['writeKeys'], [mask, mask]);
  const shown = await control.expect(200, { path: '/v1/destinations/crm', token: readToken });
  assert.deepEqual(shown['settings'], {
    sharedSecret: mask,
    webhooks: [
      {
        url: `https://crm.example.com/hook?${mask}`,
        headers: { Authorization: mask, 'X-Team': mask },
        secretHeaders: ['Authorization'],
      },
    ],
  });
  const own = await control.expect(200, { path: '/v1/sources/web' });
  assert.deepEqual(own['writeKeys'], source.writeKeys);
});

test('17.5 the password and token of auth are masked, and kept for the same URLs only', async () => {
  const path = '/v1/destinations/auth';
  const webhooks = [{ url }];
  const settings = { auth: { username: 'ada', password: 'S3CRET-password' }, webhooks };
  const body = { id: 'auth', type: 'Webhooks', sources: [], settings };
  const created = await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  assert.deepEqual(created['settings'], { auth: { username: 'ada', password: mask }, webhooks });
  await control.expect(200, { method: 'PUT', path, body: { ...created, name: 'CRM' } });
  const moved = { webhooks: [{ url }, { url: 'https://other.example.com/' }] };
  for (const change of [
    { method: 'PATCH', body: { settings: moved } },
    { method: 'PUT', body: { ...created, settings: { ...(created['settings'] as object), ...moved } } },
  ] as const) {
    const { problems } = await control.expect(400, { ...change, path });
    assert.deepEqual(problems, [
      {
        field: 'settings.auth.password',
        rule: 'has to be given again, because settings.webhooks[1].url is new',
      },
    ]);
  }
  const again = { settings: { ...moved, auth: settings.auth } };
  await control.expect(200, { method: 'PATCH', path, body: again });
  await control.expect(200, { method: 'PATCH', path, body: { settings: { webhooks } } });
  const auth = { token: 'S3CRET-token' };
  const changed = { settings: { ...moved, auth: { ...auth, username: null, password: null } } };
  const { settings: shown } = await control.expect(200, { method: 'PATCH', path, body: changed });
  assert.deepEqual(shown, { ...moved, auth: { token: mask } });
});

test('17.5 the client secret of oauth2 is masked, and kept for the same URLs only', async () => {
  const path = '/v1/destinations/oauth2';
  const oauth2 = {
    tokenUrl: 'https://id.example.com/token?S3CRET-t',
    clientId: 'crm',
    clientSecret: 'S3CRET-client',
  };
  const settings = { oauth2, webhooks: [{ url }] };
  const body = { id: 'oauth2', type: 'Webhooks', sources: [], settings };
  const created = await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  const shown = { ...oauth2, clientSecret: mask };
  assert.deepEqual(created['settings'], { ...settings, oauth2: shown });
  assert.doesNotMatch((await control.ask({ path, token: readToken })).text, /S3CRET/);
  // Its other fields may change.
  const scoped = { settings: { oauth2: { scope: 'events' } } };
  await control.expect(200, { method: 'PATCH', path, body: scoped });
  for (const [moved, changed] of [
    [{ oauth2: { tokenUrl: 'https://evil.example.com/token' } }, 'settings.oauth2.tokenUrl'],
    [{ webhooks: [{ url: 'https://evil.example.com/' }] }, 'settings.webhooks[0].url'],
  ] as const) {
    const { problems } = await control.expect(400, { method: 'PATCH', path, body: { settings: moved } });
    const rule = `has to be given again, because ${changed} is new`;
    assert.deepEqual(problems, [{ field: 'settings.oauth2.clientSecret', rule }]);
  }
  const again = { tokenUrl: 'https://new.example.com/token', clientSecret: 'S3CRET-new' };
  const { settings: kept } = await control.expect(200, {
    method: 'PATCH',
    path,
    body: { settings: { oauth2: again } },
  });
  assert.deepEqual(kept, { ...settings, oauth2: { ...shown, scope: 'events', tokenUrl: again.tokenUrl } });
  const records = control.cluster
    .records(names.config)
    .filter(({ key }) => String(key) === 'destination/oauth2');
  assert.ok(records.length >= 3);
  for (const { value } of records) assert.doesNotMatch(String(value), /S3CRET-(client|new)/);
  const audit = control.cluster
    .records(names.audit)
    .map(({ value }) => String(value))
    .join();
  assert.doesNotMatch(audit, /S3CRET/);
});

test('17.5 the value of every header is masked, and the mask keeps it', async () => {
  const body = { id: 'kept', type: 'Webhooks', sources: [], settings: { webhooks: [{ url, headers }] } };
  const created = await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  const secretHeaders = ['Authorization'];
  const shown = { webhooks: [{ url, headers: { Authorization: mask, 'X-Team': mask }, secretHeaders }] };
  assert.deepEqual(created['settings'], shown);
  const path = '/v1/destinations/kept';
  const replaced = await control.expect(200, { method: 'PUT', path, body: { ...created, name: 'CRM' } });
  assert.deepEqual([replaced['name'], replaced['settings']], ['CRM', shown]);
  const settings = {
    webhooks: [{ url, headers: { Authorization: mask, 'X-Team': 'sales' } }],
  };
  await control.expect(200, { method: 'PATCH', path, body: { settings } });
  const stored = control.cluster
    .records(names.config)
    .findLast(({ key }) => String(key) === 'destination/kept');
  assert.match(String(stored?.value), /"headers":\{"Authorization":"sealed:[^"]+","X-Team":"sales"\}/);
  const current = Buffer.from(secretKey, 'hex');
  const view = await openConfig(
    control.kafka,
    names.config,
    { warn: () => undefined },
    { secretKeys: { current } },
  );
  await view.close();
  assert.deepEqual(view.destination('kept')?.settings.webhooks, [
    { url, headers: { ...headers, 'X-Team': 'sales' }, secretHeaders },
  ]);
});

test('17.5 a secret header that its mask keeps stays sealed, whatever the request names', async () => {
  const path = '/v1/destinations/sealed';
  const secret = { url, headers: { 'X-Code': 'S3CRET-code' }, secretHeaders: ['X-Code'] };
  const body = { id: 'sealed', type: 'Webhooks', sources: [], settings: { webhooks: [secret] } };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  const webhooks = [{ url, headers: { 'x-code': mask, 'X-Team': 'growth' } }];
  const { settings } = await control.expect(200, { method: 'PATCH', path, body: { settings: { webhooks } } });
  const shown = { 'x-code': mask, 'X-Team': mask };
  assert.deepEqual(settings, { webhooks: [{ url, headers: shown, secretHeaders: ['x-code'] }] });
  assert.doesNotMatch(String(control.cluster.records(names.config).at(-1)?.value), /S3CRET-code/);
});

test('a receiver that sends back what it received shows no header value in a test event', async () => {
  const receiver = createServer((request, response) => {
    const { authorization = '' } = request.headers;
    response.setHeader('x-received', authorization);
    response.end(JSON.stringify({ received: authorization, escaped: encodeURIComponent(authorization) }));
  });
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  try {
    const { port } = receiver.address() as AddressInfo;
    const webhook = { url: `http://127.0.0.1:${port}/`, headers: { Authorization: 'Bearer S3CRET"header' } };
    const body = { id: 'echo', type: 'Webhooks', sources: [], settings: { webhooks: [webhook] } };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
    const { status, text } = await control.ask({ method: 'POST', path: '/v1/destinations/echo/test' });
    assert.equal(status, 200);
    assert.match(text, /received/);
    assert.doesNotMatch(text, /S3CRET/);
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
});
