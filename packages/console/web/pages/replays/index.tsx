import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { formatCount } from '../../parts/format.ts';
import { Reason } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';
import { ReplayDialog } from './dialog.tsx';
import { Replays } from './list.tsx';

type Row = Schema['SummariseDeadLettersAnswer']['items'][number];

/** More rows would hold the browser. */
const maxRows = 100;

export default function ReplaysPage({ query }: PageProps) {
  const { destination, reason, since } = query;
  const [asked, setAsked] = useState<{ destination: string; reason: string } | undefined>(undefined);
  const wanted = { destination, reason, since };
  const summary = useResource(JSON.stringify(wanted), (signal) =>
    ask(api.GET('/v1/dead-letters/summary', { params: { query: { ...wanted, limit: maxRows } }, signal })),
  );
  const replays = useResource(
    'replays',
    (signal) => ask(api.GET('/v1/replays', { params: { query: { limit: 20 } }, signal })),
    {
      everyMs: 1_500,
    },
  );
  const omitted = summary.data?.omitted ?? 0;
  const openOf = (row: Row): number => row.deadLetters - row.replayed;
  const columns = [
    {
      title: text.replays.destination,
      cell: ({ destinationId }: Row) =>
        destinationId === undefined ? (
          '–'
        ) : (
          <a href={hrefOf(['destinations', destinationId])}>{destinationId}</a>
        ),
    },
    { title: text.replays.reason, kind: 'wrap' as const, cell: (row: Row) => <Reason of={row.reason} /> },
    { title: text.replays.count, kind: 'number' as const, cell: (row: Row) => formatCount(row.deadLetters) },
    { title: text.replays.replayed, kind: 'number' as const, cell: (row: Row) => formatCount(row.replayed) },
    { title: text.replays.newest, cell: (row: Row) => <Ago at={row.newestAt} /> },
    {
      title: text.replays.show,
      cell: (row: Row) => (
        <span class="row">
          <a href={hrefOf(['deliveries'], { status: 'dead', destination: row.destinationId })}>
            {text.replays.show}
          </a>
          {may('write') && openOf(row) > 0 && row.destinationId !== undefined && (
            <Button
              small
              onClick={() => {
                setAsked({ destination: row.destinationId ?? '', reason: row.reason ?? '' });
              }}
            >
              {text.replays.replay}
            </Button>
          )}
        </span>
      ),
    },
  ];
  return (
    <div class="stack wide">
      <PageHead title={text.shell.pages.replays} lead={text.replays.lead} />
      <Card title={text.replays.summary} flush>
        <Table
          label={text.replays.summary}
          items={summary.data?.items}
          error={summary.error}
          onRetry={() => summary.reload()}
          keyOf={(row) => `${row.destinationId ?? ''} ${row.reason ?? ''}`}
          empty={<Empty title={text.replays.noneDead} lead={text.replays.noneDeadLead} />}
          columns={columns}
        />
        {omitted > 0 && (
          <p class="list-foot quiet small">{text.replays.omitted(maxRows, formatCount(omitted))}</p>
        )}
      </Card>
      {/* After the summary, which would move it. */}
      {(summary.data ?? summary.error) && (
        <Card title={text.replays.running} flush>
          <Replays resource={replays} onEnd={() => summary.reload()} />
        </Card>
      )}
      {asked && (
        <ReplayDialog
          {...asked}
          onClose={() => {
            setAsked(undefined);
            void replays.reload();
            void summary.reload();
          }}
        />
      )}
    </div>
  );
}
