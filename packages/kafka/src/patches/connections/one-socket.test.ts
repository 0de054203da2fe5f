import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { openSockets } from '../../sockets.ts';
import { original, patched } from '../testing/original.ts';
import { startServer } from '../testing/server.ts';
import { silent } from '../testing/silent.ts';

type ConnectionClass = new (options: object) => {
  readonly socket: Socket;
  isConnected(): boolean;
  connect(): Promise<unknown>;
  send(request: object): Promise<unknown>;
  disconnect(): Promise<unknown>;
  rejectRequests(error: Error): void;
};

/** A connection to a server that does the next of `answers` with each request. */
async function start(
  t: TestContext,
  load: typeof original,
  answers: ((socket: Socket, correlationId: number) => void)[],
  requestTimeout = 120_000,
) {
  const address = await startServer(t, (socket, data) => {
    answers.shift()?.(socket, data.readInt32BE(8));
  });
  const sockets = openSockets();
  const Connection = load('network/connection') as ConnectionClass;
  const Encoder = load('protocol/encoder') as new () => object;
  const connection = new Connection({
    ...address,
    logger: silent,
    requestTimeout,
    connectionTimeout: 120_000,
    socketFactory: sockets.factory,
  });
  const encode = () => Promise.resolve(new Encoder());
  const request = { apiKey: 3, apiName: 'Metadata', apiVersion: 6, encode };
  const response = { decode: (payload: Buffer) => Promise.resolve({ payload }), parse: Boolean };
  const send = () => connection.send({ request, response });
  await connection.connect();
  t.after(async () => {
    connection.rejectRequests(new Error('the test is over'));
    await connection.disconnect();
    sockets.release();
  });
  return { connection, send };
}

/** A frame with the answer to a request, of bytes that are no length of a frame. */
function answerTo(correlationId: number): Buffer {
  const frame = Buffer.alloc(1_000, 0x7f);
  frame.writeInt32BE(frame.length - 4, 0);
  frame.writeInt32BE(correlationId, 4);
  return frame;
}

/** Whether it is settled after all that has happened until now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const later = new Promise((resolve) => setImmediate(resolve, pending));
  return (await Promise.race([promise.catch(() => undefined), later])) !== pending;
}

/** Whether a request is answered on the socket after the one on which an answer was cut off. */
async function isAnsweredAfterHalf(t: TestContext, load: typeof original): Promise<boolean> {
  const { connection, send } = await start(t, load, [
    (socket, correlationId) => socket.end(answerTo(correlationId).subarray(0, 500)),
    (socket, correlationId) => socket.write(answerTo(correlationId)),
  ]);
  await assert.rejects(send(), { name: 'KafkaJSConnectionClosedError' });
  await connection.connect();
  const second = send();
  await once(connection.socket, 'data');
  return isSettled(second);
}

test('an answer that is cut off costs no request on the next socket', async (t) => {
  assert.equal(await isAnsweredAfterHalf(t, patched), true);
});

test('the original takes the next answer for the rest of the one that was cut off', async (t) => {
  assert.equal(await isAnsweredAfterHalf(t, original), false);
});

/** Whether the former socket of a connection is gone when the next one is open, though the broker does not read its end. */
async function isFormerGone(t: TestContext, load: typeof original): Promise<boolean> {
  const { connection, send } = await start(t, load, [
    (socket, correlationId) => {
      socket.write(answerTo(correlationId));
      socket.pause();
    },
  ]);
  await send();
  const former = connection.socket;
  await connection.disconnect();
  await connection.connect();
  const isGone = former.destroyed;
  former.destroy();
  return isGone;
}

test('a connection opens after its former socket is gone', async (t) => {
  assert.equal(await isFormerGone(t, patched), true);
});

test('the original still receives what the broker sends on the former socket', async (t) => {
  assert.equal(await isFormerGone(t, original), false);
});

/** Whether the socket of a request that was not answered in time is used for the next one. */
async function isSilentSocketKept(t: TestContext, load: typeof original): Promise<boolean> {
  const { connection, send } = await start(t, load, [], 1);
  const { socket } = connection;
  await assert.rejects(send(), { name: 'KafkaJSRequestTimeoutError' });
  await connection.connect();
  return connection.socket === socket;
}

test('a request that times out closes the connection', async (t) => {
  assert.equal(await isSilentSocketKept(t, patched), false);
});

test('the original goes on with the socket that is silent', async (t) => {
  assert.equal(await isSilentSocketKept(t, original), true);
});

/** Whether a socket that did not open in time is gone; the server does not answer the first message of TLS. */
async function isUnopenedGone(t: TestContext, load: typeof original): Promise<boolean> {
  const sockets = openSockets();
  const connection = new (load('network/connection') as ConnectionClass)({
    ...(await startServer(t)),
    ssl: {},
    logger: silent,
    connectionTimeout: 1,
    socketFactory: sockets.factory,
  });
  await assert.rejects(connection.connect(), { message: 'Connection timeout' });
  const isGone = connection.socket.destroyed;
  connection.socket.destroy();
  return isGone;
}

test('a socket that does not open in time is destroyed', async (t) => {
  assert.equal(await isUnopenedGone(t, patched), true);
});

test('the original leaves it to the broker', async (t) => {
  assert.equal(await isUnopenedGone(t, original), false);
});

/** Whether a connection that was closed while it opened is open afterwards. */
async function isOpenAfterClose(t: TestContext, load: typeof original): Promise<boolean> {
  const sockets = openSockets();
  const connection = new (load('network/connection') as ConnectionClass)({
    ...(await startServer(t)),
    logger: silent,
    requestTimeout: 120_000,
    connectionTimeout: 120_000,
    socketFactory: sockets.factory,
  });
  const opening = connection.connect();
  await connection.disconnect();
  await opening.catch(() => undefined);
  const isOpen = connection.isConnected();
  await connection.disconnect();
  sockets.release();
  return isOpen;
}

test('a connection that is closed while it opens stays closed', async (t) => {
  assert.equal(await isOpenAfterClose(t, patched), false);
});

test('the original opens it nevertheless', async (t) => {
  assert.equal(await isOpenAfterClose(t, original), true);
});

test('requests that time out together close no socket but their own', async (t) => {
  const { connection, send } = await start(t, patched, [], 1);
  const opening = send().catch(() => connection.connect());
  await Promise.all([opening, assert.rejects(send())]);
  assert.equal(connection.socket.writableEnded, false);
});
