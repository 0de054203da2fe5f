import assert from 'node:assert/strict';
import test from 'node:test';
import { escapeReference, resolveConfiguration, resolveEntry, resolveReference } from './references.ts';

const files: Readonly<Record<string, string | Buffer>> = {
  'secrets/crm': 'from a file\n',
  windows: 'two lines\r\nof text\r\n\r\n',
  empty: '\n',
  bytes: Buffer.from([0xff, 0xfe]),
};
const lookups = {
  env: { CRM_SECRET: 'from the environment', EMPTY: '', LOOP: 'env:CRM_SECRET' },
  readFile: (path: string): Buffer => {
    const content = files[path];
    if (content === undefined) throw Object.assign(new Error(path), { code: codes[path] ?? 'ENOENT' });
    return Buffer.from(content);
  },
};
const codes: Readonly<Record<string, string>> = {
  locked: 'EACCES',
  huge: 'EFBIG',
  broken: 'EIO',
  '.': 'EISDIR',
};

test('a reference is replaced by the value of the variable or the content of the file, without its last line breaks', () => {
  const cases: Record<string, string> = {
    'env:CRM_SECRET': 'from the environment',
    'file:secrets/crm': 'from a file',
    'file:windows': 'two lines\r\nof text',
    'literal:env:CRM_SECRET': 'env:CRM_SECRET',
    'literal:literal:': 'literal:',
    'ENV:CRM_SECRET': 'ENV:CRM_SECRET',
    ' env:CRM_SECRET': ' env:CRM_SECRET',
    plain: 'plain',
    '': '',
    // A value is not looked at again: it is the secret.
    'env:LOOP': 'env:CRM_SECRET',
  };
  for (const [text, value] of Object.entries(cases)) {
    assert.deepEqual(resolveReference(text, lookups), { value }, text);
  }
});

test('a reference that leads nowhere is a problem that names the variable or the file', () => {
  const cases: [text: string, why: RegExp][] = [
    ['env:UNSET', /^refers to the environment variable UNSET, which is not set$/],
    ['env:EMPTY', /^refers to the environment variable EMPTY, which is empty$/],
    ['env:', /^begins with env: and has no name .* see literal:$/],
    ['file:', /^begins with file: and has no path after it$/],
    ['file:missing', /^refers to the file "missing", which does not exist$/],
    ['file:empty', /which is empty$/],
    ['file:bytes', /which is not text in UTF-8$/],
    ['file:locked', /which may not be read by this user$/],
    ['file:huge', /which is too large for a secret$/],
    ['file:.', /which is a folder$/],
    ['file:broken', /which cannot be read \(EIO\)$/],
  ];
  for (const [text, expected] of cases) {
    const resolved = resolveReference(text, lookups);
    assert.match('why' in resolved ? resolved.why : 'resolved', expected, text);
  }
});

test('a text that looks like a reference by mistake is not quoted, because it may be a secret', () => {
  const resolved = resolveReference('env:S3CR3T!', lookups);
  assert.ok('why' in resolved && !resolved.why.includes('S3CR3T'));
});

test('an escaped text stands for itself', () => {
  for (const text of ['plain', 'env:A', 'file:b', 'literal:c', 'literal:env:d', 'ENV:e', '']) {
    assert.deepEqual(resolveReference(escapeReference(text), lookups), { value: text });
  }
});

test('references are replaced only where a secret may stand, and the given value is not changed', () => {
  const settings = {
    sharedSecret: 'env:CRM_SECRET',
    previousSharedSecret: 'file:secrets/crm',
    tls: { ca: 'file:secrets/crm', clientCertificate: 'env:CRM_SECRET', clientKey: 'env:CRM_SECRET' },
    webhooks: [
      { url: 'env:CRM_SECRET', headers: { A: 'env:CRM_SECRET', B: 'plain' }, secretHeaders: ['env:B'] },
    ],
  };
  const given = {
    sources: [{ id: 'env:CRM_SECRET', name: 'file:missing', writeKeys: ['env:CRM_SECRET'] }],
    destinations: [{ name: 'env:UNSET', transform: { code: 'file:secrets/crm' }, settings }],
  };
  const before = structuredClone(given);
  const value = 'from the environment';
  assert.deepEqual(resolveConfiguration(given, lookups), {
    problems: [],
    value: {
      sources: [{ id: 'env:CRM_SECRET', name: 'file:missing', writeKeys: [value] }],
      destinations: [
        {
          name: 'env:UNSET',
          transform: { code: 'from a file' },
          settings: {
            sharedSecret: value,
            previousSharedSecret: 'from a file',
            tls: { ca: 'from a file', clientCertificate: value, clientKey: value },
            webhooks: [{ url: value, headers: { A: value, B: 'plain' }, secretHeaders: ['env:B'] }],
          },
        },
      ],
    },
  });
  assert.deepEqual(given, before);
});

test('any value may be given: what is not a configuration is returned as it is', () => {
  const odd = [undefined, null, 3, 'env:UNSET', [], [['env:UNSET']], { destinations: 'env:UNSET' }];
  for (const value of [...odd, { destinations: [null, { settings: [] }] }, { sources: { writeKeys: 1 } }]) {
    assert.deepEqual(resolveConfiguration(value, lookups), { value, problems: [] });
  }
  const own = JSON.parse('{"__proto__":{"a":1},"sources":[]}') as object;
  assert.deepEqual(Object.keys(resolveConfiguration(own, lookups).value as object), ['__proto__', 'sources']);
});

test('the paths of the problems of one entry begin at the entry', () => {
  const { value, problems } = resolveEntry(
    'source',
    { id: 'web', writeKeys: ['env:CRM_SECRET', 'env:UNSET'] },
    lookups,
  );
  assert.deepEqual(value, { id: 'web', writeKeys: ['from the environment', 'env:UNSET'] });
  assert.deepEqual(
    problems.map(({ path }) => path),
    [['writeKeys', 1]],
  );
});
