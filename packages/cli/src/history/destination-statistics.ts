/** `tailrace get stats` and `get failures`: the attempts of a destination by outcome, and its failures by reason. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import type { Run } from '../command.ts';
import { countOf, formatCount, printable, table } from '../terminal/table.ts';
import { periodOf } from '../terminal/times.ts';
import { attemptLines } from './attempt-line.ts';

interface StatsValues {
  readonly id: string;
  readonly since?: string;
  readonly until?: string;
  readonly step?: string;
}

export const getStats: Run<StatsValues> = async ({ id, since, until, step }, context) => {
  const query = { ...periodOf({ since, until }), step };
  const stats = await openApi(context).get<Schema['GetDestinationStatsAnswer']>(
    pathOf('destinations', id, 'stats'),
    query,
  );
  const rows = [...stats.items.map((item) => rowOf(item.at, item)), rowOf('total', stats.total)];
  const head = ['AT', 'ATTEMPTS', 'DELIVERED', 'RETRIED', 'DEAD', 'P50', 'P95', 'P99'];
  return {
    text: [
      ...table([head, ...rows]),
      printable(`${stats.destinationId} from ${stats.since} to ${stats.until}, in steps of ${stats.step}.`),
    ],
    json: stats,
  };
};

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

export const getFailures: Run<{ readonly id: string; readonly since?: string }> = async (
  { id, since },
  context,
) => {
  const path = pathOf('destinations', id, 'failures');
  const query = { since: periodOf({ since }).since };
  const { items } = await openApi(context).get<Schema['GetDestinationFailuresAnswer']>(path, query);
  const text = items.flatMap(({ reason, count, dead, firstAt, lastAt, samples }) => [
    `${reason}: ${countOf(count, 'attempt')}, ${countOf(dead, 'dead letter')}, from ${firstAt} to ${lastAt}`,
    ...samples.flatMap((sample) => [
      `  delivery ${sample.deliveryId}`,
      ...attemptLines(sample).map((line) => `  ${line}`),
    ]),
  ]);
  return {
    text: [...text.map(printable), `${countOf(items.length, 'reason')}.`],
    json: { items },
  };
};
