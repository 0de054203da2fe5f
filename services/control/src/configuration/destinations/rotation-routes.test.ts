/** Rotation of secrets by the server. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { openConfigEditor, type Destination } from '@tailrace/config';
import { eventually } from '@tailrace/testing';
import { requestHeaders, secretsAt, targetsOf } from '@tailrace/webhook';
import { verifySignature } from '../../../../../packages/analytics-node/src/node/verify-signature.ts';
import { names, openApi, readToken, secretKey, type Api } from '../../testing/api.ts';
import { publishedForMs, removeExpiredSecrets } from './expired-secrets.ts';

const webhooks = [{ url: 'https://crm.example.com/hook' }];
const path = '/v1/destinations/crm';
const rotate = { method: 'POST', path: `${path}/rotate-secret` } as const;
const keys = { secretKeys: { current: Buffer.from(secretKey, 'hex') }, withoutKey: 'refuse' } as const;
const day = 86_400_000;

async function create(control: Api, settings: object): Promise<void> {
  const body = { id: 'crm', type: 'Webhooks', sources: [], settings: { webhooks, ...settings } };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
}

/** The entry as delivery reads it. */
async function storedBy(control: Api): Promise<Destination> {
  const editor = await openConfigEditor(control.kafka, names.config, { warn: () => undefined }, keys);
  const found = editor.destination('crm');
  await editor.close();
  return found ?? assert.fail('the destination is missing');
}

test('8.4 a rotation makes a secret, shows it once, and keeps the previous one for a day', async () => {
  await using control = await openApi();
  await create(control, { sharedSecret: 'S3CRET-old', standardWebhooks: true });
  await control.refused({ ...rotate, token: readToken }, 403, 'forbidden');
  const startedAt = Date.now();
  const answer = await control.ask(rotate);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const { sharedSecret, previousSharedSecretUntil: until } = answer.json as Record<string, string>;
  assert.match(sharedSecret ?? '', /^whsec_[A-Za-z0-9+/]{43}=$/);
  const keptMs = Date.parse(until ?? '') - startedAt;
  assert.ok(keptMs >= day && keptMs < day + 60_000, until);

  const shown = await control.ask({ path });
  assert.equal(shown.etag, answer.etag);
  assert.partialDeepStrictEqual(shown.json['settings'], {
    sharedSecret: '********',
    previousSharedSecret: '********',
    previousSharedSecretUntil: until,
  });
  const lines = JSON.stringify(control.log);
  assert.ok(!lines.includes(sharedSecret ?? '') && !lines.includes('S3CRET-old'));

  const stored = await storedBy(control);
  const [before, after] = [Date.parse(until ?? '') - 1, Date.parse(until ?? '')];
  assert.deepEqual(secretsAt(stored, before), {
    signsAlone: 'S3CRET-old',
    all: [sharedSecret, 'S3CRET-old'],
  });
  assert.deepEqual(secretsAt(stored, after), { signsAlone: sharedSecret, all: [sharedSecret] });
  const [target] = targetsOf(stored);
  assert.ok(target);
  const signaturesAt = (at: number): number =>
    requestHeaders(stored, target, Buffer.from('{}'), { deliveryId: 'd', startedAt: at })
      .find((value) => value.startsWith('v1,'))
      ?.split(' ').length ?? 0;
  assert.deepEqual([signaturesAt(before), signaturesAt(after)], [2, 1]);
});

const rotateKey = { method: 'POST', path: `${path}/rotate-signing-key` } as const;

interface KeySet {
  readonly keys: readonly { readonly x: string; readonly kid: string }[];
}

/** As a receiver of the destination reads them. */
async function publicKeys(control: Api, destination = 'crm'): Promise<KeySet['keys']> {
  const answer = await control.ask({
    path: `/.well-known/tailrace/jwks.json?destination=${destination}`,
    token: null,
  });
  assert.deepEqual([answer.status, answer.headers.get('cache-control')], [200, 'public, max-age=300']);
  return (answer.json as unknown as KeySet).keys;
}

/** The headers of a request at a time, as a receiver gets them. */
function requestAt(stored: Destination, at: number): Record<string, string> {
  const [target] = targetsOf(stored);
  assert.ok(target);
  const flat = requestHeaders(stored, target, Buffer.from('{}'), { deliveryId: 'd', startedAt: at });
  return Object.fromEntries(
    flat.flatMap((name, n) => (n % 2 === 0 ? [[name.toLowerCase(), flat[n + 1] ?? '']] : [])),
  );
}

test('8.7 the server makes a key that no answer, log or record shows, and publishes its public key', async () => {
  await using control = await openApi();
  await create(control, { ed25519: {} });
  const key = (await storedBy(control)).settings.ed25519?.key ?? '';
  assert.match(key, /^whsk_/);
  const shown = await control.ask({ path });
  assert.partialDeepStrictEqual(shown.json['settings'], { ed25519: { key: '********' } });
  const texts = [
    shown.text,
    (await control.ask({ path, token: readToken })).text,
    (await control.ask({ path: '/v1/audit' })).text,
    JSON.stringify(control.log),
    ...[names.config, names.audit].flatMap((topic) =>
      control.cluster.records(topic).map(({ value }) => value?.toString() ?? ''),
    ),
  ];
  const seed = Buffer.from(key.slice(5), 'base64').subarray(0, 32);
  for (const text of texts) {
    for (const secret of [key, ...(['base64', 'base64url', 'hex'] as const).map((as) => seed.toString(as))]) {
      assert.ok(!text.includes(secret.replace(/=+$/, '')), text);
    }
  }
  const keys = await publicKeys(control);
  const thumbprint = hash(
    'sha256',
    JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: keys[0]?.x }),
    'base64url',
  );
  assert.deepEqual(keys, [
    { kty: 'OKP', crv: 'Ed25519', x: keys[0]?.x, kid: thumbprint, use: 'sig', alg: 'EdDSA' },
  ]);
  assert.ok(verifySignature(keys, '{}', requestAt(await storedBy(control), Date.now())));

  // What was read can be sent back, and a change of something else keeps the key.
  await control.expect(200, { method: 'PUT', path, body: shown.json });
  await control.expect(200, { method: 'PATCH', path, body: { name: 'CRM', settings: { ed25519: {} } } });
  assert.deepEqual(await publicKeys(control), keys);
  // A destination of the same id later has another key.
  await control.expect(204, { method: 'DELETE', path });
  assert.deepEqual(await publicKeys(control), []);
  await create(control, { ed25519: {} });
  assert.notDeepEqual(await publicKeys(control), keys);
});

test('8.7 the key set of all has the keys of each destination, and an unknown one has none', async () => {
  await using control = await openApi();
  for (const id of ['crm', 'erp', '__proto__']) {
    const body = { id, type: 'Webhooks', sources: [], settings: { webhooks, ed25519: {} } };
    await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  }
  const all = (await control.expect(200, {
    path: '/.well-known/tailrace/jwks.json',
    token: null,
  })) as unknown as KeySet;
  const single = await Promise.all(['__proto__', 'crm', 'erp'].map((id) => publicKeys(control, id)));
  assert.deepEqual(all.keys, single.flat());
  assert.equal(new Set(all.keys.map(({ kid }) => kid)).size, 3);
  for (const id of ['nothing', 'constructor', '']) assert.deepEqual(await publicKeys(control, id), []);
  const request = requestAt(await storedBy(control), Date.now());
  assert.deepEqual(
    single.map((keys) => verifySignature(keys, '{}', request)),
    [false, true, false],
  );
  await control.refused(
    { method: 'POST', path: '/.well-known/tailrace/jwks.json' },
    405,
    'method-not-allowed',
  );
});

test('8.7 after a rotation both keys sign and are published until the previous one has ended', async () => {
  await using control = await openApi();
  await create(control, {});
  await control.refused({ ...rotateKey, token: readToken }, 403, 'forbidden');
  // The first one.
  const { publicKey, ...none } = await control.expect(200, rotateKey);
  const before = await publicKeys(control);
  const whpk = `whpk_${Buffer.from(before[0]?.x ?? '', 'base64url').toString('base64')}`;
  assert.deepEqual([publicKey, none], [whpk, {}]);

  const rotated = await control.expect(200, { ...rotateKey, body: { keepPreviousFor: '1h' } });
  const both = await publicKeys(control);
  assert.deepEqual(both.slice(1), before);
  const after = both.slice(0, 1);
  const stored = await storedBy(control);
  const until = Date.parse(String(rotated['previousKeyUntil']));
  const anyTime = { toleranceSeconds: Infinity };
  const verifies = (keys: KeySet['keys'], at: number): boolean =>
    verifySignature(keys, '{}', requestAt(stored, at), anyTime);
  assert.deepEqual([verifies(before, until - 1), verifies(after, until - 1)], [true, true]);
  assert.deepEqual([verifies(before, until), verifies(after, until)], [false, true]);
  await control.refused(rotateKey, 409, 'conflict');

  const log = { warn: () => undefined, info: () => undefined };
  await using closing = new AsyncDisposableStack();
  const editor = await openConfigEditor(control.kafka, names.config, log, keys);
  closing.defer(() => editor.close());
  let now = until + publishedForMs - 1;
  const ended = new Promise<void>((resolve) => {
    editor.onChange(() => {
      if (!editor.destination('crm')?.settings.ed25519?.previousKey) resolve();
    });
  });
  let looks = 0;
  const sweep = removeExpiredSecrets({
    config: editor,
    log,
    everyMs: 5,
    now: () => {
      looks += 1;
      return now;
    },
  });
  await eventually(
    () => Promise.resolve(looks),
    (count) => count > 1,
  );
  assert.deepEqual(await publicKeys(control), both);
  now += 1;
  await ended;
  await sweep.close();
  await eventually(
    () => publicKeys(control),
    (published) => published.length === 1,
  );
  assert.deepEqual(await publicKeys(control), after);

  // One that has leaked ends at once.
  await control.expect(200, { ...rotateKey, body: { keepPreviousFor: '0s' } });
  const [last, ...previous] = await publicKeys(control);
  assert.ok(last && previous.length === 0 && last.kid !== after[0]?.kid);
});

test('a second rotation is refused while the previous secret signs, unless it is forced', async () => {
  await using control = await openApi();
  await create(control, { sharedSecret: 'old' });
  const first = await control.expect(200, { ...rotate, body: { keepPreviousFor: '1h' } });
  assert.match(String(first['sharedSecret']), /^[0-9a-f]{64}$/);
  const refused = await control.refused(rotate, 409, 'conflict');
  assert.match(refused.text, /still in use until/);
  const forced = await control.expect(200, { ...rotate, body: { force: true, keepPreviousFor: '0s' } });
  assert.deepEqual(Object.keys(forced), ['sharedSecret']);
  const { settings } = await storedBy(control);
  assert.deepEqual(settings, { sharedSecret: forced['sharedSecret'], webhooks });
  const later = await control.expect(200, rotate);
  assert.notEqual(later['sharedSecret'], forced['sharedSecret']);
});

test('a destination without a secret gets its first one', async () => {
  await using control = await openApi();
  await create(control, {});
  const { sharedSecret, ...rest } = await control.expect(200, rotate);
  assert.deepEqual([String(sharedSecret).length, rest], [64, {}]);
});

test('an invalid rotation changes nothing', async () => {
  await using control = await openApi();
  await create(control, { sharedSecret: 'old' });
  const { etag } = await control.ask({ path });
  for (const body of [
    { keepPreviousFor: '31d' },
    { keepPreviousFor: 'soon' },
    { keepPreviousFor: null },
    { other: 1 },
  ]) {
    const answer = await control.ask({ ...rotate, body });
    assert.equal(answer.status, 400, answer.text);
  }
  await control.refused({ ...rotate, headers: { 'if-match': '"99"' } }, 412, 'precondition-failed');
  const missing = { ...rotate, path: '/v1/destinations/erp/rotate-secret' };
  await control.refused(missing, 404, 'not-found');
  assert.equal((await control.ask({ path })).etag, etag);
});

test('a previous secret whose time has passed is removed from the configuration, and others stay', async () => {
  await using control = await openApi();
  const previous = { sharedSecret: 'new', previousSharedSecret: 'old' };
  await create(control, { ...previous, previousSharedSecretUntil: '2026-01-01T00:00:00Z' });
  const other = { ...previous, previousSharedSecretUntil: '2999-01-01T00:00:00Z', webhooks };
  const body = { id: 'erp', type: 'Webhooks', sources: [], settings: other };
  await control.expect(201, { method: 'POST', path: '/v1/destinations', body });
  const log = { warn: () => undefined, info: () => undefined };
  await using closing = new AsyncDisposableStack();
  const editor = await openConfigEditor(control.kafka, names.config, log, keys);
  closing.defer(() => editor.close());
  // Two instances do it at the same time.
  const removed = new Promise<void>((resolve) => {
    editor.onChange(() => {
      if (!editor.destination('crm')?.settings.previousSharedSecret) resolve();
    });
  });
  const sweeps = [1, 2].map(() => removeExpiredSecrets({ config: editor, log, everyMs: 5 }));
  await removed;
  await Promise.all(sweeps.map((sweep) => sweep.close()));
  assert.deepEqual(editor.destination('crm')?.settings, { sharedSecret: 'new', webhooks });
  assert.equal(editor.destination('erp')?.settings.previousSharedSecret, 'old');
});
