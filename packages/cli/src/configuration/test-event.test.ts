import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { openApi } from '../api/client.ts';
import type { CommandContext } from '../command.ts';
import { testDestination } from './test-event.ts';

type Values = Omit<Parameters<typeof testDestination>[0], 'destination'>;

/** Runs the command against a service that answers a POST so, and a GET with `entries` by path; resolves with what it received too. */
async function tried(
  answer: object,
  values: Values,
  { input = '', entries = {} }: { input?: string; entries?: Readonly<Record<string, object>> } = {},
) {
  let received: unknown;
  let sent = '';
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    const { method, url = '' } = request;
    if (method === 'GET') {
      response.end(JSON.stringify(entries[url]));
      return;
    }
    void textOf(request).then((body) => {
      sent = body;
      received = { path: url, body: JSON.parse(body) as unknown };
      response.end(JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { TAILRACE_URL: `http://127.0.0.1:${port}`, TAILRACE_API_TOKEN: 'token-0123456789abcdef' };
  const unused = {} as CommandContext;
  const context = { ...unused, env, api: openApi({ env }), input: () => Readable.from([input]) };
  try {
    const { exitCode, text } = await testDestination({ destination: 'crm', ...values }, context);
    return { exitCode, text: text.map(stripVTControlCharacters), received, sent };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const filterPath = '/v1/destinations/crm/filter/test';
const passes = { passes: true, body: '{}' };

test('a call that passes exits with 0, and one that does not exits with 1 and names the rule', async () => {
  const passing = await tried(passes, { filter: true });
  assert.deepEqual([passing.exitCode, passing.received], [0, { path: filterPath, body: {} }]);
  assert.equal(passing.text[0], 'The call passes the filter of crm.');
  const rule = { path: 'condition', text: 'properties.total atLeast 100' };
  const refused = await tried({ passes: false, rule, body: '{}' }, { filter: true });
  assert.equal(refused.exitCode, 1);
  assert.match(refused.text[0] ?? '', /does not meet condition, properties\.total atLeast 100\.$/);
});

test('a filter that is not saved is read as YAML, alone or under the key filter', async () => {
  for (const input of ['types: [track]', 'filter:\n  types: [track]']) {
    const { received } = await tried(passes, { filter: '-' }, { input });
    assert.deepEqual(received, { path: filterPath, body: { filter: { types: ['track'] } } });
  }
  await assert.rejects(tried({}, { filter: '/missing.yaml' }), /missing\.yaml/);
});

test('a call in JSON keeps the digits of its numbers, also that of a past event', async () => {
  const call = '{"properties":{"total":9007199254740993,"rate":1e400}}';
  const { sent } = await tried(passes, { filter: true, call: '-' }, { input: call });
  assert.equal(sent, `{"call":${call}}`);
  const entries = { '/v1/events/order%201/call': { eventId: 'order 1', text: call } };
  const past = await tried(passes, { filter: true, event: 'order 1' }, { entries });
  assert.equal(past.sent, `{"call":${call}}`);
});

const transformPath = '/v1/destinations/crm/transform/test';
const made = { input: '{}', outcome: 'body', body: '{"total":9007199254740993}', logs: [], cpuMs: 0.4 };
const took = `${made.cpuMs} ms of CPU time`;

test('a transform that is not saved is run, and its body, headers, URL, logs and time are shown', async () => {
  const answer = { ...made, headers: { 'X-A': 'b' }, url: 1, logs: ['one\ntwo \u001b[31m'] };
  const shown = await tried(answer, { transform: '-', type: 'page' }, { input: '(event) => event' });
  const body = { code: '(event) => event', type: 'page' };
  assert.deepEqual([shown.exitCode, shown.received], [0, { path: transformPath, body }]);
  assert.deepEqual(shown.text, [
    '{',
    '  "total": 9007199254740993',
    '}',
    'X-A: b',
    'Only URL 2 gets it.',
    'log  one',
    'log  two \\u001b[31m',
    took,
  ]);
});

test('the saved transform is run without a file, and one that returns null exits with 0', async () => {
  const shown = await tried({ ...made, outcome: 'filtered' }, { transform: true });
  assert.deepEqual([shown.exitCode, shown.received], [0, { path: transformPath, body: {} }]);
  assert.match(shown.text[0] ?? '', /returned null/);
});

test('a transform that fails exits with 1, and shows the line in its code, given or saved', async () => {
  const code = 'const rates = {};\nfunction transform(event) {\n\treturn rates.eur.sell;\n}\n';
  const error = { message: "TypeError: cannot read property 'sell' of undefined", line: 3 };
  const failed = { ...made, outcome: 'failed', error };
  const given = await tried(failed, { transform: '-' }, { input: code });
  assert.equal(given.exitCode, 1);
  assert.deepEqual(given.text.slice(0, -1), [
    `The transform failed in line 3: ${error.message}`,
    '     1 | const rates = {};',
    '     2 | function transform(event) {',
    '>    3 |   return rates.eur.sell;',
    '     4 | }',
    '     5 | ',
  ]);
  const entries = { '/v1/destinations/crm': { id: 'crm', transform: { code, version: 3 } } };
  assert.deepEqual((await tried(failed, { transform: true }, { entries })).text, given.text);
  const slow = await tried({ ...failed, error: { message: 'took too long' } }, { transform: true });
  assert.deepEqual(slow.text, ['The transform failed: took too long', took]);
});

test('options that exclude each other are refused', async () => {
  for (const [values, problem] of [
    [{ filter: '-', call: '-' }, /only one of --filter and --call can be -/],
    [{ transform: '-', call: '-' }, /only one of --transform and --call can be -/],
    [{ filter: true, transform: true }, /--filter and --transform exclude each other/],
    [{ webhook: 1, transform: true }, /--webhook and --transform exclude each other/],
    [{ event: 'order-1', type: 'page' }, /--event and --type exclude each other/],
  ] as const) {
    await assert.rejects(tried({}, values), problem);
  }
});
