import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { checkConfiguration, checkDestination, checkSource, missingSources, type Checked } from './check.ts';
import { newSigningKey } from '../secrets/signing-key.ts';
import { formatPath } from './problem.ts';

const source = { id: 'web', writeKeys: ['wk_demo'] };
const webhook = { url: 'https://crm.example.com/hook' };
const destination = { id: 'crm', type: 'Webhooks', sources: ['web'], settings: { webhooks: [webhook] } };

/** A destination with these settings beside, or in place of, its one webhook. */
const withSettings = (settings: object) => ({
  ...destination,
  settings: { ...destination.settings, ...settings },
});
const withHeaders = (headers: object) => withSettings({ webhooks: [{ ...webhook, headers }] });
const headersNamed = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, 'a']));

const oauth2 = { tokenUrl: 'https://id.example.com/token', clientId: 'crm', clientSecret: 's3cret' };

const pem = JSON.parse(
  readFileSync(new URL('destination/tls.fixtures.json', import.meta.url), 'utf8'),
) as Readonly<Record<'authority' | 'expiredCertificate' | 'expiredCertificateKey' | 'otherKey', string>>;
const clientCertificate = pem.expiredCertificate;
const clientKey = pem.expiredCertificateKey;
const key = newSigningKey();
const noKey = 'is not whsk_ and an Ed25519 key pair of 64 bytes in base64; leave it out, and one is made';

function problemsOf(checked: Checked<unknown>): string[] {
  return 'problems' in checked
    ? checked.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`)
    : [];
}

test('optional fields get their defaults, and the given value is not changed', () => {
  const given = { sources: [source], destinations: [destination] };
  const before = structuredClone(given);
  const checked = checkConfiguration(given);
  assert.ok('value' in checked);
  assert.deepEqual(checked.value, {
    sources: [{ ...source, enabled: true }],
    destinations: [{ ...destination, enabled: true }],
  });
  assert.deepEqual(given, before);
  assert.deepEqual(checkConfiguration({}), { value: { sources: [], destinations: [] } });
});

test('everything a source may have is accepted', () => {
  for (const accepted of [
    source,
    {
      ...source,
      name: 'Website',
      enabled: false,
      rateLimit: 100,
      rateLimitBytes: 1_000_000_000,
      addIp: true,
    },
    { ...source, schema: {} },
    { ...source, schema: { track: { blocked: ['Debug Event', 'Ünïcode'] } } },
    { ...source, id: 'A-b_9'.padEnd(64, 'x'), writeKeys: ['a', 'B.c~d-e_f', 'k'.repeat(128)] },
  ]) {
    assert.deepEqual(problemsOf(checkSource(accepted)), [], JSON.stringify(accepted));
  }
});

test('14.2 each rule of a source has a problem that names the field and what is allowed', () => {
  const cases: [value: unknown, problem: string][] = [
    [null, ': is empty; allowed is a source: a mapping with id and writeKeys'],
    [[], ': is a list; allowed is a source: a mapping with id and writeKeys'],
    [{ writeKeys: ['a'] }, 'id: is missing; it is 1 to 64 letters, digits, dashes and underscores'],
    [{ id: 'web' }, 'writeKeys: is missing; it is a list of 1 to 20 write keys'],
    [{ ...source, id: '' }, 'id: is not 1 to 64 letters, digits, dashes and underscores'],
    [{ ...source, id: 'a/b' }, 'id: is not 1 to 64 letters, digits, dashes and underscores'],
    [{ ...source, id: 'a\n' }, 'id: is not 1 to 64 letters, digits, dashes and underscores'],
    [{ ...source, id: 'x'.repeat(65) }, 'id: is not 1 to 64 letters, digits, dashes and underscores'],
    [{ ...source, name: '' }, 'name: is not a text of 1 to 200 characters'],
    [{ ...source, enabled: 'yes' }, 'enabled: is a text; allowed is true or false'],
    [{ ...source, addIp: 'yes' }, 'addIp: is a text; allowed is true or false'],
    [{ ...source, writeKeys: [] }, 'writeKeys: has 0 items; allowed is a list of 1 to 20 write keys'],
    [
      { ...source, writeKeys: ['a:b'] },
      'writeKeys[0]: is not 1 to 128 letters, digits, dots, dashes, underscores and tildes',
    ],
    [
      { ...source, writeKeys: ['k'.repeat(129)] },
      'writeKeys[0]: is not 1 to 128 letters, digits, dots, dashes, underscores and tildes',
    ],
    [
      { ...source, writeKeys: [12] },
      'writeKeys[0]: is a number; allowed is 1 to 128 letters, digits, dots, dashes, underscores and tildes; put it in quotes',
    ],
    [{ ...source, writeKeys: ['a', 'b', 'a'] }, 'writeKeys[2]: repeats an earlier item of the list'],
    [
      { ...source, rateLimitBytes: 1_000 },
      'rateLimitBytes: is not a whole number of bytes a second, from 1024 to 1000000000, by default 10485760',
    ],
    [{ ...source, rateLimit: 0 }, 'rateLimit: is not a whole number of calls a second, from 1 to 1000000'],
    [
      { ...source, rateLimit: 1.5 },
      'rateLimit: is a number; allowed is a whole number of calls a second, from 1 to 1000000',
    ],
    [
      { ...source, schema: { track: { block: [], blocked: [] } } },
      'schema.track.block: unknown key; did you mean blocked?',
    ],
    [
      { ...source, schema: { track: {} } },
      'schema.track.blocked: is missing; it is a list of up to 1,000 event names',
    ],
    [{ ...source, writeKey: ['a'] }, 'writeKey: unknown key; did you mean writeKeys?'],
    [
      { ...source, secret: 'a' },
      'secret: unknown key; known keys are id, name, writeKeys, enabled, schema, rateLimit, rateLimitBytes, addIp',
    ],
  ];
  for (const [value, problem] of cases) {
    assert.deepEqual(problemsOf(checkSource(value)), [problem], JSON.stringify(value));
  }
});

test('2.11 everything a destination may have is accepted', () => {
  for (const accepted of [
    destination,
    { ...destination, name: 'CRM hook', enabled: false, sources: [] },
    { ...destination, rateLimit: 1, ordering: 'none' },
    { ...destination, rateLimit: 1_000_000, ordering: 'user' },
    { ...destination, rateLimit: 1, burst: 1_000_000, maxInFlight: 10_000, timeout: '100ms' },
    { ...destination, timeout: '5s', retry: { for: '0s', schedule: ['1s', '1s', '4h'], on: [] } },
    { ...destination, retry: { for: '4h', on: [400, 599, '4xx', '5xx'] } },
    { ...destination, disableAfter: '1h' },
    { ...destination, disableAfter: '30d', proxy: 'none' },
    { ...destination, sample: { percent: 0.01 } },
    { ...destination, sample: { percent: 100, by: 'event' } },
    { ...destination, fields: { include: ['context', 'traits.*.a\\.b', 'name'] } },
    {
      ...destination,
      fields: {
        exclude: ['properties'],
        hash: ['traits.email'],
        salt: '',
        rename: { 'traits.email': 'mail' },
      },
    },
    withSettings({ sharedSecret: 's3cret' }),
    withSettings({ sharedSecret: 's3cret', previousSharedSecret: 'older', standardWebhooks: true }),
    withSettings({ sharedSecret: 'whsec_c2VjcmV0', previousSharedSecret: 's3cret', standardWebhooks: true }),
    withSettings({ sharedSecret: 'whsec_?', standardWebhooks: false }),
    withSettings({ contentType: 'form', webhooks: [{ ...webhook, method: 'PATCH' }] }),
    withSettings({ auth: { username: 'ada', password: 'pass:word' } }),
    withSettings({ auth: { token: 'a.b-c~d' } }),
    withSettings({ oauth2 }),
    withSettings({ oauth2: { ...oauth2, scope: 'events:write file:read', audience: 'https://crm.example' } }),
    withSettings({ oauth2: { ...oauth2, authMethod: 'client_secret_post' } }),
    withSettings({ sharedSecret: 's', signature: {} }),
    withSettings({
      sharedSecret: 's',
      signature: {
        header: 'x-signature',
        algorithm: 'hmac-sha512',
        encoding: 'base64',
        prefix: 'v0=',
        timestamp: true,
      },
    }),
    withSettings({ ed25519: {} }),
    withSettings({
      ed25519: { key, previousKey: newSigningKey() },
      standardWebhooks: true,
      sharedSecret: 's',
    }),
    withSettings({ deliveryIdHeader: 'Webhook-Id' }),
    withSettings({ deliveryIdHeader: 'X-Delivery', standardWebhooks: true, sharedSecret: 's' }),
    withSettings({ tls: {} }),
    withSettings({ tls: { ca: pem.authority + pem.expiredCertificate } }),
    withSettings({ tls: { ca: pem.authority, clientCertificate, clientKey } }),
    withSettings({ webhooks: Array.from({ length: 5 }, () => webhook) }),
    withHeaders({}),
    withHeaders(headersNamed(5)),
    withSettings({ webhooks: Array.from({ length: 5 }, () => ({ ...webhook, headers: headersNamed(5) })) }),
  ]) {
    assert.deepEqual(problemsOf(checkDestination(accepted)), [], JSON.stringify(accepted));
  }
});

test('each rule of a destination has a problem that names the field and what is allowed', () => {
  const cases: [value: unknown, problem: string][] = [
    [{ ...destination, type: 'webhooks' }, 'type: is not Webhooks'],
    [{ ...destination, sources: 'web' }, 'sources: is a text; allowed is a list of ids of sources'],
    [{ ...destination, sources: ['web', 'web'] }, 'sources[1]: repeats an earlier item of the list'],
    [{ ...destination, settings: {} }, 'settings.webhooks: is missing; it is a list of 1 to 5 webhooks'],
    [withSettings({ webhooks: [] }), 'settings.webhooks: has 0 items; allowed is a list of 1 to 5 webhooks'],
    [
      withSettings({ webhooks: Array.from({ length: 6 }, () => webhook) }),
      'settings.webhooks: has 6 items; allowed is a list of 1 to 5 webhooks',
    ],
    [withSettings({ sharedSecret: '' }), 'settings.sharedSecret: is not a text of 1 to 1,024 characters'],
    [
      withSettings({ sharedSecret: null }),
      'settings.sharedSecret: is empty; allowed is a text of 1 to 1,024 characters',
    ],
    [
      withSettings({ webhooks: [{ url: 'ftp://example.com' }] }),
      'settings.webhooks[0].url: is neither http nor https',
    ],
    [
      withSettings({ webhooks: [webhook, { headers: {} }] }),
      'settings.webhooks[1].url: is missing; it is a full URL with http or https',
    ],
    [
      withHeaders(headersNamed(6)),
      'settings.webhooks[0].headers: has 6 entries; allowed is a mapping of up to 5 header names to values',
    ],
    [
      withHeaders({ Host: 'a' }),
      'settings.webhooks[0].headers.Host: is set by Tailrace and cannot be changed',
    ],
    [withHeaders({ 'X-A': 'a\r\nb' }), 'settings.webhooks[0].headers["X-A"]: contains a line break or NUL'],
    [
      withHeaders({ 'X-A': 1 }),
      'settings.webhooks[0].headers["X-A"]: is a number; allowed is a text; put it in quotes',
    ],
    [
      withHeaders({ 'X-A': 'a', 'x-a': 'b' }),
      'settings.webhooks[0].headers["x-a"]: is the same header as "X-A"',
    ],
  ];
  for (const [value, problem] of cases) {
    assert.deepEqual(problemsOf(checkDestination(value)), [problem], JSON.stringify(value));
  }
});

test('each rule of rates, order, secrets and TLS has a problem that names the field and what is allowed', () => {
  const cases: [value: unknown, problem: string][] = [
    ...[0, 1_000_001].map((rateLimit): [unknown, string] => [
      { ...destination, rateLimit },
      'rateLimit: is not a whole number of requests a second, from 1 to 1000000',
    ]),
    [
      { ...destination, rateLimit: '5' },
      'rateLimit: is a text; allowed is a whole number of requests a second, from 1 to 1000000',
    ],
    [{ ...destination, proxy: 'http://proxy.example' }, 'proxy: is not none'],
    [{ ...destination, burst: 5 }, 'burst: is set without rateLimit, to which it is an exception; set both'],
    [{ ...destination, maxInFlight: 0 }, 'maxInFlight: is not a whole number of deliveries, from 1 to 10000'],
    ...['99ms', '6s', '2', 'soon'].map((timeout): [unknown, string] => [
      { ...destination, timeout },
      'timeout: is not a duration from 100ms to 5s, such as 5s',
    ]),
    ...['59m', '31d', '3'].map((disableAfter): [unknown, string] => [
      { ...destination, disableAfter },
      'disableAfter: is not a duration from 1h to 30d, such as 30d',
    ]),
    [{ ...destination, retry: { for: '5h' } }, 'retry.for: is not a duration from 0s to 4h, such as 4h'],
    [
      { ...destination, retry: { schedule: ['10s', '0s'] } },
      'retry.schedule[1]: is not a duration from 1s to 4h, such as 4h',
    ],
    [
      { ...destination, retry: { schedule: [] } },
      'retry.schedule: has 0 items; allowed is a list of 1 to 20 durations',
    ],
    ...[302, '409', '6xx'].map((status): [unknown, string] => [
      { ...destination, retry: { on: [status] } },
      'retry.on[0]: is not a status from 400 to 599, 4xx or 5xx',
    ]),
    [{ ...destination, sample: { percent: 0 } }, 'sample.percent: is not a number from 0.01 to 100'],
    [
      { ...destination, sample: { by: 'user' } },
      'sample.percent: is missing; it is a number from 0.01 to 100',
    ],
    [{ ...destination, sample: { percent: 5, by: 'id' } }, 'sample.by: is not user or event'],
    ...(
      [
        [{ include: ['name'], exclude: ['name'] }, ': has include and exclude; set one of them'],
        [{ salt: 'x' }, '.salt: is set without hash; remove it'],
        [
          { exclude: ['userId'] },
          '.exclude[0]: begins with "userId", which always stays as it is; paths begin with context, properties, traits, name',
        ],
        [
          { hash: ['traits..a'] },
          '.hash[0]: has an empty key, or ends with a backslash; a dot in a key is written as \\.',
        ],
        [{ include: [`traits${'.a'.repeat(10)}`] }, '.include[0]: has 11 keys; 10 are allowed'],
        [{ include: [] }, '.include: has 0 items; allowed is a list of 1 to 100 paths in the webhook body'],
        [
          { rename: { 'traits.*': 'a' } },
          '.rename["traits.*"]: is not the path of one key below context, properties or traits',
        ],
        [
          { rename: { name: 'a' } },
          '.rename.name: is not the path of one key below context, properties or traits',
        ],
        [{ rename: { 'traits.a': '' } }, '.rename["traits.a"]: is not a key of 1 to 200 characters'],
      ] as const
    ).map(([fields, problem]): [unknown, string] => [{ ...destination, fields }, `fields${problem}`]),
    [{ ...destination, ordering: 'users' }, 'ordering: is not none or user'],
    [{ ...destination, ordering: null }, 'ordering: is not none or user'],
    [
      withSettings({ previousSharedSecret: 'older' }),
      'settings.previousSharedSecret: is set without sharedSecret; set sharedSecret to the newer secret',
    ],
    [
      withSettings({ sharedSecret: 's3cret', previousSharedSecretUntil: '2026-05-01T08:30:00Z' }),
      'settings.previousSharedSecretUntil: is set without previousSharedSecret; remove it',
    ],
    [
      withSettings({ sharedSecret: 's', previousSharedSecret: 'o', previousSharedSecretUntil: '2026-02-31' }),
      'settings.previousSharedSecretUntil: is not a time in UTC, such as 2026-05-01T08:30:00Z',
    ],
    [
      withSettings({ sharedSecret: 's3cret', previousSharedSecret: 's3cret' }),
      'settings.previousSharedSecret: is the same as sharedSecret; remove it',
    ],
    ...(
      [
        [{ key: 's3cret' }, `key: ${noKey}`],
        [{ key: `whsk_${'A'.repeat(86)}==` }, `key: ${noKey}`],
        [{ key: key.replace('whsk_', 'whpk_') }, `key: ${noKey}`],
        [{ key, previousKey: key }, 'previousKey: is the same as key; remove it'],
        [{ previousKey: key }, 'previousKey: is set without key; set key to the newer secret'],
        [
          { key, previousKeyUntil: '2026-05-01T08:30:00Z' },
          'previousKeyUntil: is set without previousKey; remove it',
        ],
        [{ publicKey: 'whpk_' }, 'publicKey: unknown key; known keys are key, previousKey, previousKeyUntil'],
      ] as const
    ).map(([ed25519, problem]): [unknown, string] => [
      withSettings({ ed25519 }),
      `settings.ed25519.${problem}`,
    ]),
    [
      withSettings({ ed25519: true }),
      'settings.ed25519: is a boolean; allowed is a mapping, usually empty: the server makes the keys',
    ],
    [
      withSettings({ ed25519: {}, deliveryIdHeader: 'webhook-id' }),
      'settings.deliveryIdHeader: sets the same header as ed25519; change or remove one of them',
    ],
    [
      withSettings({ standardWebhooks: true }),
      'settings.standardWebhooks: requires sharedSecret, the key of the signature',
    ],
    [
      withSettings({ sharedSecret: 's3cret', standardWebhooks: 'yes' }),
      'settings.standardWebhooks: is a text; allowed is true or false',
    ],
    [
      withSettings({ sharedSecret: 'whsec_?', standardWebhooks: true }),
      'settings.sharedSecret: begins with whsec_ and must continue with a key in base64 (Standard Webhooks)',
    ],
    [
      withSettings({ sharedSecret: 's3cret', previousSharedSecret: 'whsec_', standardWebhooks: true }),
      'settings.previousSharedSecret: begins with whsec_ and must continue with a key in base64 (Standard Webhooks)',
    ],
    [withSettings({ contentType: 'xml' }), 'settings.contentType: is not json or form'],
    [
      withSettings({ webhooks: [{ ...webhook, method: 'GET' }] }),
      'settings.webhooks[0].method: is not POST, PUT or PATCH',
    ],
    ...[{}, { username: 'ada' }, { token: 't', username: 'ada', password: 'p' }].map(
      (auth): [unknown, string] => [
        withSettings({ auth }),
        'settings.auth: has neither a username and password nor a token alone; set one or the other',
      ],
    ),
    [
      withSettings({ auth: { username: 'a:b', password: 'p' } }),
      'settings.auth.username: is not a text of 1 to 200 characters without a colon or control characters',
    ],
    [withSettings({ auth: { token: 'a\nb' } }), 'settings.auth.token: contains a line break or NUL'],
    [
      withSettings({ auth: { token: 't' }, webhooks: [{ ...webhook, headers: { authorization: 'a' } }] }),
      'settings.webhooks[0].headers.authorization: is set by Tailrace, because the destination has auth; remove one of them',
    ],
    [
      withSettings({ oauth2: { clientId: 'crm', clientSecret: 's' } }),
      'settings.oauth2.tokenUrl: is missing; it is a full URL with http or https',
    ],
    [
      withSettings({ oauth2, auth: { token: 't' } }),
      'settings.oauth2: sets the same header as auth; change or remove one of them',
    ],
    [
      withSettings({ oauth2, webhooks: [{ ...webhook, headers: { authorization: 'a' } }] }),
      'settings.webhooks[0].headers.authorization: is set by Tailrace, because the destination has oauth2; remove one of them',
    ],
    ...(
      [
        [{ tokenUrl: 'ftp://id.example/' }, 'tokenUrl: is neither http nor https'],
        [{ clientId: '' }, 'clientId: is not a text of 1 to 1,024 characters without control characters'],
        [
          { clientSecret: 'a\nb' },
          'clientSecret: is not a text of 1 to 1,024 characters without control characters',
        ],
        [{ scope: 'a  b' }, 'scope: is not scopes separated by spaces, up to 1,024 characters'],
        [{ scope: 'a'.repeat(1_025) }, 'scope: is not scopes separated by spaces, up to 1,024 characters'],
        [{ authMethod: 'private_key_jwt' }, 'authMethod: is not client_secret_basic or client_secret_post'],
        [{ scopes: 'a' }, 'scopes: unknown key; did you mean scope?'],
      ] as const
    ).map(([change, problem]): [unknown, string] => [
      withSettings({ oauth2: { ...oauth2, ...change } }),
      `settings.oauth2.${problem}`,
    ]),
    [
      withSettings({ signature: { algorithm: 'hmac-sha256' } }),
      'settings.signature: requires sharedSecret, the key of the signature',
    ],
    ...(
      [
        [{ algorithm: 'sha256' }, 'algorithm: is not hmac-sha1, hmac-sha256 or hmac-sha512'],
        [{ encoding: 'hex64' }, 'encoding: is not hex or base64'],
        [{ prefix: 'a,b' }, 'prefix: is not 1 to 32 visible ASCII characters without a comma'],
        [{ prefix: '' }, 'prefix: is not 1 to 32 visible ASCII characters without a comma'],
        [{ header: 'Host' }, 'header: is set by Tailrace and cannot be changed'],
        [{ headr: 'X' }, 'headr: unknown key; did you mean header?'],
      ] as const
    ).map(([signature, problem]): [unknown, string] => [
      withSettings({ sharedSecret: 's', signature }),
      `settings.signature.${problem}`,
    ]),
    [
      withSettings({ deliveryIdHeader: 'X-Signature' }),
      'settings.deliveryIdHeader: is set by Tailrace and cannot be changed',
    ],
    [
      withSettings({ deliveryIdHeader: 'webhook-id', standardWebhooks: true, sharedSecret: 's' }),
      'settings.deliveryIdHeader: sets the same header as standardWebhooks: true; change or remove one of them',
    ],
    [
      withSettings({ deliveryIdHeader: 'X-Hub', signature: { header: 'x-hub' }, sharedSecret: 's' }),
      'settings.deliveryIdHeader: sets the same header as signature.header; change or remove one of them',
    ],
    [
      withSettings({ deliveryIdHeader: 'X-Id', webhooks: [{ ...webhook, headers: { 'x-id': 'a' } }] }),
      'settings.webhooks[0].headers["x-id"]: is set by Tailrace, because the destination has deliveryIdHeader; remove one of them',
    ],
    [
      withSettings({ tls: { ca: '/etc/ca.pem' } }),
      'settings.tls.ca: contains no certificate; use PEM, which begins with -----BEGIN CERTIFICATE-----',
    ],
    [
      withSettings({ tls: { clientCertificate } }),
      'settings.tls.clientCertificate: is set without clientKey; set both',
    ],
    [
      withSettings({ tls: { clientKey } }),
      'settings.tls.clientKey: is set without clientCertificate; set both',
    ],
    [
      withSettings({ tls: { clientCertificate, clientKey: pem.otherKey } }),
      'settings.tls.clientKey: is not the key of the first certificate in clientCertificate',
    ],
    [
      withSettings({ tls: { clientCertificate, clientKey: clientCertificate } }),
      'settings.tls.clientKey: contains no private key; use PEM, which begins with -----BEGIN PRIVATE KEY-----',
    ],
    [
      withSettings({ tls: { clientCertificate: [clientCertificate], clientKey } }),
      'settings.tls.clientCertificate: is a list; allowed is one or more certificates in PEM',
    ],
    [
      withSettings({ tls: { cert: clientCertificate } }),
      'settings.tls.cert: unknown key; known keys are ca, clientCertificate, clientKey',
    ],
  ];
  for (const [value, problem] of cases) {
    assert.deepEqual(problemsOf(checkDestination(value)), [problem], JSON.stringify(value));
  }
});

test('ids and write keys name one entry each', () => {
  const checked = checkConfiguration({
    sources: [source, { id: 'web', writeKeys: ['wk_demo', 'other'] }, { id: 'app', writeKeys: ['other'] }],
    destinations: [destination, destination],
  });
  assert.deepEqual(problemsOf(checked), [
    'sources[1].id: is already the id of sources[0]; ids are unique',
    'sources[1].writeKeys[0]: is already a write key of sources[0]; a write key names one source',
    'sources[2].writeKeys[0]: is already a write key of sources[1]; a write key names one source',
    'destinations[1].id: is already the id of destinations[0]; ids are unique',
  ]);
});

test('problems between entries are found beside problems inside them', () => {
  const broken = { ...source, rateLimit: 'fast' };
  assert.deepEqual(problemsOf(checkConfiguration({ sources: [broken, broken] })), [
    'sources[0].rateLimit: is a text; allowed is a whole number of calls a second, from 1 to 1000000',
    'sources[1].rateLimit: is a text; allowed is a whole number of calls a second, from 1 to 1000000',
    'sources[1].id: is already the id of sources[0]; ids are unique',
    'sources[1].writeKeys[0]: is already a write key of sources[0]; a write key names one source',
  ]);
});

test('a source that does not exist is named, with the one that may be meant', () => {
  const checked = checkDestination({ ...destination, sources: ['web', 'wbe', 'nowhere'] });
  assert.ok('value' in checked);
  assert.deepEqual(
    missingSources([checked.value], ['web', 'app']).map(
      ({ path, message }) => `${formatPath(path)}: ${message}`,
    ),
    [
      'destinations[0].sources[1]: there is no source "wbe"; did you mean "web"?',
      'destinations[0].sources[2]: there is no source "nowhere"',
    ],
  );
});

test('messages contain no secret', () => {
  const secret = 'S3CRET';
  const checked = checkConfiguration({
    sources: [
      { id: 'a', writeKeys: [`${secret}:`, `${secret}1`, `${secret}1`] },
      { id: 'b', writeKeys: [`${secret}1`] },
    ],
    destinations: [
      withSettings({ sharedSecret: [secret] }),
      withSettings({ sharedSecret: secret.repeat(200) }),
      withSettings({ sharedSecret: secret, previousSharedSecret: secret }),
      withSettings({ previousSharedSecret: secret }),
      withSettings({ sharedSecret: `whsec_?${secret}`, standardWebhooks: true }),
      withSettings({ ed25519: { key: `whsk_${secret}` } }),
      withSettings({ tls: { clientKey: `-----BEGIN PRIVATE KEY-----${secret}`, clientCertificate } }),
      withSettings({ tls: { clientKey: [secret], clientCertificate } }),
      withHeaders({ 'X-A': `${secret}\n`, 'X-B': [secret] }),
      withSettings({
        webhooks: [{ url: `https://user:${secret}@example.com/` }, { url: `ftp://${secret}` }],
      }),
    ],
  });
  const problems = problemsOf(checked);
  assert.ok(problems.length >= 15, problems.join('\n'));
  for (const problem of problems) assert.ok(!problem.includes(secret), problem);
});

test('keys of a newer version pass where they are asked to, and nothing else does', () => {
  const newer = { ...source, colour: 'green' };
  assert.deepEqual(checkSource(newer, { allowUnknownKeys: true }), { value: { ...newer, enabled: true } });
  assert.equal(problemsOf(checkSource({ ...newer, id: '' }, { allowUnknownKeys: true })).length, 1);
});
