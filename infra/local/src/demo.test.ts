import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { sign } from '@tailrace/signing';
import { demoConfig, demoConfigFile, demoPort, demoSecret, demoWriteKey } from './demo.ts';

test('the demo and its configuration file agree', async () => {
  const text = await readFile(demoConfigFile, 'utf8');
  assert.ok(text.includes(`writeKeys: [${demoWriteKey}]`));
  assert.ok(text.includes(`sharedSecret: ${demoSecret}`));
  assert.ok(text.includes(`url: http://127.0.0.1:${demoPort}/`));
  assert.ok((await demoConfig(20_003)).includes('url: http://127.0.0.1:20003/'));
});

test('the demo receiver prints each webhook and whether its signature is valid', async () => {
  const receiver = spawn(process.execPath, [join(import.meta.dirname, 'demo-receiver.ts')], {
    env: { ...process.env, TAILRACE_DEMO_PORT: '0', NO_COLOR: '1', FORCE_COLOR: undefined },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const lines = createInterface({ input: receiver.stdout ?? process.stdin })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => String((await lines.next()).value);
  const { msg, port } = JSON.parse(await nextLine()) as { msg: string; port: number };
  assert.equal(msg, 'ready');

  const body = JSON.stringify({ version: 1, type: 'track', userId: 'u1', event: 'Größe gewählt' });
  const post = async (signature: string): Promise<number> => {
    const headers = { 'content-type': 'application/json', 'x-signature': signature };
    return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
  };
  assert.equal(await post(sign(demoSecret, body)), 200);
  assert.equal(await nextLine(), 'track "Größe gewählt" by u1 · signature verified');
  assert.equal(await nextLine(), body);
  assert.equal(await post(sign('another secret', body)), 401);
  assert.equal(await nextLine(), 'track "Größe gewählt" by u1 · SIGNATURE WRONG');

  const exit = once(receiver, 'exit');
  receiver.disconnect();
  assert.deepEqual(await exit, [0, null]);
});
