/** Sessions: a token signs in, and a cookie stands for it from then on. */
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { collect } from '@tailrace/testing';
import {
  adminToken,
  newCluster,
  openApi,
  readToken,
  secretKey,
  type Api,
  type ApiRequest,
} from '../testing/api.ts';
import { createFlow } from '../testing/flow.ts';

const cluster = newCluster();
let control: Api;
let other: Api;
let address: string;
before(async () => {
  control = await openApi(cluster);
  address = await control.listen();
  other = await openApi(cluster);
});
after(async () => {
  await control[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

const own = { 'x-tailrace-console': '1' };

interface SignedIn {
  readonly cookie: string;
  readonly attributes: readonly string[];
}

async function signIn(at: Api, token: string, headers: Record<string, string> = {}): Promise<SignedIn> {
  const answer = await at.ask({
    method: 'POST',
    path: '/v1/session',
    token,
    headers: { ...own, ...headers },
  });
  assert.equal(answer.status, 201, answer.text);
  const [cookie = '', ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ');
  return { cookie, attributes };
}

const withCookie = (cookie: string, request: ApiRequest): ApiRequest => ({
  ...request,
  token: null,
  headers: { cookie, ...own, ...request.headers },
});

test('a token signs in, and its cookie has its scope in every instance', async () => {
  const { cookie, attributes } = await signIn(control, readToken);
  assert.deepEqual(attributes, ['Max-Age=43200', 'HttpOnly', 'SameSite=Strict']);
  assert.ok(!cookie.includes(readToken));
  for (const instance of [control, other]) {
    const shown = await instance.expect(200, withCookie(cookie, { path: '/v1/session' }));
    assert.deepEqual([shown['name'], shown['scope']], ['TAILRACE_API_READ_TOKEN', 'read']);
    assert.ok(Date.parse(String(shown['expiresAt'])) > Date.now());
    const refused = withCookie(cookie, { method: 'POST', path: '/v1/sources', body: { id: 'app' } });
    await instance.refused(refused, 403, 'forbidden');
  }
});

test('a session of an administrator changes what its token may change, and the audit log names the token', async () => {
  const { cookie } = await signIn(control, adminToken);
  await control.expect(201, withCookie(cookie, { method: 'POST', path: '/v1/sources', body: { id: 'web' } }));
  const { items } = await control.expect(200, withCookie(cookie, { path: '/v1/audit?action=source.create' }));
  const [entry] = items as { actor: { name: string }; target: string }[];
  assert.deepEqual([entry?.actor.name, entry?.target], ['TAILRACE_API_TOKEN', 'source/web']);
});

test('a wrong token signs in no user, and a session cannot prolong itself', async () => {
  await control.refused({ method: 'POST', path: '/v1/session', token: 'wrong' }, 401, 'unauthorized');
  const { cookie } = await signIn(control, readToken);
  await control.refused(withCookie(cookie, { method: 'POST', path: '/v1/session' }), 401, 'unauthorized');
});

test('a cookie that was changed, invented or belongs to another key is refused', async () => {
  const { cookie } = await signIn(control, adminToken);
  const another = cookie[60] === 'A' ? 'B' : 'A';
  await using elsewhere = await openApi(newCluster(), {
    TAILRACE_SECRET_KEY: secretKey.replaceAll('0', '1'),
  });
  const ofOther = await signIn(elsewhere, adminToken);
  const wrong = [
    `${cookie.slice(0, 60)}${another}${cookie.slice(61)}`,
    'tailrace_session=',
    'tailrace_session=AAAA',
  ];
  for (const text of [...wrong, `tailrace_session=${'A'.repeat(5_000)}`, ofOther.cookie]) {
    await control.refused(withCookie(text, { path: '/v1/sources' }), 401, 'unauthorized');
  }
});

test('a change with a cookie needs the header of the console, and its own origin', async () => {
  const { cookie } = await signIn(control, adminToken);
  const change = { method: 'POST', path: '/v1/sources', token: null, body: { id: 'foreign' } } as const;
  const refused: Record<string, string>[] = [
    { cookie },
    { cookie, ...own, origin: 'http://evil.example' },
    { cookie, ...own, origin: 'null' },
    { cookie, ...own, 'sec-fetch-site': 'same-site', origin: 'http://localhost' },
    { cookie, ...own, 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of refused) await control.refused({ ...change, headers }, 403, 'forbidden');
  const accepted: Record<string, string>[] = [
    { cookie, ...own, host: 'tailrace.internal:8081', origin: 'http://tailrace.internal:8081' },
    // A proxy that passes on neither name, over HTTPS.
    { cookie, ...own, host: 'control', origin: 'https://ops.example', 'sec-fetch-site': 'same-origin' },
  ];
  for (const [index, headers] of accepted.entries()) {
    await control.expect(201, { ...change, body: { id: `own-${index}` }, headers });
  }
  await control.expect(200, { path: '/v1/sources', token: null, headers: { cookie } });
});

test('X-Forwarded-Host and X-Forwarded-Proto are believed from a trusted proxy only', async () => {
  const forwarded = { host: 'control', 'x-forwarded-host': 'ops.example', 'x-forwarded-proto': 'https' };
  const seen = async (networks: string): Promise<[status: number, isSecure: boolean]> => {
    await using behind = await openApi(newCluster(), { TAILRACE_TRUSTED_PROXIES: networks });
    const { cookie, attributes } = await signIn(behind, adminToken, forwarded);
    const headers = { ...forwarded, origin: 'http://ops.example' };
    const change = withCookie(cookie, { method: 'POST', path: '/v1/sources', body: { id: 'web' }, headers });
    return [(await behind.ask(change)).status, attributes.includes('Secure')];
  };
  assert.deepEqual(await seen(''), [403, false]);
  assert.deepEqual(await seen('10.0.0.0/8'), [403, false]);
  assert.deepEqual(await seen('127.0.0.0/8'), [201, true]);
});

test('the cookie is sent over HTTPS only where the page was', async () => {
  const https = await signIn(control, readToken, { host: 'ops.example', origin: 'https://ops.example' });
  assert.ok(https.attributes.includes('Secure'));
  const http = await signIn(control, readToken, { host: 'ops.example', origin: 'http://ops.example' });
  assert.ok(!http.attributes.includes('Secure'));
});

test('a session ends with its token, after twelve hours, and at the sign-out', async () => {
  const wanted = { name: 'visitor', scope: 'read' };
  const created = await control.expect(201, { method: 'POST', path: '/v1/tokens', body: wanted });
  const { cookie } = await signIn(control, String(created['token']));
  const asked = withCookie(cookie, { path: '/v1/sources' });
  await other.expect(200, asked);
  await control.expect(204, { method: 'DELETE', path: `/v1/tokens/${String(created['id'])}` });
  await other.refused(asked, 401, 'unauthorized');

  const [admin, colleague] = [await signIn(control, adminToken), await signIn(control, adminToken)];
  const out = await control.ask(withCookie(admin.cookie, { method: 'DELETE', path: '/v1/session' }));
  assert.equal(out.status, 204);
  assert.match(out.headers.get('set-cookie') ?? '', /^tailrace_session=; Max-Age=0; HttpOnly/);
  for (const instance of [control, other]) {
    await instance.refused(withCookie(admin.cookie, { path: '/v1/sources' }), 401, 'unauthorized');
    // The same bytes, written in another way.
    const spelled = admin.cookie.replaceAll('-', '+').replaceAll('_', '/').replace('tailrace/', 'tailrace_');
    await instance.refused(withCookie(spelled, { path: '/v1/sources' }), 401, 'unauthorized');
    await instance.expect(200, withCookie(colleague.cookie, { path: '/v1/sources' }));
  }
  await using restarted = await openApi(cluster);
  await restarted.refused(withCookie(admin.cookie, { path: '/v1/sources' }), 401, 'unauthorized');
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 12 * 3_600_000 + 1 });
  try {
    await control.refused(withCookie(colleague.cookie, { path: '/v1/sources' }), 401, 'unauthorized');
  } finally {
    mock.timers.reset();
  }
});

test('streams end with their session and with their token', async () => {
  const ended = collect<{ owner: string; text: string }>('the ended streams', ({ owner }) => owner);
  const open = async (owner: string, headers: Readonly<Record<string, string>>): Promise<void> => {
    for (const path of ['/v1/stream?attempts=true', '/v1/attempts/stream']) {
      const stream = await fetch(`${address}${path}`, { headers });
      assert.equal(stream.status, 200);
      void stream.text().then((text) => {
        ended.add({ owner, text });
      });
    }
  };
  const tokenOf = async (name: string, expiresIn: string) => {
    const body = { name, scope: 'read', expiresIn };
    const { id, token } = await control.expect(201, { method: 'POST', path: '/v1/tokens', body });
    const { cookie } = await signIn(control, String(token));
    return { id: String(id), bearer: { authorization: `Bearer ${String(token)}` }, cookie };
  };
  const [revoked, lasting, expiring] = [
    await tokenOf('revoked', '90d'),
    await tokenOf('lasting', '90d'),
    await tokenOf('expiring', '1h'),
  ];
  const left = await signIn(control, adminToken);
  await open('revoked token', revoked.bearer);
  await open('session of a revoked token', { cookie: revoked.cookie });
  await open('session after its sign-out', { cookie: left.cookie });
  await control.expect(204, { method: 'DELETE', path: `/v1/tokens/${revoked.id}` });
  await other.expect(204, withCookie(left.cookie, { method: 'DELETE', path: '/v1/session' }));
  await ended.waitFor(6);

  await open('token that expires', expiring.bearer);
  await open('session of a token that expires', { cookie: expiring.cookie });
  await open('session', { cookie: lasting.cookie });
  const before = Date.now();
  mock.timers.enable({ apis: ['Date'], now: before + 3_600_001 });
  try {
    const flow = createFlow(control.kafka);
    await flow.attempt(flow.delivery('crm'), 'delivered');
    await control.historyRead();
    await ended.waitFor(10);
    for (const { owner, text } of ended.items) {
      assert.notEqual(owner, 'session');
      assert.doesNotMatch(text, /deliveryId/, owner);
    }
    mock.timers.setTime(before + 12 * 3_600_000);
    await ended.waitFor(12);
  } finally {
    mock.timers.reset();
  }
});

test('an Idempotency-Key of a session is answered again to it only', async () => {
  const [one, two] = [await signIn(control, adminToken), await signIn(control, adminToken)];
  const headers = { 'idempotency-key': 'session-1' };
  const create = { method: 'POST', path: '/v1/sources', body: { id: 'idempotent' }, headers } as const;
  const first = await control.expect(201, withCookie(one.cookie, create));
  assert.deepEqual(await other.expect(201, withCookie(two.cookie, create)), first);
});

test('without a secret key sessions work in one instance, with one warning', async () => {
  await using alone = await openApi(newCluster(), { TAILRACE_SECRET_KEY: '' });
  const { cookie } = await signIn(alone, readToken);
  await signIn(alone, readToken);
  await alone.expect(200, withCookie(cookie, { path: '/v1/session' }));
  const warnings = alone.log.filter(({ msg }) => String(msg).includes('sessions of the console'));
  assert.equal(warnings.length, 1);
  await control.refused(withCookie(cookie, { path: '/v1/session' }), 401, 'unauthorized');
});

test('a session names the address of ingest that the settings have', async () => {
  await using set = await openApi(newCluster(), { TAILRACE_INGEST_PUBLIC_URL: 'https://events.example.com' });
  const { ingestUrl } = await set.expect(200, { path: '/v1/session' });
  assert.equal(ingestUrl, 'https://events.example.com');
  assert.equal((await control.expect(200, { path: '/v1/session' }))['ingestUrl'], undefined);
});

test('a session names the port of ingest, which is beside the console without an address', async () => {
  await using moved = await openApi(newCluster(), { TAILRACE_INGEST_PORT: '18080' });
  assert.equal((await moved.expect(200, { path: '/v1/session' }))['ingestPort'], 18_080);
  assert.equal((await control.expect(200, { path: '/v1/session' }))['ingestPort'], 8080);
});
