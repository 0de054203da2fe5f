/** `tailrace get events`, against a service that answers in two pages. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { runCli } from '../run.ts';

const other = {
  count: 1_234,
  filtered: 2,
  firstSeenAt: '2026-05-01T00:00:00.000Z',
  lastSeenAt: '2026-05-02T00:00:00.000Z',
};

test('get events shows the calls whose names are not listed, once all names are shown', async (t) => {
  const event = (name: string) => ({ event: name, count: 1, filtered: 0, blocked: false });
  const server = createServer(({ url = '' }, response) => {
    const isLast = new URL(url, 'http://localhost').searchParams.has('cursor');
    const page = isLast ? { items: [event('B')], other } : { items: [event('A')], next: 'after-a' };
    response.end(JSON.stringify(page));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const run = async (...argv: string[]): Promise<string> => {
    const out: string[] = [];
    const exitCode = await runCli({
      argv: ['get', 'events', 'web', ...argv],
      env: { TAILRACE_URL: `http://127.0.0.1:${port}`, TAILRACE_API_TOKEN: 't' },
      out: (line) => out.push(line),
      err: (line) => out.push(line),
    });
    assert.equal(exitCode, 0, out.join('\n'));
    return out.join('\n');
  };

  assert.match(
    await run(),
    /^2 events\.\nweb: 1,234 more calls, 2 filtered, with names that are not listed/m,
  );
  const { items, other: shown } = JSON.parse(await run('-o', 'json')) as Record<string, unknown[]>;
  assert.deepEqual([items?.length, shown], [2, [{ source: 'web', ...other }]]);
  assert.doesNotMatch(await run('--limit', '1'), /1,234/);
});
