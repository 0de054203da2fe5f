/** `tailrace update` and `edit` against a service that keeps one destination. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { runCli } from '../run.ts';

const url = 'https://crm.example.com/hook';
const secret = '********';
const destination = {
  id: 'crm',
  type: 'Webhooks',
  enabled: true,
  sources: ['web'],
  name: 'CRM',
  settings: { sharedSecret: secret, webhooks: [{ url, headers: { 'X-Team': secret } }] },
};

type Entry = Record<string, unknown>;

/** A service with one destination: `puts` are the bodies of accepted changes. An entry without a name is refused. */
async function openService() {
  let entry: Entry = destination;
  let version = 1;
  const puts: Entry[] = [];
  const service = {
    puts,
    /** Called before each PUT. */
    beforePut: (): void => undefined,
    changeElsewhere(more: Entry): void {
      entry = { ...entry, ...more };
      version += 1;
    },
  };
  const server = createServer((request, response) => {
    void (async () => {
      const answer = (status: number, body: unknown): void => {
        response.writeHead(status, { etag: `"${version}"` }).end(JSON.stringify(body));
      };
      if (request.method === 'GET') {
        answer(200, entry);
        return;
      }
      const body = (await json(request)) as Entry;
      service.beforePut();
      if (request.headers['if-match'] !== `"${version}"`) {
        answer(412, { code: 'precondition-failed', message: 'It was changed.' });
        return;
      }
      if (body['name'] === undefined) {
        const problems = [{ field: 'name', rule: 'is missing' }];
        answer(400, { code: 'invalid-configuration', message: 'name: is missing', problems });
        return;
      }
      puts.push(body);
      entry = body;
      version += 1;
      answer(200, entry);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-test-'));
  const { port } = server.address() as AddressInfo;
  const run = async (argv: readonly string[], env: Record<string, string> = {}) => {
    const out: string[] = [];
    const err: string[] = [];
    const exitCode = await runCli({
      argv,
      env: { TAILRACE_URL: `http://127.0.0.1:${port}`, TAILRACE_API_TOKEN: 't', ...env },
      out: (line) => out.push(line),
      err: (line) => err.push(line),
    });
    return { exitCode, out: out.join('\n'), err: err.join('\n') };
  };
  /** An editor that runs one of these scripts at each opening; the last one from then on. `$1` is the file. */
  const editorOf = async (...scripts: readonly string[]): Promise<Record<string, string>> => {
    const count = path.join(folder, `count-${Math.random()}`);
    const cases = scripts.map((script, nth) => `${nth === scripts.length - 1 ? '*' : nth + 1}) ${script} ;;`);
    const program = `#!/bin/sh\necho x >> ${count}\nn=$(wc -l < ${count} | tr -d ' ')\ncase $n in\n${cases.join('\n')}\nesac\n`;
    const file = path.join(folder, `editor-${Math.random()}`);
    await writeFile(file, program);
    await chmod(file, 0o700);
    return { EDITOR: file };
  };
  return {
    service,
    run,
    editorOf,
    folder,
    async [Symbol.asyncDispose]() {
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

test('update changes the named fields, keeps the others, and is repeated where another change came first', async () => {
  await using opened = await openService();
  const { service, run } = opened;
  let changes = 0;
  service.beforePut = () => {
    if ((changes += 1) === 1) service.changeElsewhere({ sources: ['app'] });
  };
  const { exitCode, out } = await run([
    'update',
    'destination',
    'crm',
    '--name',
    'New',
    '--rate-limit',
    '50',
    '--header',
    'X-Team: sales',
    '--set',
    'settings.traceparent=true',
    '--unset',
    'enabled',
  ]);
  assert.deepEqual([exitCode, out], [0, 'The destination crm is updated.']);
  assert.deepEqual(service.puts, [
    {
      id: 'crm',
      type: 'Webhooks',
      sources: ['app'],
      name: 'New',
      rateLimit: 50,
      settings: {
        sharedSecret: secret,
        webhooks: [{ url, headers: { 'X-Team': 'sales' } }],
        traceparent: true,
      },
    },
  ]);
  const none = await run(['update', 'destination', 'crm']);
  assert.deepEqual([none.exitCode, none.err.includes('no field to change')], [2, true]);
});

test('update changes the limits of a source, and adds the address of senders to its events', async () => {
  await using opened = await openService();
  const { exitCode } = await opened.run([
    'update',
    'source',
    'web',
    '--rate-limit',
    '500',
    '--rate-limit-bytes',
    '1000000',
    '--add-ip',
  ]);
  assert.equal(exitCode, 0);
  assert.partialDeepStrictEqual(opened.service.puts, [
    { rateLimit: 500, rateLimitBytes: 1_000_000, addIp: true },
  ]);
});

test('update replaces URLs, and one that stays keeps its headers', async () => {
  await using opened = await openService();
  const other = 'https://other.example.com/';
  assert.equal(
    (await opened.run(['update', 'destination', 'crm', '--url', url, '--url', other])).exitCode,
    0,
  );
  assert.deepEqual(opened.service.puts[0]?.['settings'], {
    sharedSecret: secret,
    webhooks: [{ url, headers: { 'X-Team': secret } }, { url: other }],
  });
});

test('edit writes what the editor saved', async () => {
  await using opened = await openService();
  const editor = await opened.editorOf(`sed -i 's/^name: .*/name: Edited/' "$1"`);
  const { exitCode, out } = await opened.run(['edit', 'destination', 'crm'], editor);
  assert.deepEqual([exitCode, out], [0, 'The destination crm is updated.']);
  assert.deepEqual(opened.service.puts, [{ ...destination, name: 'Edited' }]);
});

test('edit changes nothing where the file is unchanged or empty, or no editor is set', async () => {
  await using opened = await openService();
  for (const script of ['true', `: > "$1"`]) {
    const { exitCode, out } = await opened.run(['edit', 'destination', 'crm'], await opened.editorOf(script));
    assert.deepEqual([exitCode, out], [0, 'Nothing was changed.']);
  }
  const without = await opened.run(['edit', 'destination', 'crm']);
  assert.deepEqual([without.exitCode, without.err.includes('no editor: set EDITOR')], [2, true]);
  const failing = await opened.run(['edit', 'destination', 'crm'], { EDITOR: 'false' });
  assert.deepEqual([failing.exitCode, failing.err.includes('the editor "false" failed')], [2, true]);
  assert.deepEqual(opened.service.puts, []);
});

test('edit opens an invalid file again with the problems, until it is valid or given up', async () => {
  await using opened = await openService();
  const seen = path.join(opened.folder, 'seen');
  const editor = await opened.editorOf(
    `printf 'id: [\\n' > "$1"`,
    `cp "$1" ${seen}-1; printf 'id: crm\\n' > "$1"`,
    `cp "$1" ${seen}-2; printf 'id: crm\\nname: Valid\\n' > "$1"`,
  );
  const { exitCode } = await opened.run(['edit', 'destination', 'crm'], editor);
  assert.equal(exitCode, 0);
  assert.deepEqual(opened.service.puts, [{ id: 'crm', name: 'Valid' }]);
  const { readFile } = await import('node:fs/promises');
  const [first, second] = await Promise.all([1, 2].map((nth) => readFile(`${seen}-${nth}`, 'utf8')));
  assert.match(first ?? '', /^# The file was not accepted[^]*\nid: \[/);
  assert.match(second ?? '', /^# The file was not accepted[^]*# name: is missing[^]*\nid: crm\n$/);

  const givenUp = await opened.run(
    ['edit', 'destination', 'crm'],
    await opened.editorOf(`printf 'id: crm\\n' > "$1"`, 'true'),
  );
  assert.deepEqual(
    [givenUp.exitCode, givenUp.out],
    [1, 'Nothing was changed: the last version was not valid.'],
  );
});

test('edit shows the present version where the entry was changed meanwhile', async () => {
  await using opened = await openService();
  const { service } = opened;
  let changes = 0;
  service.beforePut = () => {
    if ((changes += 1) === 1) service.changeElsewhere({ sources: ['app'] });
  };
  const seen = path.join(opened.folder, 'seen');
  const editor = await opened.editorOf(
    `sed -i 's/^name: .*/name: First/' "$1"`,
    `cp "$1" ${seen}; sed -i 's/^name: .*/name: Second/' "$1"`,
  );
  const { exitCode } = await opened.run(['edit', 'destination', 'crm'], editor);
  assert.equal(exitCode, 0);
  assert.deepEqual(service.puts, [{ ...destination, sources: ['app'], name: 'Second' }]);
  const { readFile } = await import('node:fs/promises');
  assert.match(
    await readFile(seen, 'utf8'),
    /^# The destination was changed[^]*# name: First[^]*\n {2}- app\n/,
  );
});
