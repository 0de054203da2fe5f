/**
 * Brokers for tests. test/run.ts, which the npm scripts use, starts one broker for all files and sets KAFKA_BROKERS.
 * A file that is run alone starts its own broker, which ends with the process. Each test uses its own topics and groups.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { startBroker, startOwnBroker, type Broker, type OwnBroker } from '@tailrace/local';
import { dockerAnswers } from '../../../infra/local/src/broker/docker.ts';

let shared: Promise<Broker> | undefined;

/** The broker that the files of a test run share. Tests must not stop it. */
export function sharedBroker(): Promise<Broker> {
  shared ??= startBroker({ env: process.env, quickStart: true });
  return shared;
}

/** An empty broker for one test, which may kill and restart it; `await using` ends it. */
export function ownBroker(): Promise<OwnBroker> {
  return startOwnBroker({ env: process.env, quickStart: true });
}

/** Removes all data in `dataDir` of a broker that has ended. */
export async function discardData(dataDir: string): Promise<void> {
  if (await dockerAnswers(process.env)) {
    const { removeVolume } = await import('../../../infra/local/src/broker/container.ts');
    await removeVolume(path.resolve(dataDir));
  }
  await rm(dataDir, { recursive: true, force: true });
}
