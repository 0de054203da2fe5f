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

async function program(...lines: string[]): Promise<[string, string]> {
  const file = path.join(folder, `${Math.random().toString(36).slice(2)}.mjs`);
  await writeFile(file, lines.join('\n'));
  return [process.execPath, file];
}

test('a process is ready when it has logged so, and ends with code 0 on SIGTERM', async () => {
  const command = await program(endCleanly, idle, announce);
  await using started = await startProcess({ name: 'sample', command, env: { GREETING: 'hello' } });
  assert.equal((await started.log.find(({ msg }) => msg === 'ready'))['greeting'], 'hello');
  await started.stop();
  assert.equal(started.pid, undefined);
});

test('a process that is killed can be started again', async () => {
  const command = await program(endCleanly, idle, announce);
  await using started = await startProcess({ name: 'sample', command, env: {} });
  const first = started.pid;
  await started.kill();
  await started.restart();
  assert.notEqual(started.pid, first);
  assert.equal(started.log.items.filter(({ msg }) => msg === 'ready').length, 2);
});

test('a process that ends before it is ready is reported with its output', async () => {
  const command = await program(`console.error('no brokers'); process.exit(3);`);
  await assert.rejects(startProcess({ name: 'sample', command, env: {} }), /with code 3(.|\n)*no brokers/);
});

test('a process that does not end cleanly fails the stop', async () => {
  const command = await program(`process.on('SIGTERM', () => process.exit(7));`, idle, announce);
  const started = await startProcess({ name: 'sample', command, env: {} });
  await assert.rejects(started.stop(), /sample did not stop cleanly/);
});

/** As npm, it passes on no channel. */
const between = `import { spawn } from 'node:child_process';
  const [program, ...args] = process.argv.slice(2);
  spawn(program, args, { stdio: 'inherit' });`;

for (const [title, lines] of [
  ['a process does', []],
  ['a process that another program has started does', [between]],
] as const)
  test(`${title} not outlive the test that started it`, async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const command = await program(
      `import { connect } from 'node:net';`,
      `connect(${port}, '127.0.0.1').on('connect', () => { ${announce} });`,
    );
    const starters = lines.length > 0 ? await program(...lines) : [];
    const [node, starter] = await program(
      `import { startProcess } from ${JSON.stringify(path.join(import.meta.dirname, 'process.ts'))};`,
      `await startProcess({ name: 'sample', command: ${JSON.stringify([...starters, ...command])}, env: {} });`,
      `process.kill(process.pid, 'SIGKILL');`,
    );
    const parent = spawn(node, [starter], { stdio: 'inherit' });
    const [lifeline] = (await once(server, 'connection')) as [Socket];
    // Resumed, because a socket that is not read does not notice its end.
    await once(lifeline.on('error', () => undefined).resume(), 'close');
    assert.equal(parent.signalCode ?? (await once(parent, 'exit'))[1], 'SIGKILL');
    server.close();
  });
