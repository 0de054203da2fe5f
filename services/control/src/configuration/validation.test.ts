/** Every invalid setting is refused with field and rule, and changes nothing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { names, openApi, type Api } from '../testing/api.ts';

let control: Api;
before(async () => {
  control = await openApi();
  await control.expect(201, {
    method: 'POST',
    path: '/v1/sources',
    body: { id: 'owner', writeKeys: ['wk_taken'] },
  });
});
after(() => control[Symbol.asyncDispose]());

type Case = readonly [patch: unknown, field: string, rule: RegExp];

const url = 'https://crm.example.com/hook';
const settings = (more: object): object => ({ settings: { webhooks: [{ url }], ...more } });
const webhook = (fields: object): object => ({ settings: { webhooks: [fields] } });
const header = (name: string, value: unknown = 'x'): object => webhook({ url, headers: { [name]: value } });
const at = 'settings.webhooks[0]';
const headerAt = (name: string): string =>
  /^[a-z]+$/i.test(name) ? `${at}.headers.${name}` : `${at}.headers[${JSON.stringify(name)}]`;
const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

const ofBoth: readonly Case[] = [
  [{ name: '' }, 'name', /1 to 200/],
  [{ name: 'x'.repeat(201) }, 'name', /1 to 200/],
  [{ name: 5 }, 'name', /is a number.*quotes/],
  [{ name: ['x'] }, 'name', /is a list/],
  [{ enabled: 'yes' }, 'enabled', /is a text; allowed is true or false/],
  [{ enabled: 1 }, 'enabled', /true or false/],
  [{ enabled: {} }, 'enabled', /is a mapping/],
  [{ id: 'other' }, 'id', /the id in the path/],
  [{ colour: 'green' }, 'colour', /unknown key/],
  [{ enable: true }, 'enable', /did you mean enabled\?/],
  [{ rateLimit: 0 }, 'rateLimit', /from 1 to 1000000/],
  [{ rateLimit: -1 }, 'rateLimit', /from 1 to 1000000/],
  [{ rateLimit: 1_000_001 }, 'rateLimit', /from 1 to 1000000/],
  [{ rateLimit: 1.5 }, 'rateLimit', /whole number/],
  [{ rateLimit: '5' }, 'rateLimit', /is a text/],
  [{ rateLimit: true }, 'rateLimit', /is a boolean/],
];

const ofSources: readonly Case[] = [
  ...ofBoth,
  [{ writeKeys: null }, 'writeKeys', /is missing/],
  [{ writeKeys: [] }, 'writeKeys', /has 0 items/],
  [{ writeKeys: Array.from({ length: 21 }, (_, index) => `k${index}`) }, 'writeKeys', /has 21 items/],
  [{ writeKeys: 'wk' }, 'writeKeys', /is a text/],
  [{ writeKeys: {} }, 'writeKeys', /is a mapping/],
  [{ writeKeys: [''] }, 'writeKeys[0]', /1 to 128/],
  [{ writeKeys: ['x'.repeat(129)] }, 'writeKeys[0]', /1 to 128/],
  [{ writeKeys: ['wk_web', 'a'] }, 'writeKeys[1]', /at least 6 characters/],
  [{ writeKeys: ['wk_we'] }, 'writeKeys[0]', /at least 6 characters/],
  [{ writeKeys: ['a b'] }, 'writeKeys[0]', /1 to 128 letters/],
  [{ writeKeys: ['a:b'] }, 'writeKeys[0]', /1 to 128 letters/],
  [{ writeKeys: ['schlüssel'] }, 'writeKeys[0]', /1 to 128 letters/],
  [{ writeKeys: ['a', 'a'] }, 'writeKeys[1]', /repeats an earlier item/],
  [{ writeKeys: ['a', 7] }, 'writeKeys[1]', /is a number/],
  [{ writeKeys: [null] }, 'writeKeys[0]', /is empty/],
  [{ writeKeys: ['wk_taken'] }, 'writeKeys[0]', /is already a write key of the source "owner"/],
  [{ writeKey: 'a' }, 'writeKey', /did you mean writeKeys\?/],
  [{ schema: [] }, 'schema', /is a list/],
  [{ schema: 'x' }, 'schema', /is a text/],
  [{ schema: { tracks: {} } }, 'schema.tracks', /did you mean track\?/],
  [{ schema: { track: [] } }, 'schema.track', /is a list/],
  [{ schema: { track: {} } }, 'schema.track.blocked', /is missing/],
  [{ schema: { track: { blocked: 'x' } } }, 'schema.track.blocked', /is a text/],
  [{ schema: { track: { blocked: [''] } } }, 'schema.track.blocked[0]', /name of an event/],
  [{ schema: { track: { blocked: [3] } } }, 'schema.track.blocked[0]', /is a number/],
  [{ schema: { track: { blocked: [], allowed: [] } } }, 'schema.track.allowed', /unknown key/],
  [
    { schema: { track: { blocked: Array.from({ length: 1_001 }, (_, index) => `e${index}`) } } },
    'schema.track.blocked',
    /has 1001 items/,
  ],
  [{ ordering: 'user' }, 'ordering', /unknown key/],
  [{ settings: {} }, 'settings', /unknown key/],
];

const refusedHeaders = [
  'Host',
  'Content-Length',
  'content-type',
  'USER-AGENT',
  'X-Signature',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'Connection',
  'Expect',
  'Keep-Alive',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
  'Proxy-Authorization',
  'Proxy-Connection',
];
const badHeaderNames = ['', 'a b', 'a:b', 'ä', 'a\n', '(x)', 'x'.repeat(129)];
const badHeaderValues = ['a\r\nb', 'a\nb', 'a\0b', 'ü', ' a', 'a ', 'x'.repeat(4_097), '\u007f'];
const badUrls: readonly (readonly [string, RegExp])[] = [
  ['', /full URL/],
  ['crm.example.com', /full URL/],
  ['//crm.example.com', /full URL/],
  ['https://', /full URL/],
  ['https:crm.example.com', /full URL/],
  ['http:///x', /full URL/],
  ['ftp://crm.example.com', /neither http nor https/],
  ['javascript:alert(1)', /neither http nor https/],
  ['file:///etc/passwd', /neither http nor https/],
  ['https://user@crm.example.com', /user name or password/],
  ['https://user:word@crm.example.com', /user name or password/],
  ['https://crm.example.com/a b', /space or a control character/],
  ['https://crm.example.com/\n', /space or a control character/],
  [`https://crm.example.com/${'x'.repeat(2_048)}`, /longer than 2048/],
];

const ofDestinations: readonly Case[] = [
  ...ofBoth,
  [{ type: null }, 'type', /is missing/],
  [{ type: 'webhooks' }, 'type', /is not Webhooks/],
  [{ type: 5 }, 'type', /Webhooks/],
  [{ sources: null }, 'sources', /is missing/],
  [{ sources: 'web' }, 'sources', /is a text/],
  [{ sources: ['owner', 'owner'] }, 'sources[1]', /repeats/],
  [{ sources: ['nowhere'] }, 'sources[0]', /there is no source "nowhere"/],
  [{ sources: ['ownr'] }, 'sources[0]', /did you mean "owner"\?/],
  [{ sources: ['a b'] }, 'sources[0]', /1 to 64 letters/],
  [{ sources: [1] }, 'sources[0]', /is a number/],
  [{ ordering: 'strict' }, 'ordering', /none or user/],
  [{ ordering: 1 }, 'ordering', /none or user/],
  [{ writeKeys: [] }, 'writeKeys', /unknown key/],
  [{ settings: null }, 'settings', /is missing/],
  [{ settings: [] }, 'settings', /is a list/],
  [settings({ webhooks: null }), 'settings.webhooks', /is missing/],
  [settings({ webhooks: [] }), 'settings.webhooks', /has 0 items/],
  [settings({ webhooks: Array.from({ length: 6 }, () => ({ url })) }), 'settings.webhooks', /has 6 items/],
  [settings({ webhooks: { url } }), 'settings.webhooks', /is a mapping/],
  [settings({ webhooks: [url] }), at, /is a text/],
  [settings({ secret: 'x' }), 'settings.secret', /unknown key/],
  [settings({ sharedSecret: '' }), 'settings.sharedSecret', /1 to 1,024/],
  [settings({ sharedSecret: 'x'.repeat(1_025) }), 'settings.sharedSecret', /1 to 1,024/],
  [settings({ sharedSecret: 5 }), 'settings.sharedSecret', /is a number/],
  [settings({ sharedSecret: '********' }), 'settings.sharedSecret', /mask/],
  [
    settings({ sharedSecret: 'sealed:v1:00000000:AAAA' }),
    'settings.sharedSecret',
    /form of an encrypted secret/,
  ],
  [settings({ previousSharedSecret: 'x' }), 'settings.previousSharedSecret', /without sharedSecret/],
  [
    settings({ sharedSecret: 'x', previousSharedSecret: 'x' }),
    'settings.previousSharedSecret',
    /same as sharedSecret/,
  ],
  [settings({ standardWebhooks: true }), 'settings.standardWebhooks', /requires sharedSecret/],
  [settings({ standardWebhooks: 'yes' }), 'settings.standardWebhooks', /true or false/],
  [settings({ standardWebhooks: true, sharedSecret: 'whsec_!' }), 'settings.sharedSecret', /base64/],
  [settings({ tls: [] }), 'settings.tls', /is a list/],
  [settings({ tls: { key: 'x' } }), 'settings.tls.key', /unknown key/],
  [settings({ tls: { ca: 'x' } }), 'settings.tls.ca', /no certificate/],
  [settings({ tls: { ca: certificate } }), 'settings.tls.ca', /cannot be read/],
  [settings({ tls: { ca: 'x'.repeat(65_537) } }), 'settings.tls.ca', /longer than 65536/],
  [settings({ tls: { clientKey: 'x' } }), 'settings.tls.clientKey', /no private key/],
  [settings({ tls: { clientKey: 'x' } }), 'settings.tls.clientKey', /without clientCertificate/],
  [settings({ tls: { clientCertificate: certificate } }), 'settings.tls.clientCertificate', /clientKey/],
  [webhook({}), `${at}.url`, /is missing/],
  [webhook({ url: 5 }), `${at}.url`, /is a number/],
  [webhook({ url: null }), `${at}.url`, /is empty/],
  [webhook({ uri: url, url }), `${at}.uri`, /did you mean url\?/],
  ...badUrls.map(([bad, rule]): Case => [webhook({ url: bad }), `${at}.url`, rule]),
  [webhook({ url, headers: [] }), `${at}.headers`, /is a list/],
  [
    webhook({
      url,
      headers: Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`h${index}`, 'x'])),
    }),
    `${at}.headers`,
    /has 6 entries/,
  ],
  ...refusedHeaders.map((name): Case => [header(name), headerAt(name), /is set by Tailrace|connection/]),
  ...badHeaderNames.map((name): Case => [header(name), headerAt(name), /name of a header|longer than 128/]),
  ...badHeaderValues.map((value): Case => [
    header('a', value),
    headerAt('a'),
    /contains|begins or ends|longer/,
  ]),
  [header('a', 5), headerAt('a'), /is a number/],
  [header('a', '********'), headerAt('a'), /mask/],
  [webhook({ url, headers: { A: 'x', a: 'y' } }), headerAt('a'), /same header as "A"/],
  [webhook({ url, secretHeaders: ['a'] }), `${at}.secretHeaders[0]`, /is not the name of a header/],
  [webhook({ url, secretHeaders: 'a' }), `${at}.secretHeaders`, /is a text/],
  [webhook({ url, headers: { a: 'x' }, secretHeaders: ['a', 'a'] }), `${at}.secretHeaders[1]`, /repeats/],
  [webhook({ url, headers: { a: '********' }, secretHeaders: ['a'] }), headerAt('a'), /mask/],
];

for (const [kind, cases, body] of [
  ['sources', ofSources, { id: 'web', writeKeys: ['wk_web'] }],
  ['destinations', ofDestinations, { id: 'crm', type: 'Webhooks', settings: { webhooks: [{ url }] } }],
] as const) {
  test(`each of ${cases.length} invalid settings of ${kind} is refused by field and rule`, async () => {
    await control.expect(201, { method: 'POST', path: `/v1/${kind}`, body });
    const path = `/v1/${kind}/${body.id}`;
    const before = await control.ask({ path });
    const records = control.cluster.records(names.config).length;
    for (const [patch, field, rule] of cases) {
      const answer = await control.ask({ method: 'PATCH', path, body: patch });
      const shown = `${JSON.stringify(patch).slice(0, 200)}: ${answer.text.slice(0, 500)}`;
      assert.deepEqual([answer.status, answer.json['code']], [400, 'invalid-configuration'], shown);
      const problems = answer.json['problems'] as { field: string; rule: string }[];
      assert.ok(
        problems.some((problem) => problem.field === field && rule.test(problem.rule)),
        shown,
      );
      assert.ok(String(answer.json['message']).includes(field), shown);
    }
    const after = await control.ask({ path });
    assert.deepEqual([after.etag, after.text], [before.etag, before.text]);
    assert.equal(control.cluster.records(names.config).length, records);
  });
}

test('a body that is not an object, or not JSON, is refused', async () => {
  for (const path of ['/v1/sources', '/v1/destinations']) {
    for (const body of [[], 'text', 5, true]) {
      const answer = await control.ask({ method: 'POST', path, body });
      assert.deepEqual([answer.status, answer.json['code']], [400, 'invalid-configuration'], answer.text);
    }
    for (const bytes of ['{', '{"__proto__": {}}', Buffer.from([0x22, 0xff, 0x22])]) {
      const answer = await control.ask({ method: 'POST', path, bytes });
      assert.deepEqual([answer.status, answer.json['code']], [400, 'malformed-json'], answer.text);
    }
    const headers = { 'content-type': 'text/plain' };
    assert.equal((await control.ask({ method: 'POST', path, bytes: 'x', headers })).status, 415);
    const tooMuch = await control.ask({ method: 'POST', path, body: { name: 'x'.repeat(1_100_000) } });
    assert.deepEqual([tooMuch.status, tooMuch.json['code']], [413, 'body-too-large']);
  }
});
