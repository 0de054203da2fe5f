/**
 * Serves the console at `/`: files that `packages/console` has built, from memory. They have no secrets, so they need no token; what
 * they show they get from the API.
 */
import { readConsole, type ConsoleFile } from '@tailrace/console';
import { TailraceError } from '@tailrace/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Scripts and styles of this server only, none within a page, and no text that becomes a script. It has no
 * `upgrade-insecure-requests`, so that the console works over plain HTTP.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const headersOfAll = {
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  vary: 'accept-encoding',
};
const yearS = 31_536_000;
const hidden = { schema: { hide: true } };

export function serveConsole(app: FastifyInstance): void {
  const files = readConsole();
  const send = (request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): FastifyReply => {
    reply.headers(headersOfAll);
    reply.header('cache-control', file.isImmutable ? `public, max-age=${yearS}, immutable` : 'no-cache');
    reply.header('etag', file.etag);
    if (request.headers['if-none-match']?.includes(file.etag)) return reply.status(304).send();
    reply.header('content-type', file.type);
    const { encoding, bytes } = bestOf(request.headers['accept-encoding'] ?? '', file);
    if (encoding !== undefined) reply.header('content-encoding', encoding);
    return reply.send(bytes);
  };

  app.get('/', hidden, (request, reply) => {
    const page = files.get('index.html');
    if (page) return send(request, reply, page);
    return reply
      .status(404)
      .type('text/plain; charset=utf-8')
      .send(
        'The console is not built. Run `npm run console`, and start control again. The API is at /v1, its reference at /docs.\n',
      );
  });
  for (const [name, file] of files) {
    if (name !== 'index.html') app.get(`/${name}`, hidden, (request, reply) => send(request, reply, file));
  }
  // A page of the release before asks for files that this one does not have.
  app.get('/assets/*', hidden, () => {
    throw new TailraceError('not-found');
  });
}

function bestOf(
  accepted: string,
  { br, gzip, plain }: ConsoleFile,
): { readonly encoding: string | undefined; readonly bytes: Buffer } {
  if (/\bbr\b/.test(accepted)) return { encoding: 'br', bytes: br };
  if (/\bgzip\b/.test(accepted)) return { encoding: 'gzip', bytes: gzip };
  return { encoding: undefined, bytes: plain };
}
