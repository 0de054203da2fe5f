import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { collect } from '@tailrace/testing';
import { Network } from './network.ts';

/** A party `b` that answers what `a` sends, in capitals, and a connection of `a` to it. */
async function openPair() {
  await using opened = new AsyncDisposableStack();
  const heard = collect<string>('what b has heard', (text) => text);
  const answered = collect<string>('what a has heard', (text) => text);
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      heard.add(String(chunk));
      socket.write(String(chunk).toUpperCase());
    });
  });
  opened.use(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const network = opened.use(new Network(['a', 'b']));
  await network.open('a', 'b', port);
  const socket = connect(port, network.address('a', 'b'));
  opened.defer(() => void socket.destroy());
  socket.on('data', (chunk) => {
    answered.add(String(chunk));
  });
  const all = opened.move();
  return { network, socket, heard, answered, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

test('what is sent during a cut arrives after it, in order', async () => {
  await using pair = await openPair();
  const { network, socket, heard, answered } = pair;
  socket.write('one ');
  await answered.find((text) => text === 'ONE ');
  network.set('a', 'b', 'cut');
  socket.write('two ');
  network.set('b', 'a', 'lossy');
  network.set('a', 'b', 'clear');
  socket.write('three');
  await answered.waitFor((all) => all.join('') === 'ONE TWO THREE');
  assert.equal(heard.items.join(''), 'one two three');
});

test('a cut of one way holds only the answers', async () => {
  await using pair = await openPair();
  const { network, socket, heard, answered } = pair;
  network.set('b', 'a', 'cut');
  socket.write('one');
  await heard.find((text) => text === 'one');
  assert.deepEqual(answered.items, []);
  network.set('b', 'a', 'slow');
  await answered.find((text) => text === 'ONE');
});

test('the end of a connection is passed on, and a port that is closed refuses', async () => {
  await using pair = await openPair();
  const { network, socket, answered } = pair;
  socket.write('one');
  await answered.waitFor(1);
  await network[Symbol.asyncDispose]();
  if (!socket.closed) await once(socket, 'close');
  await assert.rejects(async () => {
    await once(connect(1, network.address('a', 'b')), 'connect');
  });
});
