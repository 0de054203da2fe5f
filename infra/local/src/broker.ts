/**
 * A Kafka of one's own, for `npm start` and for the tests: the one that KAFKA_BROKERS names, else a container
 * where a Docker engine answers, else Apache Kafka on the local JVM.
 *
 * Of a broker that is started here, this file owns the directory and the life; how a broker is run is for
 * container.ts and jvm.ts.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { TailraceError } from '@tailrace/errors';
import { dockerAnswers } from './docker.ts';
import { missingForJvm, startJvm } from './jvm.ts';
import { acquireLock } from './lock.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Told what the start is doing, as a phrase; `count` where it goes in known steps. */
export type Progress = (phrase: string, count?: { readonly done: number; readonly total: number }) => void;

export interface BrokerOptions {
  readonly env: Environment;
  /** Where the data is kept between starts. Temporary, and removed by `stop`, where absent. */
  readonly dataDir?: string;
  /** The port to listen on where it is free; any other free one where it is not. */
  readonly port?: number;
  /**
   * Runs the JVM without its optimising compiler: half the CPU to start, more of it for each record. For
   * tests, which start many and send little.
   */
  readonly quickStart?: boolean;
  /** One more way in, for tests of those who use it; the broker then runs on the JVM. */
  readonly secure?: SecureListener;
  readonly onProgress?: Progress;
  /** Called when a broker that was started here ends without having been told to, with how. */
  readonly onDeath?: (how: string) => void;
  /** Gives up a start that is under way. */
  readonly signal?: AbortSignal;
}

/** A listener that demands TLS and a password, and allows nothing that no ACL allows. */
export interface SecureListener {
  readonly port: number;
  /** A file with the key (PKCS 8) and the certificate, in PEM. */
  readonly keyStore: string;
  /** Passwords by name, for PLAIN and SCRAM. */
  readonly users: Readonly<Record<string, string>>;
}

/** A Kafka that answers. */
export interface Broker extends AsyncDisposable {
  readonly kind: 'given' | 'container' | 'jvm';
  /** Bootstrap servers, `host:port`. */
  readonly brokers: readonly string[];
  /** Ends it, where it was started here. Safe to call twice. */
  stop(): Promise<void>;
}

/** A single broker that was started here, and so can be made to fail. */
export interface OwnBroker extends Broker {
  readonly kind: 'container' | 'jvm';
  /** Resolves when it has ended. `SIGKILL` is a crash, `SIGTERM` a clean shutdown. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Starts it again after its end, on the same port and data; resolves when it answers. */
  restart(): Promise<void>;
}

/** What a way of running a broker gets to work with. */
export interface NodeOptions {
  readonly env: Environment;
  /** Exists, and belongs to this process. */
  readonly dataDir: string;
  /** Whether the data is to be there at the next start. */
  readonly keepData: boolean;
  readonly port: number | undefined;
  readonly quickStart: boolean;
  readonly secure: SecureListener | undefined;
  readonly progress: Progress;
  readonly onDeath: (how: string) => void;
  readonly signal: AbortSignal;
}

/** A running broker. Where `start...` fails, nothing is left of it. */
export interface BrokerNode {
  readonly kind: 'container' | 'jvm';
  readonly address: string;
  /** Resolves when it has ended; at once where it already has. */
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  readonly restart: () => Promise<void>;
  /** Removes what is left of it after its end, data aside that is to be kept. */
  readonly remove: () => Promise<void>;
}

/** Fails with `local-start-failed`, whose message says what to install or to change. */
export async function startBroker(options: BrokerOptions): Promise<Broker | OwnBroker> {
  const given = (options.env['KAFKA_BROKERS'] ?? '').split(',').map((broker) => broker.trim());
  const brokers = given.filter((broker) => broker !== '');
  if (brokers.length > 0) {
    const stop = (): Promise<void> => Promise.resolve();
    return { kind: 'given', brokers, stop, [Symbol.asyncDispose]: stop };
  }
  return startOwnBroker(options);
}

/** As {@link startBroker}, whatever KAFKA_BROKERS says: for tests that make their broker fail. */
export async function startOwnBroker(options: BrokerOptions): Promise<OwnBroker> {
  const keepData = options.dataDir !== undefined;
  const dataDir = resolve(options.dataDir ?? (await mkdtemp(join(tmpdir(), 'tailrace-broker-'))));
  await mkdir(dataDir, { recursive: true });
  const lock = await acquireLock(join(dataDir, 'lock'));
  if ('heldBy' in lock) {
    throw new TailraceError(
      'local-start-failed',
      `The broker's data in ${dataDir} is in use by the running process ${lock.heldBy}. Stop that one first.`,
    );
  }
  const giveBack = async (): Promise<void> => {
    await lock.release();
    if (!keepData) await rm(dataDir, { recursive: true, force: true });
  };

  try {
    const node = await startNode({
      env: options.env,
      dataDir,
      keepData,
      port: options.port,
      quickStart: options.quickStart ?? false,
      secure: options.secure,
      progress: options.onProgress ?? (() => undefined),
      onDeath: options.onDeath ?? (() => undefined),
      signal: options.signal ?? new AbortController().signal,
    });
    const stop = async (): Promise<void> => {
      // What is thrown away need not be flushed to disk first.
      await node.kill(keepData ? 'SIGTERM' : 'SIGKILL');
      await node.remove();
      await giveBack();
    };
    const { kind, address, kill, restart } = node;
    let stopped: Promise<void> | undefined;
    const stopOnce = (): Promise<void> => (stopped ??= stop());
    return { kind, brokers: [address], kill, restart, stop: stopOnce, [Symbol.asyncDispose]: stopOnce };
  } catch (error) {
    await giveBack();
    throw error;
  }
}

/** Removes everything that a broker, which has ended, kept for `dataDir`. */
export async function discardData(dataDir: string, env: Environment): Promise<void> {
  if (await dockerAnswers(env)) {
    const { removeVolume } = await import('./container.ts');
    await removeVolume(resolve(dataDir));
  }
  await rm(dataDir, { recursive: true, force: true });
}

async function startNode(options: NodeOptions): Promise<BrokerNode> {
  if (!options.secure && (await dockerAnswers(options.env))) {
    const { startContainer } = await import('./container.ts');
    const container = await startContainer(options);
    if (container !== undefined) return container;
  }
  const missing = await missingForJvm(options.env);
  if (missing === undefined) return startJvm(options);
  throw new TailraceError(
    'local-start-failed',
    `There is no Kafka to use: set KAFKA_BROKERS, or start a Docker engine, or install ${missing}.`,
  );
}
