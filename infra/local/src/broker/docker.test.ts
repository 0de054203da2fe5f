import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { limitMs } from '@tailrace/testing';
import { dockerAnswers } from './docker.ts';

async function onSocket(
  server: Server,
  check: (env: Record<string, string>) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'tailrace-docker-'));
  const path = join(dir, 'docker.sock');
  server.listen(path);
  await once(server, 'listening');
  await check({ DOCKER_HOST: `unix://${path}` });
  server.close();
  await rm(dir, { recursive: true, force: true });
}

test('an engine that answers is found', async () => {
  const engine = createServer((socket) =>
    socket.on('error', () => undefined).end('HTTP/1.0 200 OK\r\n\r\nOK'),
  );
  await onSocket(engine, async (env) => {
    assert.equal(await dockerAnswers(env, limitMs), true);
  });
});

test('an engine that accepts connections without responding does not delay the start', async () => {
  const engine = createServer((socket) => socket.on('error', () => undefined));
  await onSocket(engine, async (env) => {
    assert.equal(await dockerAnswers(env, 50), false);
  });
});

test('an invalid or unreachable DOCKER_HOST means that there is no engine', async () => {
  assert.equal(await dockerAnswers({ DOCKER_HOST: 'unix:///nowhere/docker.sock' }), false);
  assert.equal(await dockerAnswers({ DOCKER_HOST: 'not a URL' }), false);
});
