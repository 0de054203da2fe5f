import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../metrics/metrics.ts';
import { aloneWithout } from './peers.ts';
import { startProbeServer } from './server.ts';

const kafka = (ok: boolean) => [{ name: 'kafka', ok }];

async function startPeer() {
  const peer = { checks: kafka(true) };
  const server = await startProbeServer({
    host: '127.0.0.1',
    port: 0,
    metrics: createMetrics({ processMetrics: false }),
    readiness: () => ({ ready: true, ...peer }),
  });
  return { peer, port: server.port, [Symbol.asyncDispose]: () => server.close() };
}

test('a replica is alone once its check has failed three times and passes in another, until it does in none', async () => {
  await using started = await startPeer();
  const { peer, port } = started;
  const own = { checks: kafka(false) };
  const check = aloneWithout('kafka', own, { host: '127.0.0.1', port });
  await check();
  await check();
  await assert.rejects(check, { message: 'the check kafka fails in this replica and passes in another one' });
  peer.checks = kafka(false);
  await check();
  peer.checks = kafka(true);
  await assert.rejects(check);
  own.checks = kafka(true);
  await check();
  own.checks = kafka(false);
  // It counts again.
  await check();
});

test('a replica is not alone where no other answers', async () => {
  const port = await (async () => {
    await using started = await startPeer();
    return started.port;
  })();
  for (const host of ['127.0.0.1', 'no-such-name.invalid']) {
    const check = aloneWithout('kafka', { checks: kafka(false) }, { host, port });
    for (let times = 0; times < 4; times += 1) await check();
  }
});
