import assert from 'node:assert/strict';
import { test } from 'node:test';
import { original, patched } from '../testing/original.ts';
import { silent } from '../testing/silent.ts';
import type { BrokerPool } from './hung-broker.ts';

type PoolClass = new (options: object) => BrokerPool;

/** With which a request fails that has no answer. */
const failures = ['KafkaJSRequestTimeoutError', 'KafkaJSConnectionClosedError'] as const;

type Errors = Record<(typeof failures)[number], new (message: string, of: object) => Error>;

/** A client of two brokers: `first` is connected to, and fails every request, until `isOpen`. */
function poolOf(load: typeof original, failure: (typeof failures)[number] = 'KafkaJSRequestTimeoutError') {
  const failed = new (load('errors') as Errors)[failure]('ApiVersions has no answer', {});
  const state = { isOpen: false };
  const connections = (name: string) => ({
    name,
    isConnected: () => name === 'second' || state.isOpen,
    getConnection: () => Promise.resolve({ getSupportAuthenticationProtocol: () => true }),
    send: () => Promise.reject(failed),
    destroy: () => Promise.resolve(),
  });
  const names = ['first', 'second', 'first', 'second'];
  const Pool = load('cluster/brokerPool') as PoolClass;
  const pool = new Pool({
    connectionPoolBuilder: { build: () => Promise.resolve(connections(names.shift() ?? '')) },
    logger: silent,
    retry: { retries: 1, initialRetryTime: 1 },
    authenticationTimeout: 1_000,
  });
  const asked = () =>
    (pool.seedBroker as { connectionPool: { name: string } } | undefined)?.connectionPool.name;
  return { pool, state, asked };
}

for (const failure of failures) {
  test(`a client turns to the next broker where one accepts the connection: ${failure}`, async () => {
    const { pool, asked } = poolOf(patched, failure);
    await pool.connect();
    assert.equal(asked(), 'second');
  });

  test(`the original asks the same one until it gives up: ${failure}`, async () => {
    const { pool, asked } = poolOf(original, failure);
    await assert.rejects(pool.connect(), { name: 'KafkaJSNumberOfRetriesExceeded' });
    assert.equal(asked(), 'first');
  });
}

for (const [load, expected] of [
  [patched, 'second'],
  [original, 'first'],
] as const) {
  test(`a client that connects again begins with the ${expected} broker${load === original ? ' in the original' : ''}`, async () => {
    const { pool, state, asked } = poolOf(load);
    state.isOpen = true;
    await pool.connect();
    assert.equal(asked(), 'first');
    await pool.disconnect();
    await pool.connect();
    state.isOpen = false;
    assert.equal(asked(), expected);
  });
}

/** What comes of asking two brokers, of which the first that is chosen cannot be connected to. */
async function askBoth(load: typeof original): Promise<unknown> {
  const { pool } = poolOf(load);
  const chosen: string[] = [];
  Object.assign(pool, {
    brokers: { 1: {}, 2: {} },
    findBroker: ({ nodeId }: { nodeId: string }) => {
      chosen.push(nodeId);
      return chosen.length === 1 ? Promise.reject(new Error('refused')) : Promise.resolve({});
    },
  });
  return pool.withBroker(({ nodeId }) => Promise.resolve(chosen.length === 2 && nodeId === chosen[1]));
}

test('where any broker can answer, the next is asked when one cannot be connected to', async () => {
  assert.equal(await askBoth(patched), true);
  await assert.rejects(askBoth(original), /refused/);
});

test('where none can be connected to, the error says why', async () => {
  const { pool } = poolOf(patched);
  const findBroker = () => Promise.reject(new Error('refused'));
  Object.assign(pool, { brokers: { 1: {}, 2: {} }, findBroker });
  await assert.rejects(
    pool.withBroker(() => Promise.resolve()),
    /refused/,
  );
});
