/**
 * The package as users install it: packed, installed from the tarball, imported, required, and compiled with
 * TypeScript.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { status } from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');
const source = path.join(root, 'packages/analytics-node');
const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
const opened = new AsyncDisposableStack();
/** The project of a user. */
let project: string;
let tarball: string;

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
      .filter((file) => !/^dist\/(esm|cjs)\/([\w-]+\/)?[\w-]+\.(js|d\.ts)$/.test(file))
      .sort(),
    [
      'CHANGELOG.md',
      'MIGRATION.md',
      'README.md',
      'dist/cjs/package.json',
      'dist/esm/package.json',
      ...['command', 'receiver', 'server', 'serverless', 'worker'].map((name) => `examples/${name}.ts`),
      'fetch/package.json',
      'package.json',
    ],
  );
  tarball = path.join(project, packed.filename);
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
const typedFetch = `
interface Events { 'Order Completed': { total: number }; 'Signed Up': { plan?: string } }
export const client = new Analytics<Events>({ writeKey: 'wk', endpoint: 'https://localhost', timeoutMs: 1, middleware: [(call) => ({ ...call })] });
client.track({ userId: 'ada', event: 'Order Completed', properties: { total: 1 } });
client.track({ anonymousId: 'a', event: 'Signed Up' });
// @ts-expect-error the name is not declared
client.track({ userId: 'ada', event: 'Order Complete', properties: { total: 1 } });
// @ts-expect-error its properties are required
client.track({ userId: 'ada', event: 'Order Completed' });
// @ts-expect-error and have types
client.track({ userId: 'ada', event: 'Order Completed', properties: { total: '1' } });
// @ts-expect-error only Node has a file queue
new Analytics({ writeKey: 'wk', endpoint: 'https://localhost', queue: undefined as unknown });
`;
const resolutions = [
  { module: 'node16', files: ['user.mts', 'user.cts'] },
  { module: 'esnext', moduleResolution: 'bundler', files: ['user.ts'] },
  { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0', files: ['user.ts'] },
];

for (const { files, ...resolution } of resolutions) {
  const { module, moduleResolution = module } = resolution;
  test(`its declarations compile in strict mode with ${moduleResolution} resolution`, async () => {
    const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true };
    const compilerOptions = { ...strict, ...resolution, target: 'es2022', lib: ['es2022'], types: [] };
    await writeFile(
      path.join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: [...files, ...files.map((file) => `fetch-${file}`)] }),
    );
    for (const file of files) {
      await writeFile(
        path.join(project, file),
        `import { Analytics, verifySignature } from '@tailrace/analytics-node';${typed}`,
      );
      const ending = path.extname(file);
      const fetchFile = `fetch-${path.basename(file, ending)}${ending}`;
      await writeFile(
        path.join(project, fetchFile),
        `import { Analytics } from '@tailrace/analytics-node/fetch';${typedFetch}`,
      );
    }
    const failed = await run(process.execPath, [tsc, '-p', project]).then(
      () => '',
      (error: unknown) => (error as { stdout: string }).stdout,
    );
    assert.equal(failed, '');
  });
}

test('its types resolve as its code does, for node10, node16 and bundlers', async () => {
  const { checkPackage, createPackageFromTarballData } = await import('@arethetypeswrong/core');
  const result = await checkPackage(createPackageFromTarballData(await readFile(tarball)));
  assert.ok(result.types !== false);
  assert.deepEqual(Object.keys(result.entrypoints).sort(), ['.', './fetch', './package.json']);
  assert.deepEqual(result.problems, []);
});

test('npm would publish it with its origin, publicly', async () => {
  const dryRun = ['publish', '--dry-run', '--json', '--provenance=false', '--ignore-scripts'];
  // Its version is looked up in a registry, which this one stands for.
  await using registry = await startReceiver({ answer: () => status(404, {}, '{}') });
  const { stdout } = await run('npm', [...dryRun, `--registry=${registry.url}`, tarball], { cwd: project });
  interface Published {
    readonly name: string;
    readonly files: readonly { readonly path: string }[];
  }
  const published = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Published | Record<string, Published>;
  // Some versions of npm list packages by name.
  const { name, files } =
    'name' in published ? (published as Published) : (Object.values(published)[0] ?? assert.fail());
  assert.equal(name, '@tailrace/analytics-node');
  assert.ok(files.some(({ path }) => path === 'dist/esm/fetch.js'));
  assert.ok(!files.some(({ path }) => /test|\bsrc\//.test(path)));
  const manifest = JSON.parse(await readFile(path.join(source, 'package.json'), 'utf8')) as {
    readonly repository: { readonly directory: string };
    readonly publishConfig: unknown;
  };
  assert.equal(manifest.repository.directory, 'packages/analytics-node');
  assert.deepEqual(manifest.publishConfig, { access: 'public', provenance: true });
});

/** The program bundled and minified, as for a browser. */
async function bundle(program: string, platform: 'browser' | 'node' = 'browser'): Promise<string> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: project },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform,
    target: 'es2022',
  });
  return outputFiles[0]?.text ?? assert.fail();
}

test('in a browser it has at most 9 KB, compressed, and nothing of Node', async (t) => {
  const code = await bundle(
    `import { Analytics } from '@tailrace/analytics-node'; globalThis.analytics = new Analytics({ writeKey, endpoint });`,
  );
  const compressed = gzipSync(code, { level: 9 }).length;
  t.diagnostic(`${code.length} bytes, ${compressed} compressed`);
  assert.ok(compressed <= 9 * 1024, `${compressed} bytes`);
  assert.doesNotMatch(code, /node:|\brequire\(/);
});

test('parts that are not used are left out of a bundle', async () => {
  const name = '@tailrace/analytics-node';
  assert.equal(await bundle(`import '${name}';`), '');
  const errors = await bundle(`import { AnalyticsError } from '${name}/fetch'; console.log(AnalyticsError);`);
  assert.doesNotMatch(errors, /v1\/batch/);
  const server = await bundle(`import { Analytics } from '${name}'; console.log(Analytics);`, 'node');
  assert.doesNotMatch(server, /node:fs/, 'the file queue');
  assert.doesNotMatch(server, /createHmac/, 'the verification of signatures');
});

test('the examples compile, and the command imports calls', async () => {
  await using receiver = await startReceiver();
  const examples = path.join(project, 'node_modules/@tailrace/analytics-node/examples');
  const folder = path.join(project, 'examples');
  await cp(examples, folder, { recursive: true });
  await symlink(path.join(root, 'node_modules/@types'), path.join(project, 'node_modules/@types'));
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2023',
    types: ['node'],
    skipLibCheck: true,
  };
  const files = ['server', 'command', 'serverless', 'worker'].map((name) => `${name}.ts`);
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const failed = await run(process.execPath, [tsc, '-p', folder]).then(
    () => '',
    (error: unknown) => (error as { stdout: string }).stdout,
  );
  assert.equal(failed, '');

  const env = { ...process.env, TAILRACE_ENDPOINT: receiver.url };
  const command = run(process.execPath, ['command.ts'], { cwd: folder, env });
  command.child.stdin?.end('{"userId":"ada","event":"a"}\n{"userId":"ada"}\n{"userId":"ada","event":"b"}\n');
  const outcome = await command.catch((error: unknown) => error as { code: number; stdout: string });
  assert.equal('code' in outcome && outcome.code, 1);
  assert.match(outcome.stdout, /2 calls sent, 0 unsent, 1 invalid/);

  const lambda = `import { handler } from './serverless.ts'; console.log(JSON.stringify(await handler({ userId: 'ada', orderId: '7' })));`;
  const called = await run(process.execPath, ['--input-type=module', '-e', lambda], { cwd: folder, env });
  assert.equal(called.stdout, '{"statusCode":204}\n');
  const worker = `import worker from './worker.ts';
    const lifetime = { waitUntil: (promise) => promise.then((result) => console.log(JSON.stringify(result))) };
    const env = { TAILRACE_ENDPOINT: process.env.TAILRACE_ENDPOINT, WRITE_KEY: 'wk' };
    worker.fetch(new Request('https://shop.example.com/docs'), env, lifetime);`;
  const worked = await run(process.execPath, ['--input-type=module', '-e', worker], { cwd: folder, env });
  assert.equal(worked.stdout, '{"unsent":0,"kept":0}\n');

  const server = spawn(process.execPath, ['server.ts'], {
    cwd: folder,
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(server.stdout), 'line')) as [string];
  const port = /port: (\d+)/.exec(line)?.[1] ?? assert.fail(line);
  await (await fetch(`http://127.0.0.1:${port}/cart`)).text();
  server.kill('SIGTERM');
  assert.deepEqual(await once(server, 'exit'), [0, null]);
  const events = receiver.requests.flatMap(({ body, headers }) => {
    const json = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    return (JSON.parse(json.toString()) as { batch: { event?: string; name?: string }[] }).batch;
  });
  assert.deepEqual(
    events.map(({ event, name }) => event ?? name),
    ['a', 'b', 'Order Completed', '/docs', 'Request Served'],
  );
});

test('the example receiver accepts only requests signed with its secret', async () => {
  await cp(path.join(project, 'node_modules/@tailrace/analytics-node/examples'), project, {
    recursive: true,
  });
  await symlink(path.join(root, 'node_modules/fastify'), path.join(project, 'node_modules/fastify'));
  const env = { ...process.env, WEBHOOK_SECRET: 's3cret', PORT: '0' };
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
  const listening = String((await lines.next()).value);
  const url = /^listening at (http:\S+)$/.exec(listening)?.[1] ?? assert.fail(listening);

  const body = '{"version":1,"type":"track","userId":"ada","event":"Zoë"}';
  const signature = createHmac('sha1', 's3cret').update(body).digest('hex');
  const post = async (headers: Record<string, string>): Promise<number> => {
    return (
      await fetch(`${url}/webhooks`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      })
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
