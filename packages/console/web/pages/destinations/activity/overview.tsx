/** The numbers of a destination over time, and its pending deliveries. */
import type { Schema } from '../../../api/client.ts';
import { useLiveReload } from '../../../api/live.ts';
import { useGet } from '../../../api/resource.ts';
import { Card } from '../../../parts/card.tsx';
import { ChartCard } from '../../../charts/chart-card.tsx';
import { formatCount, formatDuration, formatShare, isBadRate } from '../../../parts/format.ts';
import { ErrorNote } from '../../../parts/notes.tsx';
import type { Destination } from '../draft.ts';
import { Pending } from './pending.tsx';
import { RangeChoice, rangeOf } from './range.tsx';

const everyMs = 10_000;
const success = 'Success rate';
type Stats = Schema['GetDestinationStatsAnswer'];

interface OverviewProps {
  readonly destination: Destination;
  readonly query: Readonly<Record<string, string>>;
}

export function DestinationOverview({ destination, query }: OverviewProps) {
  const { id } = destination;
  const since = rangeOf(query['range']);
  const params = { path: { id }, query: { since } };
  const { data, error, reload } = useGet('/v1/destinations/{id}/stats', params, { everyMs });
  useLiveReload(reload);
  return (
    <div class="stack">
      <RangeChoice current={since} />
      <ErrorNote error={error} onRetry={reload} />
      <Numbers total={data?.total} />
      <div class="columns">
        <Charts stats={data} />
      </div>
      <Pending destination={destination} />
    </div>
  );
}

function Numbers({ total }: { readonly total: Stats['total'] | undefined }) {
  const { delivered = 0, retry = 0, dead = 0, attempts = 0, latencyMs = {} } = total ?? {};
  const { p50, p99 } = latencyMs;
  const show = (value: string): string => (total ? value : '–');
  const latency = (ms: number | undefined): string => (ms === undefined ? '–' : formatDuration(ms));
  const entries: readonly (readonly [string, string])[] = [
    ['Delivered', show(formatCount(delivered))],
    ['Retrying', show(formatCount(retry))],
    ['Dead', show(formatCount(dead))],
    [success, show(formatShare(delivered, attempts))],
    ['Latency (p50)', latency(p50)],
    ['Latency (p99)', latency(p99)],
  ];
  return (
    <Card>
      <dl class="totals">
        {entries.map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd class={title === success && isBadRate(delivered, attempts) ? 'rate bad' : undefined}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** Without statistics, the place that the charts will take. */
function Charts({ stats }: { readonly stats: Stats | undefined }) {
  if (!stats) {
    return ['Attempts by outcome', 'Latency over time', 'Pending over time'].map((title) => (
      <Card key={title} title={title}>
        <div class="skeleton chart-skeleton" aria-busy="true" />
      </Card>
    ));
  }
  const times = stats.backlog.map(({ at }) => Date.parse(at));
  const pending = stats.backlog.map(({ deliveries }) => deliveries);
  const byTime = new Map(stats.items.map((item) => [Date.parse(item.at), item]));
  const count = (name: 'delivered' | 'retry' | 'dead'): number[] =>
    times.map((at) => byTime.get(at)?.[name] ?? 0);
  const latency = (name: 'p50' | 'p99'): (number | null)[] =>
    times.map((at) => byTime.get(at)?.latencyMs[name] ?? null);
  return (
    <>
      <ChartCard
        title="Attempts by outcome"
        times={times}
        series={[
          { label: 'Delivered', tone: 'good', isArea: true, values: count('delivered') },
          { label: 'Retrying', tone: 'warning', values: count('retry') },
          { label: 'Dead', tone: 'bad', values: count('dead') },
        ]}
      />
      <ChartCard
        title="Latency over time"
        times={times}
        format={formatDuration}
        series={[
          { label: 'p50', tone: 'accent', values: latency('p50') },
          { label: 'p99', tone: 'warning', values: latency('p99') },
        ]}
      />
      <ChartCard
        title="Pending over time"
        times={times}
        series={[{ label: 'Pending deliveries', tone: 'accent', isArea: true, values: pending }]}
      />
    </>
  );
}
