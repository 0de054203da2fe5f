/** The interface of one Kafka node, which broker.ts uses and container.ts and jvm.ts implement. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Receives the current step of the start. `count` is set for steps with a known number of items. */
export type Progress = (phrase: string, count?: { readonly done: number; readonly total: number }) => void;

/** Listeners that require TLS and authentication, and allow only operations with an ACL. */
export interface SecureListener {
  /** Of the listener for passwords. */
  readonly port: number;
  /** A PEM file with the key (PKCS 8) and the certificate. */
  readonly keyStore: string;
  /** Passwords by user name, for PLAIN and SCRAM. */
  readonly users: Readonly<Record<string, string>>;
  /** A listener for client certificates. */
  readonly certificates?: {
    readonly port: number;
    /** A PEM file with the authority of the clients. */
    readonly authority: string;
  };
  /** A listener for OAUTHBEARER, which accepts tokens with these claims. */
  readonly tokens?: {
    readonly port: number;
    readonly jwksUrl: string;
    readonly issuer: string;
    readonly audience: string;
  };
  /** Clients have to authenticate again after this time (`connections.max.reauth.ms`). */
  readonly reauthenticateMs?: number;
  /** Writes each decision of the authorizer into the file. */
  readonly decisions?: string;
}

/** The input of container.ts and jvm.ts. */
export interface NodeOptions {
  readonly env: Environment;
  /** Exists, and is locked by this process. */
  readonly dataDir: string;
  /** Whether the data is kept for the next start. */
  readonly keepData: boolean;
  readonly port: number | undefined;
  readonly quickStart: boolean;
  readonly secure: SecureListener | undefined;
  readonly progress: Progress;
  readonly onDeath: (how: string) => void;
  readonly signal: AbortSignal;
}

/** A running broker. A failed start leaves nothing behind. */
export interface BrokerNode {
  readonly kind: 'container' | 'jvm';
  readonly address: string;
  /** Resolves when the broker has ended. */
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  readonly restart: () => Promise<void>;
  /** Removes the remains of the broker after its end, except data that is kept. */
  readonly remove: () => Promise<void>;
}
