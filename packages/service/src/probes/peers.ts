/**
 * Whether this replica alone cannot reach Kafka: its check has failed three times in a row, by which time an outage would show
 * everywhere, and the same check passes in another replica. If it passes in none, or none answers, the replica may be as good as
 * any, so this is no reason to send requests elsewhere.
 */
import { lookup } from 'node:dns/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { CheckReport, Health, HealthCheck } from './health.ts';
import type { Readiness } from './server.ts';

/** The name and the metrics port of all replicas, this one included. */
export interface Peers {
  readonly host: string;
  readonly port: number;
}

/** Looks at the check are 5 s apart, and its results at most 8 s old. */
const failuresBefore = 3;
const answerTimeoutMs = 2_000;

/** A check that fails while the check `name` of `health` fails in this replica alone. */
export function aloneWithout(name: string, health: Pick<Health, 'checks'>, peers: Peers): HealthCheck {
  const isOf = (checks: readonly CheckReport[], wanted: boolean): boolean =>
    checks.some((check) => check.name === name && check.ok === wanted);
  const passesAt = async (address: string, family: number): Promise<void> => {
    const host = family === 6 ? `[${address}]` : address;
    const signal = AbortSignal.timeout(answerTimeoutMs);
    const response = await fetch(`http://${host}:${peers.port}/readyz`, { signal });
    const { checks } = (await response.json()) as Readiness;
    if (!isOf(checks, true)) throw new Error('it fails there too');
  };
  const passesElsewhere = async (): Promise<boolean> => {
    try {
      const addresses = await lookup(peers.host, { all: true });
      await Promise.any(addresses.map(({ address, family }) => passesAt(address, family)));
      return true;
    } catch {
      return false;
    }
  };
  let failures = 0;
  return async () => {
    failures = isOf(health.checks, false) ? failures + 1 : 0;
    if (failures < failuresBefore) return;
    const late = wait(answerTimeoutMs, false, { ref: false });
    if (await Promise.race([passesElsewhere(), late])) {
      throw new Error(`the check ${name} fails in this replica and passes in another one`);
    }
  };
}
