import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBroker } from './broker.ts';

test('the brokers in KAFKA_BROKERS are used', async () => {
  await using broker = await startBroker({ env: { KAFKA_BROKERS: ' one:9092, two:9092,' } });
  assert.equal(broker.kind, 'given');
  assert.deepEqual(broker.brokers, ['one:9092', 'two:9092']);
});

test('without any usable Kafka, the error names what to install', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'tailrace-none-'));
  const env = { PATH: '', XDG_CACHE_HOME: dir, DOCKER_HOST: 'unix:///nowhere/docker.sock' };
  const dataDir = join(dir, 'data');
  await assert.rejects(startBroker({ env, dataDir }), {
    code: 'local-start-failed',
    message:
      'No Kafka is available. Set KAFKA_BROKERS, start a Docker engine, or install Java 17 or later and Maven.',
  });
  assert.deepEqual(await readdir(dataDir), []);
  await rm(dir, { recursive: true, force: true });
});
