/** The interface of one Kafka node, which broker.ts uses and container.ts and jvm.ts implement. */
import type { Properties } from './properties.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Receives the current step of the start. `count` is set for steps with a known number of items. */
export type Progress = (phrase: string, count?: { readonly done: number; readonly total: number }) => void;

/** Changes to a broker, such as further listeners. */
export interface BrokerChanges {
  /** The properties, from those without the changes. */
  readonly properties: (base: Properties) => Properties;
  /** Properties of the JVM. */
  readonly systemProperties: Readonly<Record<string, string>>;
  /** Passwords by user name, for SCRAM. */
  readonly users: Readonly<Record<string, string>>;
}

/** The input of container.ts and jvm.ts. */
export interface NodeOptions {
  readonly env: Environment;
  /** Exists, and is locked by this process. */
  readonly dataDir: string;
  /** Whether the data is kept for the next start. */
  readonly keepData: boolean;
  /** The preferred port. Another free port is used if it is taken. */
  readonly port?: number;
  /**
   * Disables the optimising compiler of the JVM: half the CPU to start, more for each record. For tests, which
   * start many brokers and send little.
   */
  readonly quickStart: boolean;
  /** For tests. The broker then runs on the JVM. */
  readonly changes?: BrokerChanges;
  readonly onProgress: Progress;
  /** Called when the started broker ends unexpectedly, with the reason. */
  readonly onDeath: (how: string) => void;
  /** Cancels the start. */
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
