/**
 * Defects: the library authenticates a connection when it is opened, and again before its session ends (KIP-368).
 *
 * - It begins the exchange, and then asks for the token. A connection on which an exchange has begun can be used for nothing else, so a
 *   token server that is down costs all connections.
 * - It authenticates again 10 s before the end of a session: for sessions of less than 10 s before every request, which a broker
 *   refuses more than once a second.
 *
 * Upstream: the second came with tulios/kafkajs#492; no issue found for either.
 *
 * Patch: what an exchange needs is prepared before it begins, and the last tenth of a short session is enough.
 */
import { replacing } from '../apply.ts';

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
type AuthenticatorClass = new (...options: any[]) => Authenticator;

const beforeEndMs = 10_000;
const beforeEndShare = 0.1;

export const authentication = replacing(
  'broker/saslAuthenticator',
  (Original: AuthenticatorClass): AuthenticatorClass =>
    class PreparedAuthenticator extends Original {
      override async authenticate(): Promise<void> {
        const { connection } = this;
        await connection.sasl.prepare?.();
        await super.authenticate();
        const lifetimeMs = Number(this.sessionLifetime);
        // The library fails with fractions.
        connection.reauthenticationThreshold = Math.min(beforeEndMs, Math.floor(lifetimeMs * beforeEndShare));
      }
    },
);
