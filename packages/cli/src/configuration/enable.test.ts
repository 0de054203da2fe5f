/** What is shown when a destination is enabled or connected: the commands that send what came before. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { runCli } from '../run.ts';

/** The answers, by path. Others are an enabled destination of the sources web and app. */
type Answers = Readonly<Record<string, readonly [status: number, body: object]>>;

async function printed(argv: readonly string[], answers: Answers): Promise<readonly string[]> {
  const destination = { enabled: true, sources: ['web', 'app'] };
  await using server = createServer(({ url = '' }, response) => {
    const [status, body] = answers[url.replace(/\?.*/, '')] ?? [200, destination];
    response.writeHead(status).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const out: string[] = [];
  const exitCode = await runCli({
    argv: [...argv],
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
  const enable = ['enable', 'destination', 'crm'];
  const health = '/v1/destinations/crm/health';
  assert.deepEqual(await printed(enable, { [health]: [200, { outage }] }), [
    done,
    `To send what it missed: ${command}`,
  ]);
  const unavailable = { code: 'history-unavailable', message: 'It is being opened.' };
  const none = { items: [] };
  for (const answer of [[200, {}] as const, [503, unavailable] as const]) {
    const answers: Answers = {
      [health]: answer,
      '/v1/sources/web/audiences': [200, none],
      '/v1/sources/app/audiences': [404, { code: 'not-found', message: 'Not for this token.' }],
    };
    assert.deepEqual(await printed(enable, answers), [
      done,
      'To send the last 7 days: tailrace replay events --destination crm --from 7d',
    ]);
  }
});

test('the commands that send events and audiences of before are shown where a destination is connected', async () => {
  const connect = ['connect', 'crm', 'web'];
  const audiences = { items: [{ name: 'vip' }, { name: "Ada's friends" }] };
  const answers: Answers = { '/v1/sources/web/audiences': [200, audiences] };
  assert.deepEqual(await printed(connect, answers), [
    'crm gets the events of web.',
    'To send the last 7 days: tailrace replay events --destination crm --source web --from 7d',
    'To send the members: tailrace audience sync web vip --destination crm',
    `To send the members: tailrace audience sync web 'Ada'\\''s friends' --destination crm`,
  ]);
  const disabled: Answers = { '/v1/destinations/crm/sources/web': [200, { enabled: false }] };
  assert.deepEqual(await printed(connect, disabled), ['crm gets the events of web.']);
});
