import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { openApi } from '../api/client.ts';
import { testFilter } from './test-filter.ts';

/** Runs the command against a service that answers so; resolves with what it received too. */
async function tried(answer: object, filter: string | true, call?: string, input = '') {
  let received: unknown;
  let sent = '';
  const server = createServer((request, response) => {
    void textOf(request).then((body) => {
      sent = body;
      received = { path: request.url, body: JSON.parse(body) as unknown };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { TAILRACE_URL: `http://127.0.0.1:${port}`, TAILRACE_API_TOKEN: 'token-0123456789abcdef' };
  const context = { api: openApi({ env }), input: () => Readable.from([input]) };
  try {
    const { exitCode, text } = await testFilter({ destination: 'crm', filter, call }, context);
    return { exitCode, text, received, sent };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const path = '/v1/destinations/crm/filter/test';

test('a call that passes exits with 0, and one that does not exits with 1 and names the rule', async () => {
  const passing = await tried({ passes: true, body: '{}' }, true);
  assert.deepEqual([passing.exitCode, passing.received], [0, { path, body: {} }]);
  assert.equal(passing.text[0], 'The call passes the filter of crm.');
  const rule = { path: 'condition', text: 'properties.total atLeast 100' };
  const refused = await tried({ passes: false, rule, body: '{}' }, true);
  assert.equal(refused.exitCode, 1);
  assert.match(refused.text[0] ?? '', /does not meet condition, properties\.total atLeast 100\.$/);
});

test('a filter that is not saved is read as YAML, alone or under the key filter', async () => {
  for (const input of ['types: [track]', 'filter:\n  types: [track]']) {
    const { received } = await tried({ passes: true, body: '{}' }, '-', undefined, input);
    assert.deepEqual(received, { path, body: { filter: { types: ['track'] } } });
  }
  await assert.rejects(tried({}, '-', '-'), /only one of --filter and --call can be -/);
  await assert.rejects(tried({}, '/missing.yaml'), /missing\.yaml/);
});

test('a call in JSON keeps the digits of its numbers', async () => {
  const call = '{"properties":{"total":9007199254740993,"rate":1e400}}';
  const { sent } = await tried({ passes: true, body: '{}' }, true, '-', call);
  assert.equal(sent, `{"call":${call}}`);
});
