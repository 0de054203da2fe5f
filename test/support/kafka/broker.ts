/**
 * Brokers for tests. test/run.ts, which the npm scripts use, starts one broker for all files and sets KAFKA_BROKERS.
 * A file that is run alone starts its own broker, which ends with the process. Each test uses its own topics and groups.
 */
import { startBroker, startOwnBroker, type Broker, type OwnBroker } from '@tailrace/local';

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
