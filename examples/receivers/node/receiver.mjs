/** A webhook receiver that verifies the signature, with nothing but Node. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET: secret = '', PORT: port = '9000' } = process.env;
// Anyone can sign with an empty key.
if (secret === '') throw new Error('Set WEBHOOK_SECRET to the shared secret of the destination.');

/** The largest webhook holds one event, which has at most 68 KB, and JSON around it. */
const maxBodyBytes = 256 * 1024;

function isSigned(body, header) {
  const expected = Buffer.from(createHmac('sha1', secret).update(body).digest('hex'));
  const received = Buffer.from(header ?? '');
  return received.length === expected.length && timingSafeEqual(received, expected);
}

const server = createServer((request, response) => {
  const chunks = [];
  let size = 0;
  request.on('data', (chunk) => {
    size += chunk.length;
    if (size > maxBodyBytes) request.destroy();
    else chunks.push(chunk);
  });
  request.on('end', () => {
    // The signature is of the bytes as received, so it is checked before they are parsed.
    const body = Buffer.concat(chunks);
    if (!isSigned(body, request.headers['x-signature'])) {
      response.writeHead(401).end();
      return;
    }
    // Answer within five seconds; longer work belongs in a queue. The same webhook may arrive more than once.
    const event = JSON.parse(body.toString());
    response.writeHead(204).end();
    console.log(`received ${event.type}`);
  });
});

server.listen(Number(port), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
