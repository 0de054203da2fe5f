/**
 * Authenticates a connection of the library, at its opening and again before its session ends (KIP-368), with two corrections:
 *
 * - What an exchange needs, such as a token, is prepared before it begins. A connection on which an exchange has begun can be
 *   used for nothing else, so a token server that is down would cost all connections.
 * - The library authenticates again 10 s before the end of a session, which for sessions of less than 10 s is before every
 *   request. A broker refuses that more than once a second.
 */

/** Optional part of the `sasl` object of the library's configuration. */
export interface Prepared {
  readonly prepare?: () => Promise<void>;
}

/** The library's class: the members that are used here. */
interface Authenticator {
  readonly connection: { readonly sasl: Prepared; reauthenticationThreshold: number };
  /** Milliseconds as text; "0" without a limit. */
  readonly sessionLifetime: string;
  authenticate(): Promise<void>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- TypeScript asks for it where a class is extended.
export type AuthenticatorClass = new (...options: any[]) => Authenticator;

const beforeEndMs = 10_000;
const beforeEndShare = 0.1;

export function preparedAuthenticator(Original: AuthenticatorClass): AuthenticatorClass {
  return class PreparedAuthenticator extends Original {
    override async authenticate(): Promise<void> {
      const { connection } = this;
      await connection.sasl.prepare?.();
      await super.authenticate();
      const lifetimeMs = Number(this.sessionLifetime);
      // The library fails with fractions.
      connection.reauthenticationThreshold = Math.min(beforeEndMs, Math.floor(lifetimeMs * beforeEndShare));
    }
  };
}
