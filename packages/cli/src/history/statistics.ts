/** What the history counts, as text: `get overview`, `get pending`, `get stats` and `get failures`. */
import type { Schema } from '@tailrace/api';
import { done } from '../api/show.ts';
import type { Outcome } from '../command.ts';
import { countOf, formatCount, printable, table } from '../terminal/table.ts';
import { attemptLines } from './delivery-text.ts';

/** The flow of all events, with the reason of each exit. */
export function overviewOf(overview: Schema['Overview']): Outcome {
  const { total, before, pending, deadLetters, breakers } = overview;
  // A control service of the release before does not count all of them.
  const flows: readonly Partial<Schema['Flow']>[] = [total, before];
  const reasonsOf = (label: string, kind: 'filtered' | 'deadReasons' | 'canceledReasons'): string[][] =>
    (flows[0]?.[kind] ?? []).map(({ reason, count }) => {
      const earlier = flows[1]?.[kind]?.find((one) => one.reason === reason)?.count ?? 0;
      return [`  ${label}: ${reason}`, formatCount(count), formatCount(earlier)];
    });
  const row = (
    label: string,
    name: Exclude<keyof Schema['Flow'], 'filtered' | 'deadReasons' | 'canceledReasons' | 'attempts'>,
  ): string[] => [label, ...flows.map((flow) => formatCount(flow[name] ?? 0))];
  const rows = [
    ['', 'NOW', 'BEFORE'],
    row('received', 'received'),
    row('  blocked', 'blocked'),
    row('  no destination', 'unconnected'),
    ...reasonsOf('filtered', 'filtered'),
    row('delivered', 'delivered'),
    row('waiting', 'waiting'),
    row('retrying', 'retrying'),
    row('dead', 'dead'),
    ...reasonsOf('dead', 'deadReasons'),
    row('canceled', 'canceled'),
    ...reasonsOf('canceled', 'canceledReasons'),
    row('outcome unknown', 'unknown'),
  ];
  const text = [
    ...table(rows),
    '',
    ...pendingLines(pending),
    ...breakers.map(
      ({ destinationId, deliveries }) =>
        `${destinationId}: its circuit breaker is open, ${countOf(deliveries, 'delivery')} wait.`,
    ),
    `${countOf(deadLetters, 'dead letter')} not replayed.`,
    `From ${overview.since} to ${overview.until}, and the same time before.`,
  ];
  return done(text, overview);
}

/** What deliveries wait for. */
export function pendingOf(pending: Schema['DestinationPending']): Outcome {
  const { items, nextDueAt, openSince } = pending;
  const text = [
    ...pendingLines(items),
    ...(openSince === undefined ? [] : [`A circuit breaker is open since ${openSince}.`]),
    ...(nextDueAt === undefined ? [] : [`The next attempt is due at ${nextDueAt}.`]),
  ];
  return done(text, pending);
}

function pendingLines(items: readonly Schema['PendingDeliveries'][]): string[] {
  if (items.length === 0) return ['0 pending deliveries.'];
  const rows = items.map(({ tier = '-', reason = '-', deliveries }) => [
    tier,
    reason,
    formatCount(deliveries),
  ]);
  return table([['TIER', 'REASON', 'PENDING'], ...rows]);
}

/** The attempts of a destination by outcome. */
export function statsOf(stats: Schema['GetDestinationStatsAnswer']): Outcome {
  const rows = [...stats.items.map((item) => rowOf(item.at, item)), rowOf('total', stats.total)];
  const head = ['AT', 'ATTEMPTS', 'DELIVERED', 'RETRIED', 'DEAD', 'P50', 'P95', 'P99'];
  const { destinationId, since, until, step } = stats;
  const period = `${destinationId} from ${since} to ${until}, in steps of ${step}.`;
  return done([...table([head, ...rows]), period], stats);
}

function rowOf(
  at: string,
  { attempts, delivered, retry, dead, latencyMs }: Schema['AttemptCounts'],
): string[] {
  const counts = [attempts, delivered, retry, dead].map(formatCount);
  const times = [latencyMs.p50, latencyMs.p95, latencyMs.p99].map((ms) =>
    ms === undefined ? '-' : `${Math.round(ms)} ms`,
  );
  return [at, ...counts, ...times];
}

/** The failures of a destination by reason. */
export function failuresOf({ items }: Schema['GetDestinationFailuresAnswer']): Outcome {
  const text = items.flatMap(({ reason, count, dead, firstAt, lastAt, samples }) => [
    printable(
      `${reason}: ${countOf(count, 'attempt')}, ${countOf(dead, 'dead letter')}, from ${firstAt} to ${lastAt}`,
    ),
    ...samples.flatMap((sample) => [
      printable(`  delivery ${sample.deliveryId}`),
      ...attemptLines(sample).map((line) => `  ${line}`),
    ]),
  ]);
  return { text: [...text, `${countOf(items.length, 'reason')}.`], json: { items } };
}
