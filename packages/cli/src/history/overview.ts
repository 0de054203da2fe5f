/** `tailrace get overview` and `get pending`: the flow of all events with the reason of each exit, and what deliveries wait for. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import type { Run } from '../command.ts';
import { countOf, formatCount, printable, table } from '../terminal/table.ts';
import { periodOf } from '../terminal/times.ts';

interface Values {
  readonly since?: string;
  readonly until?: string;
}

export const getOverview: Run<Values> = async ({ since, until }, context) => {
  const overview = await openApi(context).get<Schema['Overview']>(
    pathOf('overview'),
    periodOf({ since, until }),
  );
  const { total, before, pending, deadLetters, breakers } = overview;
  const reasonsOf = (label: string, kind: 'filtered' | 'deadReasons'): string[][] =>
    total[kind].map(({ reason, count }) => {
      const earlier = before[kind].find((one) => one.reason === reason)?.count ?? 0;
      return [`  ${label}: ${reason}`, formatCount(count), formatCount(earlier)];
    });
  const row = (
    label: string,
    name: Exclude<keyof Schema['Flow'], 'filtered' | 'deadReasons' | 'attempts'>,
  ): string[] => {
    // A control service of the release before does not count all of them.
    const flows: readonly Partial<Schema['Flow']>[] = [total, before];
    return [label, ...flows.map((flow) => formatCount(flow[name] ?? 0))];
  };
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
    row('outcome unknown', 'unknown'),
  ];
  return {
    text: [
      ...table(rows),
      '',
      ...pendingLines(pending),
      ...breakers.map(({ destinationId, deliveries }) =>
        printable(`${destinationId}: its circuit breaker is open, ${countOf(deliveries, 'delivery')} wait.`),
      ),
      `${countOf(deadLetters, 'dead letter')} not replayed.`,
      printable(`From ${overview.since} to ${overview.until}, and the same time before.`),
    ],
    json: overview,
  };
};

export const getPending: Run<{ readonly id: string }> = async ({ id }, context) => {
  const path = pathOf('destinations', id, 'pending');
  const found = await openApi(context).get<Schema['DestinationPending']>(path);
  const { nextDueAt, openSince } = found;
  return {
    text: [
      ...pendingLines(found.items),
      ...(openSince === undefined ? [] : [`A circuit breaker is open since ${printable(openSince)}.`]),
      ...(nextDueAt === undefined ? [] : [`The next attempt is due at ${printable(nextDueAt)}.`]),
    ],
    json: found,
  };
};

function pendingLines(items: readonly Schema['PendingDeliveries'][]): string[] {
  if (items.length === 0) return ['0 pending deliveries.'];
  const rows = items.map(({ tier = '-', reason = '-', deliveries }) => [
    tier,
    reason,
    formatCount(deliveries),
  ]);
  return table([['TIER', 'REASON', 'PENDING'], ...rows]);
}
