/**
 * Kafka for `npm start` and for the tests: the brokers in KAFKA_BROKERS, a container where a Docker engine answers,
 * or Apache Kafka on the local JVM.
 *
 * This file owns the data directory and the lifecycle of a broker. container.ts and jvm.ts run it.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { TailraceError } from '@tailrace/errors';
import { dockerAnswers } from './docker.ts';
import { missingForJvm, startJvm } from './jvm.ts';
import { acquireLock } from './lock.ts';
import type { BrokerNode, Environment, NodeOptions } from './node.ts';

export interface BrokerOptions extends Partial<Omit<NodeOptions, 'env' | 'keepData'>> {
  readonly env: Environment;
  /** The directory of persistent data. Default: a temporary directory that `stop` removes. */
  readonly dataDir?: string;
}

/** A Kafka that is ready. */
export interface Broker extends AsyncDisposable {
  readonly kind: 'given' | 'container' | 'jvm';
  /** Bootstrap servers, `host:port`. */
  readonly brokers: readonly string[];
  /** Stops the broker if it was started here. Safe to call twice. */
  stop(): Promise<void>;
}

/** A single broker that was started here. Tests can make it fail. */
export interface OwnBroker extends Broker {
  readonly kind: 'container' | 'jvm';
  /** Resolves when the broker has ended. `SIGKILL` is a crash, `SIGTERM` a clean shutdown. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Starts the broker again after its end, on the same port and data. Resolves when it is ready. */
  restart(): Promise<void>;
}

/** @throws TailraceError `local-start-failed`, whose message says what to install or to change */
export async function startBroker(options: BrokerOptions): Promise<Broker | OwnBroker> {
  const given = (options.env['KAFKA_BROKERS'] ?? '').split(',').map((broker) => broker.trim());
  const brokers = given.filter((broker) => broker !== '');
  if (brokers.length > 0) {
    const stop = (): Promise<void> => Promise.resolve();
    return { kind: 'given', brokers, stop, [Symbol.asyncDispose]: stop };
  }
  return startOwnBroker(options);
}

/** As {@link startBroker}, but ignores KAFKA_BROKERS, for tests that make their broker fail. */
export async function startOwnBroker(options: BrokerOptions): Promise<OwnBroker> {
  const keepData = options.dataDir !== undefined;
  const dataDir = resolve(options.dataDir ?? (await mkdtemp(join(tmpdir(), 'tailrace-broker-'))));
  await mkdir(dataDir, { recursive: true });
  const lock = await acquireLock(join(dataDir, 'lock'));
  if ('heldBy' in lock) {
    throw new TailraceError(
      'local-start-failed',
      `The broker's data in ${dataDir} is in use by the running process ${lock.heldBy}. Stop that process first.`,
    );
  }
  const giveBack = async (): Promise<void> => {
    await lock.release();
    if (!keepData) await rm(dataDir, { recursive: true, force: true });
  };

  try {
    const node = await startNode({
      quickStart: false,
      onProgress: () => undefined,
      onDeath: () => undefined,
      signal: new AbortController().signal,
      ...options,
      dataDir,
      keepData,
    });
    const stop = async (): Promise<void> => {
      // Temporary data need not be flushed to disk.
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

async function startNode(options: NodeOptions): Promise<BrokerNode> {
  if (!options.changes && (await dockerAnswers(options.env))) {
    const { startContainer } = await import('./container.ts');
    const container = await startContainer(options);
    if (container !== undefined) return container;
  }
  const missing = await missingForJvm(options.env);
  if (missing === undefined) return startJvm(options);
  throw new TailraceError(
    'local-start-failed',
    `No Kafka is available. Set KAFKA_BROKERS, start a Docker engine, or install ${missing}.`,
  );
}
