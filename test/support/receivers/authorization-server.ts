/** A real authorization server, `oidc-provider`, on loopback, and a receiver that accepts the tokens it has issued. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { OAuth2Settings } from '@tailrace/config';
import { Provider } from 'oidc-provider';
import { status, type Answer } from './answers.ts';
import type { Certificate } from './certificates.ts';
import { startReceiver, type ReceivedRequest, type Receiver } from './receiver.ts';

export type IssuedToken = NonNullable<Awaited<ReturnType<Provider['ClientCredentials']['find']>>>;

export interface AuthorizationServer extends AsyncDisposable {
  /** The settings of a destination that is its client. */
  readonly oauth2: OAuth2Settings;
  /** Requests for a token so far. */
  readonly asked: number;
  /** In place of a token; undefined for what it answers itself. */
  instead: Answer | undefined;
  /** Undefined where it has not issued the token, or the token has ended. */
  find(token: string): Promise<IssuedToken | undefined>;
  revoke(token: string): Promise<void>;
  close(): Promise<void>;
}

export interface AuthorizationServerOptions {
  readonly authMethod?: 'client_secret_basic' | 'client_secret_post';
  readonly lifetimeSeconds?: number;
  readonly tls?: Certificate;
}

const scope = 'events:write';
const audience = 'https://crm.example.com/';

export async function startAuthorizationServer({
  authMethod = 'client_secret_basic',
  lifetimeSeconds = 3_600,
  tls,
}: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const server = tls ? createSecureServer(tls) : createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  const client = { client_id: 'tail race', client_secret: 'S3CRET:%+client' };
  const provider = new Provider(origin, {
    clients: [
      {
        ...client,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: authMethod,
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: ({ oidc }) => oidc.body?.audience,
        getResourceServerInfo: (_context, resource) => ({
          scope,
          audience: resource,
          accessTokenFormat: 'opaque',
        }),
      },
    },
    ttl: { ClientCredentials: lifetimeSeconds },
  });
  const answer = provider.callback();
  let asked = 0;
  let instead: Answer | undefined;
  server.on('request', (request, response) => {
    asked += 1;
    if (instead) instead(response);
    else void answer(request, response);
  });
  const find = (token: string) => provider.ClientCredentials.find(token);
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    if (server.listening) await once(server, 'close');
  };
  return {
    oauth2: {
      tokenUrl: `${origin}/token`,
      clientId: client.client_id,
      clientSecret: client.client_secret,
      scope,
      audience,
      ...(authMethod !== 'client_secret_basic' && { authMethod }),
    },
    get asked() {
      return asked;
    },
    set instead(other: Answer | undefined) {
      instead = other;
    },
    find,
    async revoke(token) {
      await (await find(token))?.destroy();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

export function tokenOf({ headers }: ReceivedRequest): string {
  return /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1] ?? '';
}

/** Answers 200 to requests with a valid token of the server, and 401 to others. */
export function startGuardedReceiver(server: Pick<AuthorizationServer, 'find'>): Promise<Receiver> {
  return startReceiver({
    answer: (request) => (response) => {
      void server.find(tokenOf(request)).then((token) => status(token ? 200 : 401)(response));
    },
  });
}
