/**
 * The limit of the load generator and the receiver: takes a call over HTTP, signs it, posts it to the receiver, and answers when
 * the receiver has. It keeps nothing and tries nothing again.
 */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Pool } from 'undici';
import { connectToParent } from '../processes/children.ts';
import type { ForwarderSettings, FromForwarder } from './bare-forwarder.ts';

const { url, sharedSecret, inFlight } = JSON.parse(process.argv[2] ?? '{}') as ForwarderSettings;
const report: (message: FromForwarder) => void = connectToParent();
const { origin, pathname } = new URL(url);
const pool = new Pool(origin, { connections: inFlight });

const server = createServer((request, response) => {
  void json(request).then(async (call) => {
    const body = JSON.stringify({ version: 1, ...(call as object) });
    const signature = createHmac('sha1', sharedSecret).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-signature': signature };
    const answer = await pool.request({ method: 'POST', path: pathname, headers, body });
    await answer.body.dump();
    response.writeHead(200, { 'content-length': '0' }).end();
  });
});
server.listen(0, '127.0.0.1', () => {
  report({ kind: 'listening', port: (server.address() as AddressInfo).port });
});
