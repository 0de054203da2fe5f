/** A token server of OAuth 2.0 that signs JWTs with RS256, and publishes its key. Tests make it refuse or hang. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TokenServer extends AsyncDisposable {
  readonly tokenUrl: string;
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: string;
  /** Answered requests for tokens. */
  readonly issued: number;
  /** Default: `issues`. `misleads` gives tokens for another audience. */
  behave(behaviour: Behaviour): void;
}

export type Behaviour = 'issues' | 'misleads' | 'hangs' | 'fails';

export interface TokenServerOptions {
  /** Secrets by client id. The user in Kafka has the name of the client. */
  readonly clients: Readonly<Record<string, string>>;
  readonly lifetimeS?: number;
}

const audience = 'kafka';

export async function startTokenServer({
  clients,
  lifetimeS = 3_600,
}: TokenServerOptions): Promise<TokenServer> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] };
  let behaviour: Behaviour = 'issues';
  let issued = 0;

  const tokenFor = (subject: string): string => {
    const now = Math.floor(Date.now() / 1_000);
    const aud = behaviour === 'misleads' ? 'elsewhere' : audience;
    const claims = { iss: issuer, aud, sub: subject, iat: now, exp: now + lifetimeS, scope: 'kafka' };
    const content = [{ alg: 'RS256', kid: 'one', typ: 'JWT' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`;
  };

  const server = createServer((request, response) => {
    const respond = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    request.resume();
    if (request.url === '/jwks') {
      respond(200, jwks);
      return;
    }
    if (behaviour === 'hangs') return;
    if (behaviour === 'fails') {
      respond(503, {});
      return;
    }
    const [, basic = ''] = (request.headers.authorization ?? '').split(' ');
    const [id = '', secret] = Buffer.from(basic, 'base64').toString().split(':');
    if (secret === undefined || clients[id] !== secret) {
      respond(401, { error: 'invalid_client', error_description: 'The client is unknown.' });
      return;
    }
    issued += 1;
    respond(200, { access_token: tokenFor(id), token_type: 'Bearer', expires_in: lifetimeS });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    tokenUrl: `${issuer}/token`,
    jwksUrl: `${issuer}/jwks`,
    issuer,
    audience,
    get issued() {
      return issued;
    },
    behave(next) {
      behaviour = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
