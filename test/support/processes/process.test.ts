import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startProcess } from './process.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tailrace-process-'));
});
after(() => rm(folder, { recursive: true }));

const announce = `console.log(JSON.stringify({ msg: 'ready', greeting: process.env.GREETING }));`;
const idle = `setInterval(() => {}, 1000);`;
const endCleanly = `process.on('SIGTERM', () => process.exit(0));`;

async function program(...lines: string[]): Promise<string> {
  const file = path.join(folder, `${Math.random().toString(36).slice(2)}.mjs`);
  await writeFile(file, lines.join('\n'));
  return file;
}

test('a process is ready when it has logged so, and ends with code 0 on SIGTERM', async () => {
  const main = await program(endCleanly, idle, announce);
  await using started = await startProcess({ name: 'sample', main, env: { GREETING: 'hello' } });
  assert.equal((await started.log.find(({ msg }) => msg === 'ready'))['greeting'], 'hello');
  await started.stop();
  assert.equal(started.pid, undefined);
});

test('a process that is killed can be started again', async () => {
  const main = await program(endCleanly, idle, announce);
  await using started = await startProcess({ name: 'sample', main, env: {} });
  const first = started.pid;
  await started.kill();
  await started.restart();
  assert.notEqual(started.pid, first);
  assert.equal(started.log.items.filter(({ msg }) => msg === 'ready').length, 2);
});

test('a process that ends before it is ready is reported with its output', async () => {
  const main = await program(`console.error('no brokers'); process.exit(3);`);
  await assert.rejects(startProcess({ name: 'sample', main, env: {} }), /with code 3(.|\n)*no brokers/);
});

test('a process that does not end cleanly fails the stop', async () => {
  const main = await program(`process.on('SIGTERM', () => process.exit(7));`, idle, announce);
  const started = await startProcess({ name: 'sample', main, env: {} });
  await assert.rejects(started.stop(), /sample did not stop cleanly/);
});

test('a process does not outlive the test that started it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const main = await program(
    `import { connect } from 'node:net';`,
    `connect(${port}, '127.0.0.1').on('connect', () => { ${announce} });`,
  );
  const starter = await program(
    `import { startProcess } from ${JSON.stringify(path.join(import.meta.dirname, 'process.ts'))};`,
    `await startProcess({ name: 'sample', main: ${JSON.stringify(main)}, env: {} });`,
    `process.kill(process.pid, 'SIGKILL');`,
  );
  const parent = spawn(process.execPath, [starter], { stdio: 'inherit' });
  const [lifeline] = (await once(server, 'connection')) as [Socket];
  // Resumed, because a socket that is not read does not notice its end.
  await once(lifeline.on('error', () => undefined).resume(), 'close');
  assert.equal(parent.signalCode ?? (await once(parent, 'exit'))[1], 'SIGKILL');
  server.close();
});
