import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freePort, isFree } from './ports.ts';

test('the preferred port is used where it is free, and another one otherwise', async () => {
  const port = await freePort();
  assert.equal(await freePort(port), port);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  assert.equal(await isFree(port), false);
  const other = await freePort(port);
  assert.notEqual(other, port);
  server.close();
});

test('a port that was chosen is chosen by no other process before something listens on it', async () => {
  const port = await freePort();
  const other = createSocket('udp4');
  await assert.rejects(
    new Promise((resolve, reject) => {
      other.once('error', reject).bind(port, '127.0.0.1', () => {
        resolve(undefined);
      });
    }),
    { code: 'EADDRINUSE' },
  );
  other.close();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
});

test('ports are below the range for outgoing connections', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()));
  assert.ok(Math.max(...ports) < 32_768);
});
