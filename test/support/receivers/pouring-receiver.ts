/**
 * A worker thread with a receiver whose answers never end, for tests that measure the sender's memory: a thread has its
 * own heap. Posts its port. The path of the request selects the endless part: `/body`, `/header`, `/informational`, or
 * `/trickle` (a long header, then single bytes).
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { onRequests, pourForEver, writeForEver } from './sender.ts';

const filler = Buffer.alloc(65_536, 'a');

const answers: Readonly<Record<string, (socket: Socket) => void>> = {
  '/body': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    pourForEver(socket, filler);
  },
  '/header': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Long: ');
    pourForEver(socket, filler);
  },
  '/informational': (socket) => {
    pourForEver(socket, Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)));
  },
  '/trickle': (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(15_000)}`);
    writeForEver(socket, 'a');
  },
};

const server = createServer((socket) => {
  socket.on('error', () => undefined);
  onRequests(socket, (request) => {
    const [, path = ''] = request.split(/[ ?]/);
    answers[path]?.(socket);
  });
});
server.listen(0, '127.0.0.1', () => {
  parentPort?.postMessage((server.address() as AddressInfo).port);
});
