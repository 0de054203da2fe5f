/** Rotation of secrets by the server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConfigEditor, type Destination } from '@tailrace/config';
import { requestHeaders, secretsAt, targetsOf } from '@tailrace/webhook';
import { names, openApi, readToken, secretKey, type Api } from '../../testing/api.ts';
import { removeExpiredSecrets } from './expired-secrets.ts';

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
