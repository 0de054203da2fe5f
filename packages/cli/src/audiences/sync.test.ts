/** `tailrace audience sync` against a service that sends what the test says. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { runCli } from '../run.ts';

test('a preview of what would be sent to a destination may take longer than other requests', async (t) => {
  // The time limit of other requests has passed at once.
  t.mock.method(AbortSignal, 'timeout', () => AbortSignal.abort());
  const seen: string[] = [];
  await using server = createServer((request, response) => {
    void buffer(request).then((body) => {
      seen.push(`${request.method} ${request.url} ${body.length}`);
      response.end('{"read":0,"members":0,"added":2,"removed":0,"joining":["ada","bob"],"leaving":[]}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const said: string[] = [];
  const exitCode = await runCli({
    argv: ['audience', 'sync', 'web', 'vip', '--destination', 'crm', '--dry-run'],
    env: { TAILRACE_URL: `http://127.0.0.1:${port}`, TAILRACE_API_TOKEN: 't' },
    out: (line) => said.push(line),
    err: (line) => said.push(line),
  });
  assert.deepEqual(said, ['2 users would be sent to crm: ada, bob.', 'Dry run, nothing was changed.']);
  assert.equal(exitCode, 0);
  assert.deepEqual(seen, ['PUT /v1/sources/web/audiences/vip?destination=crm&dryRun=true 0']);
});
