/**
 * The demo receiver: an HTTP server on loopback that verifies the signature of each webhook and prints it. It is
 * also a minimal example of a receiver: verify the received bytes, then parse.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { styleText } from 'node:util';
import { verifySignature } from '@tailrace/signing';
import { demoPort, demoSecret } from './demo.ts';

const maxBodyBytes = 1_000_000;

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.destroy(),
  );
});

async function receive(request: IncomingMessage): Promise<number> {
  const body = await readBody(request);
  if (body === undefined) return 413;
  const signature = request.headers['x-signature'];
  const verified = typeof signature === 'string' && verifySignature(demoSecret, body, signature);
  const verdict = verified ? styleText('green', 'signature verified') : styleText('red', 'SIGNATURE WRONG');
  console.log(`${describe(body.toString())} · ${verdict}\n${body.toString()}`);
  return verified ? 200 : 401;
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Such as `track "Order Completed" by u1`, with the fields that the body has. */
function describe(text: string): string {
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    const string = (name: string): string => (typeof body[name] === 'string' ? body[name] : '');
    const what = string('event') || string('name') || string('groupId');
    const who = string('userId') || string('User ID') || string('anonymousId');
    return [string('type') || 'webhook', what && `"${what}"`, who && `by ${who}`].filter(Boolean).join(' ');
  } catch {
    return 'not JSON';
  }
}

function stop(): void {
  server.close(() => process.exit(0));
  server.closeAllConnections();
}
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
process.on('disconnect', stop);

server.listen(Number(process.env['TAILRACE_DEMO_PORT'] ?? demoPort), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ level: 'info', time: new Date().toISOString(), port, msg: 'ready' }));
});
