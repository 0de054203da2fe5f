import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import { parseConfiguration, type ParseOptions } from './file.ts';
import { notificationSchema } from './rules/notification/schema.ts';
import { destinationSchema, sourceSchema, webhooksSettingsSchema } from './rules/schema.ts';

const fileName = 'tailrace.yaml';
const options: ParseOptions = {
  fileName,
  env: { CRM_SECRET: 's3cret' },
  readFile: () => {
    throw Object.assign(new Error(), { code: 'ENOENT' });
  },
};

function linesOf(text: string): string[] {
  try {
    parseConfiguration(text, options);
  } catch (error) {
    if (isTailraceError(error, 'invalid-configuration')) return error.message.split('\n');
    throw error;
  }
  return [];
}

const wanted = {
  sources: [{ id: 'web', name: 'Website', writeKeys: ['wk_demo'], enabled: true }],
  destinations: [
    {
      id: 'crm',
      type: 'Webhooks',
      enabled: false,
      sources: ['web'],
      settings: {
        sharedSecret: 's3cret',
        webhooks: [{ url: 'https://crm.example.com/hook', headers: { 'X-Team': 'growth' } }],
      },
    },
  ],
};

test('YAML gives sources and destinations with their defaults', () => {
  const text = `
# the website
sources:
  - { id: web, name: Website, writeKeys: [wk_demo] }
destinations:
  - id: crm
    type: Webhooks
    enabled: false
    sources: [web]
    settings:
      sharedSecret: s3cret
      webhooks:
        - url: https://crm.example.com/hook
          headers: { X-Team: growth }
`;
  const { sources, destinations } = parseConfiguration(text, options);
  assert.deepEqual({ sources, destinations }, wanted);
});

test('JSON, indented with tabs too, and a byte order mark are understood', () => {
  for (const indent of [undefined, 2, '\t']) {
    const text = `\uFEFF${JSON.stringify(wanted, null, indent)}`;
    const { sources, destinations } = parseConfiguration(text, options);
    assert.deepEqual({ sources, destinations }, wanted);
  }
});

test('an anchor may be used again', () => {
  const text = `
destinations:
  - { id: a, type: Webhooks, sources: [], settings: &hooks { webhooks: [{ url: https://a.example/ }] } }
  - { id: b, type: Webhooks, sources: [], settings: *hooks }
`;
  const { destinations } = parseConfiguration(text, options);
  assert.deepEqual(destinations[1]?.settings, destinations[0]?.settings);
});

test('all problems are reported together, each with its place, in the order of the file', () => {
  const text = `sources:
  - id: web
    writeKeys: []
    enable: true
destinations:
  - id: crm
    type: Webhooks
    name:
    sources: [web]
    settings:
      sharedSecret: 1234
      webhooks:
        - url: crm.example.com/hook
        - url: https://crm.example.com/hook
          headers:
            Host: crm
            X-Team: [a]
        - headers: {}
`;
  assert.deepEqual(linesOf(text), [
    'tailrace.yaml:3:16 sources[0].writeKeys: has 0 items; allowed is a list of 1 to 20 write keys',
    'tailrace.yaml:4:5 sources[0].enable: unknown key; did you mean enabled?',
    'tailrace.yaml:8:5 destinations[0].name: is empty; allowed is a text of 1 to 200 characters',
    'tailrace.yaml:11:21 destinations[0].settings.sharedSecret: is a number; allowed is a text of 1 to 1,024 characters; put it in quotes',
    'tailrace.yaml:13:16 destinations[0].settings.webhooks[0].url: is not a full URL; include scheme and host, such as https://example.com/hook',
    'tailrace.yaml:16:13 destinations[0].settings.webhooks[1].headers.Host: is set by Tailrace and cannot be changed',
    'tailrace.yaml:17:21 destinations[0].settings.webhooks[1].headers["X-Team"]: is a list; allowed is a text',
    'tailrace.yaml:18:11 destinations[0].settings.webhooks[2].url: is missing; it is a full URL with http or https',
  ]);
});

test('a reference to a secret is replaced, and one that leads nowhere is reported beside the other problems', () => {
  const text = `sources:
  - { id: web, writeKeys: [env:WEB_KEY] }
destinations:
  - id: crm
    type: Webhooks
    sources: [web]
    rateLimit: 0
    settings:
      sharedSecret: file:secrets/crm
      webhooks:
        - { url: https://crm.example.com/hook, headers: { Authorization: env:CRM_SECRET } }
`;
  assert.deepEqual(linesOf(text), [
    'tailrace.yaml:2:28 sources[0].writeKeys[0]: refers to the environment variable WEB_KEY, which is not set',
    'tailrace.yaml:7:16 destinations[0].rateLimit: is not a whole number of requests a second, from 1 to 1000000',
    'tailrace.yaml:9:21 destinations[0].settings.sharedSecret: refers to the file "secrets/crm", which does not exist',
  ]);
  const { destinations } = parseConfiguration(
    text
      .replace('rateLimit: 0', 'rateLimit: 1')
      .replace('env:WEB_KEY', 'wk')
      .replace('file:secrets/crm', 'env:CRM_SECRET'),
    options,
  );
  assert.equal(destinations[0]?.settings.sharedSecret, 's3cret');
  assert.deepEqual(destinations[0].settings.webhooks[0]?.headers, { Authorization: 's3cret' });
});

test('the mask of a secret is refused wherever a secret may stand', () => {
  const text = `destinations:
  - id: crm
    type: Webhooks
    sources: []
    settings:
      sharedSecret: '********'
      previousSharedSecret: '[redacted]'
      webhooks:
        - url: https://crm.example.com/hook?token=********
          headers: { Authorization: '********', X-Team: growth }
          secretHeaders: [authorization]
        - url: https://crm.example.com/second
          headers: { X-Open: '********' }
`;
  const lines = linesOf(text).map(
    (line) => /^(\S+ \S+: has the mask) .*env:NAME, file:PATH/.exec(line)?.[1] ?? line,
  );
  assert.deepEqual(lines, [
    'tailrace.yaml:6:21 destinations[0].settings.sharedSecret: has the mask',
    'tailrace.yaml:7:29 destinations[0].settings.previousSharedSecret: has the mask',
    'tailrace.yaml:9:16 destinations[0].settings.webhooks[0].url: has the mask',
    'tailrace.yaml:10:37 destinations[0].settings.webhooks[0].headers.Authorization: has the mask',
    'tailrace.yaml:13:30 destinations[0].settings.webhooks[1].headers["X-Open"]: has the mask',
  ]);
  const key = `destinations:
  - { id: crm, type: Webhooks, sources: [], settings: { tls: { clientKey: '********' }, webhooks: [{ url: 'http://a/' }] } }
`;
  assert.ok(linesOf(key).some((line) => line.includes('settings.tls.clientKey: has the mask')));
  const writeKey = "sources:\n  - { id: web, writeKeys: ['********'] }\n";
  assert.ok(linesOf(writeKey).some((line) => line.includes('sources[0].writeKeys[0]: has the mask')));
});

test('invalid YAML is reported with its place', () => {
  const cases: [text: string, line: RegExp][] = [
    ['sources:\n  - id: a\n   b: 3\n', /^tailrace\.yaml:3:1 /],
    ['sources: [\n', /^tailrace\.yaml:2:1 /],
    ['sources: []\nsources: []\n', /^tailrace\.yaml:2:1 Map keys must be unique/],
    ['sources: []\n---\nsources: []\n', /^tailrace\.yaml:2:1 a second document begins here/],
    ['sources: *all\n', /^tailrace\.yaml:1:10 the alias \*all has no anchor/],
    ['sources: !secret []\n', /^tailrace\.yaml:1:10 Unresolved tag: !secret/],
    ['{"sources": [}', /^tailrace\.yaml:1:/],
  ];
  for (const [text, line] of cases) assert.match(linesOf(text)[0] ?? 'accepted', line, text);
});

test('aliases of aliases cannot fill the memory', () => {
  const levels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [*l${i}, *l${i}]`);
  const [line = 'accepted'] = linesOf(['l0: &l0 [a]', ...levels].join('\n'));
  assert.match(line, /^tailrace\.yaml:1:1 Excessive alias count/);
});

test('the problem of a file that is no mapping names the expected form', () => {
  const allowed = 'allowed is a mapping with sources, destinations and notifications';
  assert.deepEqual(linesOf(''), [`tailrace.yaml:1:1 the configuration is empty; ${allowed}`]);
  assert.deepEqual(linesOf('# nothing\n'), [`tailrace.yaml:1:1 the configuration is empty; ${allowed}`]);
  assert.deepEqual(linesOf('- id: web\n'), [`tailrace.yaml:1:1 the configuration is a list; ${allowed}`]);
  assert.deepEqual(linesOf('destinations:\n'), [
    'tailrace.yaml:1:1 destinations: is empty; allowed is a list of destinations, [] for none',
  ]);
});

test('the place of any field can be asked for afterwards, through aliases too', () => {
  const text = `sources: []
destinations:
  - { id: a, type: Webhooks, sources: &all [x, y], settings: { webhooks: [{ url: http://a/ }] } }
  - { id: b, type: Webhooks, sources: *all, settings: { webhooks: [{ url: http://a/ }] } }
`;
  const { placeOf } = parseConfiguration(text, options);
  assert.equal(placeOf(['destinations', 0, 'sources', 1]), 'tailrace.yaml:3:48');
  assert.equal(placeOf(['destinations', 1, 'sources', 1]), 'tailrace.yaml:3:48');
  assert.equal(placeOf(['destinations', 1, 'name']), 'tailrace.yaml:4:5');
});

test('the example of the README is a valid configuration with every field there is but PEM and oauth2, which excludes auth', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(readme) ?? [];
  const withKey = { ...options, env: { ...options.env, PAGERDUTY_KEY: 'key' } };
  const { sources, destinations, notifications = [] } = parseConfiguration(example, withKey);
  const fieldsOf = (entry: object | undefined): string[] => Object.keys(entry ?? {}).sort();
  assert.deepEqual(fieldsOf(sources[0]), Object.keys(sourceSchema.properties).sort());
  assert.deepEqual(fieldsOf(destinations[0]), Object.keys(destinationSchema.properties).sort());
  const { destination: _destination, email: _email, ...ofWebhooks } = notificationSchema.properties;
  assert.deepEqual(fieldsOf(notifications[0]), Object.keys(ofWebhooks).sort());
  assert.deepEqual(
    fieldsOf(destinations[0]?.settings),
    Object.keys(webhooksSettingsSchema.properties)
      .filter((name) => name !== 'tls' && name !== 'oauth2')
      .sort(),
  );
});
