/** The part of `oidc-provider` that tests use. The package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface ClientCredentials {
    readonly clientId: string;
    readonly scope?: string;
    readonly aud?: string;
    destroy(): Promise<void>;
  }

  interface Configuration {
    readonly clients: readonly object[];
    readonly features: {
      readonly clientCredentials: { readonly enabled: boolean };
      readonly devInteractions: { readonly enabled: boolean };
      readonly resourceIndicators: {
        readonly enabled: boolean;
        readonly defaultResource: (context: {
          readonly oidc: { readonly body?: { readonly audience?: string } };
        }) => string | undefined;
        readonly getResourceServerInfo: (context: unknown, resource: string) => object;
      };
    };
    readonly ttl: { readonly ClientCredentials: number };
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration);
    readonly ClientCredentials: { find(token: string): Promise<ClientCredentials | undefined> };
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  }
}
