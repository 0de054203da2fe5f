import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { runCli } from '../run.ts';

/** What `tailrace enable destination crm` prints, where the health is answered with this. */
async function enabled(status: number, health: object): Promise<readonly string[]> {
  await using server = createServer(({ url }, response) => {
    const isHealth = url === '/v1/destinations/crm/health';
    response.writeHead(isHealth ? status : 200).end(JSON.stringify(isHealth ? health : { enabled: true }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const out: string[] = [];
  const exitCode = await runCli({
    argv: ['enable', 'destination', 'crm'],
    env: { TAILRACE_URL: `http://127.0.0.1:${port}`, TAILRACE_API_TOKEN: 't' },
    out: (line) => out.push(line),
    err: (line) => out.push(line),
  });
  assert.equal(exitCode, 0, out.join('\n'));
  return out;
}

test('the command that sends what a destination missed is shown where it was disabled because it failed', async () => {
  const done = 'The destination crm is enabled.';
  const outage = {
    state: 'disabled',
    since: '2026-05-01T12:00:00.000Z',
    missedFrom: '2026-05-01T08:00:00.000Z',
  };
  const command = 'tailrace replay events --destination crm --from 2026-05-01T08:00:00.000Z';
  assert.deepEqual(await enabled(200, { outage }), [done, `To send what it missed: ${command}`]);
  assert.deepEqual(await enabled(200, {}), [done]);
  assert.deepEqual(await enabled(503, { code: 'history-unavailable', message: 'It is being opened.' }), [
    done,
  ]);
});
