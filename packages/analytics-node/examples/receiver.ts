/**
 * A receiver that verifies webhooks, on fastify. With Node 22.18 or later, which runs TypeScript:
 * `WEBHOOK_SECRET=s3cret node receiver.ts`.
 */
import { verifySignature } from '@tailrace/analytics-node';
import { fastify } from 'fastify';

const { WEBHOOK_SECRET: secret = '', PORT: port = '8090' } = process.env;
if (secret === '') throw new Error('Set WEBHOOK_SECRET to the shared secret of the destination.');

const server = fastify();

// The signature covers the bytes as received, so they are kept until it is verified.
server.removeContentTypeParser('application/json');
server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
  done(null, body);
});

server.post('/webhooks', async (request, reply) => {
  const body = request.body as Buffer;
  if (!verifySignature(secret, body, request.headers['x-signature'])) {
    return reply.code(401).send({ message: 'The signature does not match the body.' });
  }
  const event = JSON.parse(body.toString()) as { readonly type: string; readonly userId?: string };
  console.log(`received ${event.type} by ${event.userId ?? 'someone'}`);
  return reply.code(204).send();
});

console.log(`listening at ${await server.listen({ port: Number(port) })}`);
