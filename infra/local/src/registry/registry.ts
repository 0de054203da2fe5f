/**
 * A schema registry with Confluent's interface: Apicurio Registry on the local JVM, on loopback. It stores its
 * schemas only in the given Kafka.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment, Progress } from '../broker/node.ts';
import { resolveRegistry } from './distribution.ts';
import { startFailure } from '../failure.ts';
import { endKept, hasEnded, spawnKept, withoutOptimiser } from '../keeper.ts';
import { freePort, loopback } from '../ports.ts';

export interface RegistryOptions {
  readonly env: Environment;
  /** Bootstrap servers of a Kafka without authentication. */
  readonly brokers: readonly string[];
  /** The prefix of the topics for its schemas, which it creates. */
  readonly topicPrefix: string;
  /** The preferred port. Another free port is used if it is taken. */
  readonly port?: number;
  readonly quickStart?: boolean;
  readonly onProgress?: Progress;
  /** Cancels the start. */
  readonly signal?: AbortSignal;
}

/** A registry that is ready. */
export interface LocalRegistry extends AsyncDisposable {
  /** The value for SCHEMA_REGISTRY_URL. */
  readonly url: string;
  /** Stops the registry. Safe to call twice. */
  stop(): Promise<void>;
}

const startTimeoutMs = 90_000;
const pollMs = 100;

/** @throws TailraceError `local-start-failed`, with what to do about it */
export async function startRegistry(options: RegistryOptions): Promise<LocalRegistry> {
  const { env, brokers, topicPrefix, quickStart = false } = options;
  const { onProgress: progress = () => undefined, signal = new AbortController().signal } = options;
  const jar = await resolveRegistry({ env, progress, signal });
  const port = await freePort(options.port);
  const url = `http://${loopback}:${port}/apis/ccompat/v7`;
  const directory = await mkdtemp(join(tmpdir(), 'tailrace-registry-'));
  const logFile = join(directory, 'registry.log');

  progress('starting the schema registry');
  const child = await spawnKept({
    args: [...(quickStart ? withoutOptimiser : []), '-Xmx512m', '-Djava.awt.headless=true', '-jar', jar],
    env: {
      ...env,
      APICURIO_STORAGE_KIND: 'kafkasql',
      APICURIO_KAFKASQL_BOOTSTRAP_SERVERS: brokers.join(','),
      APICURIO_KAFKASQL_TOPIC: `${topicPrefix}registry`,
      APICURIO_KAFKASQL_SNAPSHOTS_TOPIC: `${topicPrefix}registry.snapshots`,
      APICURIO_EVENTS_KAFKA_TOPIC: `${topicPrefix}registry.events`,
      // The wait for an empty journal before the first response. Default 5 s.
      APICURIO_KAFKASQL_CONSUMER_POLL_TIMEOUT: '100',
      QUARKUS_HTTP_HOST: loopback,
      QUARKUS_HTTP_PORT: String(port),
    },
    cwd: directory,
    logFile,
    remove: directory,
  });
  const end = async (): Promise<void> => {
    // The registry has no state to flush.
    await endKept(child, 'SIGKILL');
    await rm(directory, { recursive: true, force: true });
  };

  const deadline = Date.now() + startTimeoutMs;
  while (!(await answers(url))) {
    if (!hasEnded(child) && Date.now() < deadline && !signal.aborted) {
      await sleep(pollMs);
      continue;
    }
    const cause = hasEnded(child) ? 'over' : 'late';
    const failure = await startFailure(cause, logFile, 'Apicurio Registry');
    await end();
    signal.throwIfAborted();
    throw failure;
  }
  let ending: Promise<void> | undefined;
  const stop = (): Promise<void> => (ending ??= end());
  return { url, stop, [Symbol.asyncDispose]: stop };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/subjects`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
