import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openSockets } from '../../sockets.ts';
import { original, patched } from '../testing/original.ts';
import { startServer } from '../testing/server.ts';
import { silent } from '../testing/silent.ts';

type ConnectionClass = new (options: object) => {
  connect(): Promise<unknown>;
  send(request: object): Promise<unknown>;
  disconnect(): Promise<unknown>;
};

/** What is known of a request whose connection the broker closes: by the library's events, and by the observer. */
async function sendInVain(t: TestContext, load: typeof original) {
  const address = await startServer(t, (socket) => socket.destroy());
  const observed: string[] = [];
  const emitted: string[] = [];
  const sockets = openSockets((api, outcome) => observed.push(`${api} ${outcome}`));
  const Connection = load('network/connection') as ConnectionClass;
  const Encoder = load('protocol/encoder') as new () => object;
  const connection = new Connection({
    ...address,
    logger: silent,
    requestTimeout: 5_000,
    connectionTimeout: 5_000,
    socketFactory: sockets.factory,
    instrumentationEmitter: { emit: (event: string) => emitted.push(event) },
  });
  await connection.connect();
  const encode = () => Promise.resolve(new Encoder());
  const request = { apiKey: 3, apiName: 'Metadata', apiVersion: 6, encode };
  await assert.rejects(connection.send({ request, response: {} }));
  await connection.disconnect();
  sockets.release();
  return { observed, requests: emitted.filter((event) => event === 'network.request') };
}

test('a request whose connection fails is reported', async (t) => {
  const { observed } = await sendInVain(t, patched);
  assert.deepEqual(observed, ['Connect ok', 'Metadata disconnected']);
});

test('the original has no event for a request whose connection fails', async (t) => {
  const { observed, requests } = await sendInVain(t, original);
  assert.deepEqual(requests, []);
  assert.deepEqual(observed, []);
});
