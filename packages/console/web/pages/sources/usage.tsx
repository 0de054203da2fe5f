/** The calls of a source by day. */
import type { Schema } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { Card, Empty } from '../../parts/card.tsx';
import { ChartCard } from '../../charts/chart-card.tsx';
import { formatCount } from '../../parts/format.ts';
import { ErrorNote } from '../../parts/notes.tsx';
import { Table, type Column } from '../../parts/table.tsx';

const columns: readonly Column<Schema['UsageDay']>[] = [
  { title: 'Day (UTC)', cell: ({ day }) => day },
  { title: 'Calls', kind: 'number', cell: ({ calls }) => formatCount(calls) },
  { title: 'Blocked calls', kind: 'number', cell: ({ filtered }) => formatCount(filtered) },
  ...(['track', 'identify', 'page', 'screen', 'group', 'alias', 'delete'] as const).map(
    (type): Column<Schema['UsageDay']> => ({
      title: type,
      kind: 'number',
      cell: ({ byType }) => formatCount(byType[type] ?? 0),
    }),
  ),
];

export function Usage({ id }: { readonly id: string }) {
  const { data, error, reload } = useGet('/v1/sources/{id}/usage', { path: { id } });
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (!data) return <div class="skeleton page-skeleton" aria-busy="true" />;
  const days = data.items;
  return (
    <div class="stack">
      <p class="quiet">The last 90 days, in UTC.</p>
      {days.length > 0 && (
        <ChartCard
          title="Calls by day"
          isByDay
          times={days.map(({ day }) => Date.parse(day))}
          series={[
            { label: 'Calls', tone: 'accent', values: days.map(({ calls }) => calls) },
            { label: 'Blocked calls', tone: 'warning', values: days.map(({ filtered }) => filtered) },
          ]}
        />
      )}
      <Card flush>
        <Table
          label="Calls by day"
          columns={columns}
          items={days.toReversed()}
          keyOf={({ day }) => day}
          empty={<Empty title="No calls yet" lead="Calls appear here by day and type." />}
        />
      </Card>
    </div>
  );
}
