/**
 * The package as users install it: packed, installed from the tarball, imported, required, and compiled with
 * TypeScript.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '@tailrace/local';
import { startReceiver } from '../support/receivers/receiver.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');
const source = path.join(root, 'packages/analytics-node');
const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
const opened = new AsyncDisposableStack();
/** The project of a user. */
let project: string;

before(async () => {
  project = await mkdtemp(path.join(tmpdir(), 'tailrace-analytics-node-'));
  opened.defer(() => rm(project, { recursive: true }));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], { cwd: source });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { filename: string; files: { path: string }[] },
  ];
  assert.deepEqual(
    packed.files
      .map(({ path }) => path)
      .filter((file) => !/^dist\/(esm|cjs)\/[\w-]+\.(js|d\.ts)$/.test(file))
      .sort(),
    ['README.md', 'dist/cjs/package.json', 'dist/esm/package.json', 'examples/receiver.ts', 'package.json'],
  );
  await writeFile(path.join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const quiet = ['--offline', '--no-audit', '--no-fund', '--no-package-lock'];
  await run('npm', ['install', ...quiet, `./${packed.filename}`], { cwd: project });
});
after(() => opened.disposeAsync());

/** This Node, and the system's Node where it is another supported version. */
async function nodes(): Promise<string[]> {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const found = folders
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => path.join(folder, 'node'))
    .find((file) => existsSync(file));
  if (found === undefined) return [process.execPath];
  const { stdout } = await run(found, ['--version']);
  const isAnother = stdout.trim() !== process.version && Number.parseInt(stdout.slice(1)) >= 20;
  return isAnother ? [process.execPath, found] : [process.execPath];
}

const use = `
const [writeKey, endpoint] = process.argv.slice(2);
const analytics = new Analytics({ writeKey, endpoint, onError: (error) => { throw error; } });
analytics.track({ userId: 'ada', event: process.version });
if (!verifySignature('s3cret', '{}', ${JSON.stringify(createHmac('sha1', 's3cret').update('{}').digest('hex'))})) throw new Error();
try { analytics.track({ userId: 'ada' }); } catch (error) { if (!(error instanceof AnalyticsError)) throw error; }
analytics.close();
`;
const names = '{ Analytics, AnalyticsError, verifySignature }';
const programs = {
  'esm.mjs': `import ${names} from '@tailrace/analytics-node';${use}`,
  'cjs.cjs': `const ${names} = require('@tailrace/analytics-node');${use}`,
};

for (const [file, program] of Object.entries(programs)) {
  test(`it sends from ${file}, on each available Node`, async (t) => {
    await using receiver = await startReceiver();
    await writeFile(path.join(project, file), program);
    for (const node of await nodes()) {
      const { stderr } = await run(node, [file, 'wk_test', receiver.url], { cwd: project });
      assert.equal(stderr, '');
      const { stdout: version } = await run(node, ['--version']);
      t.diagnostic(`Node ${version.trim()}`);
      const { batch } = receiver.requests.at(-1)?.json() as { batch: { event: string }[] };
      assert.deepEqual(
        batch.map(({ event }) => event),
        [version.trim()],
      );
    }
  });
}

const typed = `
const client = new Analytics({ writeKey: 'wk', endpoint: 'http://localhost:8080', onError: ({ code, calls }) => [code, calls] });
interface Cart { total: number }
const cart: Cart = { total: 1 };
const queued: boolean = client.track({ userId: 'ada', event: 'E', properties: cart, integrations: { All: false } });
client.page({ anonymousId: 'a', name: undefined, timestamp: new Date() });
client.alias({ userId: 'ada', previousId: 'a' });
// @ts-expect-error an event is required
client.track({ userId: 'ada' });
// @ts-expect-error one of the ids is required
client.identify({ traits: {} });
// @ts-expect-error so is an endpoint, or Kafka
new Analytics({ writeKey: 'wk' });
new Analytics({ writeKey: 'wk', kafka: { producer: { send: async () => undefined } } });
const closed: Promise<{ readonly unsent: number }> = client.close({ deadlineMs: 1 });
export const all: [boolean, unknown, boolean] = [queued, closed, verifySignature('s', new Uint8Array(), undefined)];
`;
const resolutions = [
  { module: 'node16', files: ['user.mts', 'user.cts'] },
  { module: 'esnext', moduleResolution: 'bundler', files: ['user.ts'] },
];

for (const { files, ...resolution } of resolutions) {
  const { module, moduleResolution = module } = resolution;
  test(`its declarations compile in strict mode with ${moduleResolution} resolution`, async () => {
    const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true };
    const compilerOptions = { ...strict, ...resolution, target: 'es2022', lib: ['es2022'], types: [] };
    await writeFile(path.join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    for (const file of files) {
      await writeFile(
        path.join(project, file),
        `import { Analytics, verifySignature } from '@tailrace/analytics-node';${typed}`,
      );
    }
    const failed = await run(process.execPath, [tsc, '-p', project]).then(
      () => '',
      (error: unknown) => (error as { stdout: string }).stdout,
    );
    assert.equal(failed, '');
  });
}

test('the example receiver accepts only requests signed with its secret', async () => {
  await cp(path.join(project, 'node_modules/@tailrace/analytics-node/examples'), project, {
    recursive: true,
  });
  await symlink(path.join(root, 'node_modules/fastify'), path.join(project, 'node_modules/fastify'));
  const port = await freePort();
  const env = { ...process.env, WEBHOOK_SECRET: 's3cret', PORT: String(port) };
  const server = spawn(process.execPath, ['receiver.ts'], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  opened.defer(async () => {
    server.kill();
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  });
  const lines = createInterface(server.stdout)[Symbol.asyncIterator]();
  assert.match(String((await lines.next()).value), /^listening/);

  const body = '{"version":1,"type":"track","userId":"ada","event":"Zoë"}';
  const signature = createHmac('sha1', 's3cret').update(body).digest('hex');
  const post = async (headers: Record<string, string>): Promise<number> => {
    const url = `http://127.0.0.1:${port}/webhooks`;
    return (
      await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
    ).status;
  };
  assert.equal(await post({ 'x-signature': signature }), 204);
  assert.equal((await lines.next()).value, 'received track by ada');
  assert.equal(
    await post({ 'x-signature': signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) }),
    401,
  );
  assert.equal(await post({}), 401);
});
