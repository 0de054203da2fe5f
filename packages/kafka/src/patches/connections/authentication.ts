/**
 * Defects: the library authenticates a connection when it is opened, and again before its session ends (KIP-368).
 *
 * - It begins the exchange, and then asks for the token. A connection on which an exchange has begun can be used for nothing else, so a
 *   token server that is down costs all connections.
 * - It authenticates again 10 s before the end of a session: for sessions of less than 10 s before every request, which a broker
 *   refuses more than once a second.
 * - With a password, it takes a connection that is lost during the exchange for a refusal of the password, which it does not retry.
 *
 * Upstream: the second came with tulios/kafkajs#492; no issue found for any.
 *
 * Patch: what an exchange needs is prepared before it begins, the last tenth of a short session is enough, and only the broker's answer is a
 * refusal.
 */
import { replacing, type LibraryClass } from '../apply.ts';

/** Optional part of the `sasl` object of the library's configuration. */
export interface Prepared {
  readonly prepare?: () => Promise<void>;
}

interface Connection {
  readonly sasl: Prepared;
  reauthenticationThreshold: number;
  send(message: object): Promise<unknown>;
}

/** The library's class: the members that are used here. */
interface Authenticator {
  connection: Connection;
  /** Milliseconds as text; "0" without a limit. */
  readonly sessionLifetime: string;
  authenticate(): Promise<void>;
}

const beforeEndMs = 10_000;
const beforeEndShare = 0.1;

export const authentication = replacing(
  'broker/saslAuthenticator',
  (Original: LibraryClass<Authenticator>): LibraryClass<Authenticator> =>
    class PreparedAuthenticator extends Original {
      override async authenticate(): Promise<void> {
        const { connection } = this;
        await connection.sasl.prepare?.();
        let failure: { readonly type?: string } | undefined;
        const send = (message: object): Promise<unknown> =>
          connection.send(message).catch((error: unknown) => {
            failure = error as object;
            throw error;
          });
        this.connection = Object.create(connection, { send: { value: send } }) as Connection;
        try {
          await super.authenticate();
        } catch (error) {
          throw failure && failure.type !== 'SASL_AUTHENTICATION_FAILED' ? failure : error;
        }
        const lifetimeMs = Number(this.sessionLifetime);
        // The library fails with fractions.
        connection.reauthenticationThreshold = Math.min(beforeEndMs, Math.floor(lifetimeMs * beforeEndShare));
      }
    },
);
