/**
 * Brokers for tests. `npm run test:integration` and its sisters go through test/run.ts, which starts one
 * broker for all files and names it in KAFKA_BROKERS; a file that is run on its own starts its own, which
 * ends with the process. Tests keep out of each other's way by topics and groups of their own.
 */
import { startBroker, startOwnBroker, type Broker, type OwnBroker } from '@tailrace/local';

let shared: Promise<Broker> | undefined;

/** The broker that the files of a test run share. Not to be stopped or broken. */
export function sharedBroker(): Promise<Broker> {
  shared ??= startBroker({ env: process.env, quickStart: true });
  return shared;
}

/** A broker of the test's own, empty, that it may kill and restart; `await using` ends it. */
export function ownBroker(): Promise<OwnBroker> {
  return startOwnBroker({ env: process.env, quickStart: true });
}
