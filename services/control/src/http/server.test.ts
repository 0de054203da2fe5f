/** The HTTP behaviour of the API: authentication, parsing, errors. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { openApi, readToken, type Api, type ApiRequest } from '../testing/api.ts';

let control: Api;
before(async () => {
  control = await openApi();
});
after(() => control[Symbol.asyncDispose]());

async function refused(request: ApiRequest, status: number, code: string): Promise<void> {
  const answer = await control.refused(request, status, code);
  assert.match(String(answer.json['message']), /\.$/);
}

test('a request without a token, or with an unknown token, is refused', async () => {
  const path = '/v1/catalog';
  await refused({ path, token: null }, 401, 'unauthorized');
  await refused({ path, token: 'wrong' }, 401, 'unauthorized');
  await refused({ path, token: null, headers: { authorization: 'Basic YTpi' } }, 401, 'unauthorized');
  const answer = await control.ask({ path, token: null });
  assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
});

test('a read-only token can read', async () => {
  await control.expect(200, { path: '/v1/catalog', token: readToken });
});

test('an unknown path is not found, and a wrong method is answered with the allowed methods', async () => {
  await refused({ path: '/v1/nothing' }, 404, 'not-found');
  await refused({ path: '/nothing' }, 404, 'not-found');
  await refused({ path: '/v1/catalog', method: 'DELETE' }, 405, 'method-not-allowed');
  const answer = await control.ask({ path: '/v1/catalog', method: 'DELETE' });
  assert.equal(answer.headers.get('allow'), 'GET, HEAD');
  // fastify handles this method, of which no route is, in another way than the others.
  const address = await control.listen();
  for (const [path, status, allowed] of [
    ['/v1/catalog', 405, 'GET, HEAD'],
    ['/v1/nothing', 404, null],
  ] as const) {
    const query = await fetch(`${address}${path}`, { method: 'QUERY' });
    assert.deepEqual([query.status, query.headers.get('allow')], [status, allowed], await query.text());
  }
});

test('an invalid parameter is reported with the rule', async () => {
  const answer = await control.ask({ path: '/v1/catalog?limit=0&limits=1' });
  assert.deepEqual(answer.json['problems'], [
    { field: 'limits', rule: 'is unknown' },
    { field: 'limit', rule: 'is not a whole number from 1 to 200' },
  ]);
  await refused({ path: '/v1/catalog?cursor=x' }, 400, 'invalid-request');
  const backwards = [{ field: 'since', rule: 'is not before until' }];
  for (const path of ['/v1/deliveries', '/v1/decisions', '/v1/dead-letters', '/v1/audit', '/v1/overview']) {
    const { json } = await control.refused({ path: `${path}?since=1h&until=2h` }, 400, 'invalid-request');
    assert.deepEqual(json['problems'], backwards, path);
  }
  const future = new Date(Date.now() + 3_600_000).toISOString();
  const { json } = await control.refused({ path: `/v1/overview?since=${future}` }, 400, 'invalid-request');
  assert.deepEqual(json['problems'], backwards);
  await refused({ path: '/v1/catalog/%' }, 400, 'malformed-request');
});

test('caches store no answer of the API, and browsers guess no type', async () => {
  const requests: readonly ApiRequest[] = [
    { path: '/v1/catalog' },
    { path: '/v1/catalog', method: 'HEAD' },
    { path: '/v1/sources', method: 'POST', body: { id: 'kept' } },
    { path: '/v1/sources/kept', method: 'DELETE' },
    { path: '/v1/catalog', token: null },
    { path: '/v1/sources', method: 'POST', token: readToken },
    { path: '/v1/catalog?limit=0' },
    { path: '/v1/catalog', method: 'DELETE' },
    { path: '/v1/nothing' },
    { path: '/v1/catalog/%' },
  ];
  const statuses: number[] = [];
  for (const request of requests) {
    const { status, headers } = await control.ask(request);
    statuses.push(status);
    const shown = `${request.method ?? 'GET'} ${request.path}`;
    assert.equal(headers.get('cache-control'), 'no-store', shown);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', shown);
  }
  assert.deepEqual(statuses, [200, 200, 201, 204, 401, 403, 400, 405, 404, 400]);
  for (const path of ['/', '/openapi.json', '/docs/', '/docs/static/swagger-ui-bundle.js', '/nothing']) {
    const { headers } = await control.ask({ path, token: null });
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
  }
});

test('so they do with the answer to bytes that are no HTTP request', async () => {
  await using listening = await openApi();
  const { hostname, port } = new URL(await listening.listen());
  const socket = connect(Number(port), hostname);
  socket.end('GET /v1/catalog HTTP/1.1\r\nno header\r\n\r\n');
  const answer = await readAll(socket);
  assert.match(answer, /^HTTP\/1\.1 400 /);
  assert.match(answer, /\r\ncache-control: no-store\r\n/);
  assert.match(answer, /\r\nx-content-type-options: nosniff\r\n/);
});

test('the document and the reference page need no token', async () => {
  const { json } = await control.ask({ path: '/openapi.json', token: null });
  assert.equal(json['openapi'], '3.1.0');
  const page = await control.ask({ path: '/docs/', token: null });
  assert.equal(page.status, 200);
  assert.ok(!page.text.includes('https://'), 'the page loads nothing from elsewhere');
});

test('the reference page may load only what this server has, over plain HTTP too', async () => {
  for (const path of ['/docs/', '/docs/static/swagger-ui-bundle.js']) {
    const policy = (await control.ask({ path, token: null })).headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'self';/, path);
    assert.doesNotMatch(policy, /upgrade-insecure-requests|https:/, path);
  }
  const script = await control.ask({ path: '/docs/static/swagger-initializer.js', token: null });
  assert.match(script.text, /"validatorUrl": ?null/);
});

test('the catalog has the type Webhooks', async () => {
  const entry = await control.expect(200, { path: '/v1/catalog/Webhooks' });
  assert.equal(entry['name'], 'Webhooks');
  await refused({ path: '/v1/catalog/webhooks' }, 404, 'not-found');
});

test('a compressed body of JSON is refused as such', async () => {
  const request = { method: 'POST', path: '/v1/sources', body: { id: 'zipped' } } as const;
  for (const encoding of ['gzip', 'br', 'gzip, identity']) {
    await refused({ ...request, headers: { 'content-encoding': encoding } }, 415, 'unsupported-encoding');
  }
  await control.expect(201, { ...request, headers: { 'content-encoding': 'Identity' } });
});
