/** Public types. This file imports nothing, because not every user's compiler has the types of Node. */

/** Options of node:tls, for a private certificate authority or a client certificate. */
export interface TlsOptions {
  /** Trusted certificate authorities, as PEM, in place of those of Node. */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined;
  /** The certificate of the client, as PEM. */
  readonly cert?: string | Uint8Array | undefined;
  /** Its private key, as PEM. */
  readonly key?: string | Uint8Array | undefined;
  readonly passphrase?: string | undefined;
  /** The name that the certificate of the server must have, if it differs from the host of the endpoint. */
  readonly servername?: string | undefined;
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined;
}

export interface ConnectionOptions {
  /** An agent of node:http or node:https, for everything that the other options do not do. The client does not destroy it. */
  readonly agent?: object | undefined;
  readonly tls?: TlsOptions | undefined;
  /**
   * URL of a proxy, such as `http://proxy:3128`. Default: `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, where Node uses
   * them (`NODE_USE_ENV_PROXY=1`, `--use-env-proxy`). Needs Node 22.21, 24.5 or later.
   */
  readonly proxy?: string | undefined;
}
