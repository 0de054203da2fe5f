import assert from 'node:assert/strict';
import { test } from 'node:test';
import { original, patched } from '../testing/original.ts';
import { silent } from '../testing/silent.ts';
import type { BrokerPool } from './hung-broker.ts';

type PoolClass = new (options: object) => BrokerPool & {
  seedBroker: { nodeId: string } | undefined;
  readonly brokers: Record<string, object | undefined>;
  removeBroker(address: object): void;
};

const address = { host: 'broker', port: 9092 };

/** A client of one broker, whose connections count how often they were closed. */
async function start(load: typeof original) {
  const opening = Promise.withResolvers<object>();
  let closed = 0;
  const connections = {
    ...address,
    isConnected: () => false,
    setVersions: () => undefined,
    getConnection: () => opening.promise,
    destroy: () => Promise.resolve((closed += 1)),
  };
  const Pool = load('cluster/brokerPool') as PoolClass;
  const pool = new Pool({
    connectionPoolBuilder: { build: () => Promise.resolve(connections) },
    logger: silent,
    retry: { retries: 0 },
    authenticationTimeout: 1_000,
  });
  await pool.createSeedBroker();
  // As when its metadata were read.
  assert.ok(pool.seedBroker);
  Object.assign(pool.seedBroker, { nodeId: '1', versions: {} });
  pool.brokers['1'] = pool.seedBroker;
  const open = (): void => {
    opening.resolve({ getSupportAuthenticationProtocol: () => true, authenticate: () => Promise.resolve() });
  };
  return { pool, open, closed: () => closed };
}

test('a client that connects to a broker while a request to it fails is connected', async () => {
  const { pool, open } = await start(patched);
  const connecting = pool.connect();
  pool.removeBroker(address);
  open();
  await connecting;
});

test('the original fails with a type error', async () => {
  const { pool, open } = await start(original);
  const connecting = pool.connect();
  pool.removeBroker(address);
  open();
  await assert.rejects(connecting, { name: 'TypeError' });
});

for (const [load, times] of [
  [patched, 1],
  [original, 0],
] as const) {
  const title = load === patched ? 'a client closes' : 'the original keeps';
  test(`${title} the connections to a broker to which a request has failed`, async () => {
    const { pool, closed } = await start(load);
    pool.seedBroker = { nodeId: '2', disconnect: () => Promise.resolve() } as never;
    pool.removeBroker(address);
    await pool.disconnect();
    assert.equal(closed(), times);
  });
}
