import type { Schema } from '../../api/client.ts';
import { ChartCard } from '../../charts/chart-card.tsx';
import { formatDuration } from '../../parts/format.ts';
import { go } from '../../url/location.ts';

const minuteMs = 60_000;

/** Dragging over a chart chooses its period. */
function choose(since: number, until: number): void {
  const instant = (ms: number, round: (minutes: number) => number): string =>
    new Date(round(ms / minuteMs) * minuteMs).toISOString();
  go([], { since: instant(since, Math.floor), until: instant(until, Math.ceil) });
}

export function FlowCharts({ overview }: { readonly overview: Schema['Overview'] | undefined }) {
  const items = overview?.items ?? [];
  const times = items.map(({ at }) => Date.parse(at));
  const latency = (name: 'p50' | 'p99') => items.map(({ attempts }) => attempts.latencyMs[name] ?? null);
  const delivered = items.map((item) => item.delivered);
  return (
    <div class="columns">
      <ChartCard
        title="Deliveries over time"
        times={times}
        onRange={choose}
        series={[
          { label: 'Delivered', tone: 'good', isArea: true, values: delivered },
          { label: 'Retrying', tone: 'warning', values: items.map(({ retrying }) => retrying) },
          { label: 'Dead', tone: 'bad', values: items.map(({ dead }) => dead) },
        ]}
      />
      <ChartCard
        title="Latency over time"
        times={times}
        onRange={choose}
        format={formatDuration}
        series={[
          { label: 'p50', tone: 'accent', values: latency('p50') },
          { label: 'p99', tone: 'warning', values: latency('p99') },
        ]}
      />
    </div>
  );
}
