import type { Schema } from '../../api/client.ts';
import { Card } from '../../parts/card.tsx';
import { Chart } from '../../charts/chart.tsx';
import { formatDuration } from '../../parts/format.ts';
import { text } from '../../text/index.ts';
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
  return (
    <div class="columns">
      <Card title={text.overview.outcomes}>
        <Chart
          label={text.overview.outcomes}
          times={times}
          onRange={choose}
          series={[
            {
              label: text.status.delivered,
              tone: 'good',
              values: items.map(({ delivered }) => delivered),
              isArea: true,
            },
            { label: text.status.retrying, tone: 'warning', values: items.map(({ retrying }) => retrying) },
            { label: text.status.dead, tone: 'bad', values: items.map(({ dead }) => dead) },
          ]}
        />
      </Card>
      <Card title={text.overview.latency}>
        <Chart
          label={text.overview.latency}
          times={times}
          onRange={choose}
          format={formatDuration}
          series={[
            {
              label: 'p50',
              tone: 'accent',
              values: items.map(({ attempts }) => attempts.latencyMs.p50 ?? null),
            },
            {
              label: 'p99',
              tone: 'warning',
              values: items.map(({ attempts }) => attempts.latencyMs.p99 ?? null),
            },
          ]}
        />
      </Card>
    </div>
  );
}
