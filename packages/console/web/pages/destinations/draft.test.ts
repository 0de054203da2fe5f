import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftOf, entryOf, newDraft, type Destination } from './draft.ts';
import { mergePatchOf } from '../../versions/merge.ts';

const stored: Destination = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['app'],
  settings: {
    sharedSecret: '********',
    tls: { ca: 'PEM' },
    webhooks: [
      {
        url: 'https://a.example/hook?x=1',
        headers: { Authorization: '********', 'X-Url': 'a: b' },
        secretHeaders: ['Authorization'],
      },
    ],
  },
};

test('a form that is not changed changes nothing', () => {
  assert.deepEqual(mergePatchOf({ ...stored }, { ...entryOf(draftOf(stored), stored) }), {});
  const full: Destination = {
    ...stored,
    name: 'CRM',
    ordering: 'none',
    rateLimit: 5,
    burst: 10,
    maxInFlight: 2,
    disableAfter: '3d',
    proxy: 'none',
    timeout: '2s',
    retry: { for: '1h', schedule: ['10s', '1m'], on: ['5xx', 409] },
    filter: { types: ['track'] },
    sample: { percent: 10, by: 'user' },
    fields: {
      exclude: ['context.ip'],
      hash: ['traits.email'],
      salt: '',
      rename: { 'traits.a:b': 'mail:to', 'traits.b': 'x -> y', 'traits.c -> d': 'e', 'traits.f->g': ' h ' },
    },
    settings: {
      ...stored.settings,
      signature: { header: 'X-Hub', algorithm: 'hmac-sha1', timestamp: false },
      deliveryIdHeader: 'webhook-id',
      ed25519: { key: '********', previousKey: '********', previousKeyUntil: '2026-12-01T09:00:00Z' },
      contentType: 'form',
      auth: { username: 'ada', password: '********' },
      traceparent: false,
    },
  };
  assert.deepEqual(mergePatchOf({ ...full }, { ...entryOf(draftOf(full), full) }), {});
  const { auth: _auth, ...settings } = full.settings;
  const authMethod = 'client_secret_basic' as const;
  const oauth2 = {
    tokenUrl: 'https://id.example/',
    clientId: 'crm',
    clientSecret: '********',
    scope: 'a b',
    authMethod,
  };
  const withOAuth2: Destination = { ...full, settings: { ...settings, oauth2 } };
  assert.deepEqual(mergePatchOf({ ...withOAuth2 }, { ...entryOf(draftOf(withOAuth2), withOAuth2) }), {});
});

test('an emptied field is removed, and a number that is none is sent as it is', () => {
  const limited = { ...stored, name: 'CRM', rateLimit: 5 };
  const emptied = entryOf({ ...draftOf(limited), name: ' ', rateLimit: '' }, limited);
  assert.deepEqual(mergePatchOf({ ...limited }, { ...emptied }), { name: null, rateLimit: null });
  const wrong = entryOf({ ...draftOf(limited), rateLimit: 'fast' }, limited);
  assert.deepEqual(mergePatchOf({ ...limited }, { ...wrong }), { rateLimit: 'fast' });
});

test('a signature has only what is set', () => {
  const draft = draftOf(stored);
  const signature = {
    ...draft.signature,
    header: ' X-Hub ',
    algorithm: 'hmac-sha256' as const,
    prefix: 'sha256=',
  };
  const signed = entryOf({ ...draft, signature, deliveryIdHeader: 'webhook-id', ed25519: true }, stored);
  assert.deepEqual(mergePatchOf({ ...stored }, { ...signed }), {
    settings: {
      signature: { header: 'X-Hub', algorithm: 'hmac-sha256', prefix: 'sha256=' },
      ed25519: {},
      deliveryIdHeader: 'webhook-id',
    },
  });
});

test('a pace has only what is set, and none is a list without statuses', () => {
  const draft = draftOf(stored);
  const pace = { ...draft.pace, timeout: ' 2s ', retryOn: 'none', retrySchedule: '10s,1m' };
  const retry = { schedule: ['10s', '1m'], on: [] };
  const entry = entryOf({ ...draft, pace }, stored);
  assert.deepEqual(mergePatchOf({ ...stored }, { ...entry }), { timeout: '2s', retry });
  assert.equal(draftOf(entry).pace.retryOn, 'none');
});

test('a sample and fields have only what is set', () => {
  const draft = draftOf(stored);
  const body = { ...draft.body, hash: ' traits.email \n', rename: 'traits.email->mail -> to' };
  const entry = entryOf({ ...draft, sample: { percent: '10', by: 'user' }, body }, stored);
  const fields = { hash: ['traits.email'], rename: { 'traits.email': 'mail -> to' } };
  assert.deepEqual(mergePatchOf({ ...stored }, { ...entry }), { sample: { percent: 10 }, fields });
  assert.deepEqual(
    mergePatchOf({ ...entry }, { ...entryOf({ ...draftOf(entry), body: draft.body }, entry) }),
    {
      fields: null,
    },
  );
});

test('an authorization has only what its kind needs', () => {
  const draft = draftOf(stored);
  const client = { tokenUrl: 'https://id.example/', clientId: 'crm', clientSecret: 's' };
  const oauth2 = { ...draft.auth.oauth2, ...client, tokenUrl: ` ${client.tokenUrl} `, scope: ' ' };
  const auth = { ...draft.auth, username: 'ada', password: 'p', token: 't', oauth2 };
  const settingsWith = (kind: (typeof auth)['kind']) => {
    const { settings } = entryOf({ ...draft, auth: { ...auth, kind } }, stored);
    return [settings.auth, settings.oauth2];
  };
  assert.deepEqual(settingsWith('basic'), [{ username: 'ada', password: 'p' }, undefined]);
  assert.deepEqual(settingsWith('bearer'), [{ token: 't' }, undefined]);
  assert.deepEqual(settingsWith('oauth2'), [undefined, client]);
  assert.deepEqual(settingsWith('none'), [undefined, undefined]);
});

test('a removed header is no longer among the secret ones', () => {
  const draft = draftOf(stored);
  const urls = draft.urls.map((one) => ({ ...one, headers: 'X-Url: a: b' }));
  assert.deepEqual(entryOf({ ...draft, urls }, stored).settings.webhooks, [
    { url: 'https://a.example/hook?x=1', headers: { 'X-Url': 'a: b' } },
  ]);
});

test('a secret header whose name is written in another case stays secret', () => {
  const draft = draftOf(stored);
  const urls = draft.urls.map((one) => ({ ...one, headers: 'authorization: ********' }));
  assert.deepEqual(entryOf({ ...draft, urls }, stored).settings.webhooks, [
    {
      url: 'https://a.example/hook?x=1',
      headers: { authorization: '********' },
      secretHeaders: ['Authorization'],
    },
  ]);
});

test('a new destination has only the fields that are set', () => {
  const draft = {
    ...newDraft(['app']),
    urls: [{ url: ' https://a.example ', method: 'POST' as const, headers: '', secretHeaders: [] }],
  };
  assert.deepEqual(entryOf(draft, { id: 'crm', type: 'Webhooks', enabled: false }), {
    id: 'crm',
    type: 'Webhooks',
    enabled: false,
    sources: ['app'],
    settings: { webhooks: [{ url: 'https://a.example' }] },
  });
});
