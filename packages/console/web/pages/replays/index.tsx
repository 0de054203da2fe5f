import { useState } from 'preact/hooks';
import type { Schema } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { formatCount } from '../../parts/format.ts';
import { Reason } from '../../parts/status.tsx';
import { MainCell, Table, type Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { ExportLink } from '../../lists/export-link.tsx';
import { hrefOf, type PageProps } from '../../url/location.ts';
import { ReplayDialog } from './dialog.tsx';
import { Replays } from './list.tsx';
import { SendEvents } from './send-events.tsx';

const words = {
  summary: 'By destination and reason',
  omitted: (shown: number, omitted: string) =>
    `Showing the ${shown} largest. ${omitted} more are not listed. Open a destination to see its dead letters.`,
};

type Row = Schema['SummariseDeadLettersAnswer']['items'][number];

interface Asked {
  readonly destination: string;
  readonly reason: string;
}

/** More rows would hold the browser. */
const maxRows = 100;

export default function ReplaysPage({ steps, query }: PageProps) {
  return steps[0] === '+events' ? <SendEvents query={query} /> : <DeadLetters query={query} />;
}

function DeadLetters({ query }: Pick<PageProps, 'query'>) {
  const { destination, reason, since } = query;
  const [asked, setAsked] = useState<Asked>();
  const summary = useGet('/v1/dead-letters/summary', {
    query: { destination, reason, since, limit: maxRows },
  });
  const replays = useGet('/v1/replays', { query: { limit: 20 } }, { everyMs: 1_500 });
  const omitted = summary.data?.omitted ?? 0;
  const columns: readonly Column<Row>[] = [
    {
      // With the actions, which stay in sight on a phone.
      title: 'Destination and reason',
      kind: 'main',
      cell: (row) => (
        <MainCell below={<Actions row={row} onReplay={setAsked} />}>
          {row.destinationId === undefined ? (
            '–'
          ) : (
            <a href={hrefOf(['destinations', row.destinationId])}>{row.destinationId}</a>
          )}
          : <Reason of={row.reason} />
        </MainCell>
      ),
    },
    { title: 'Dead letters', kind: 'number', cell: ({ deadLetters }) => formatCount(deadLetters) },
    { title: 'Replayed', kind: 'number', cell: ({ replayed }) => formatCount(replayed) },
    { title: 'Latest', cell: ({ newestAt }) => <Ago at={newestAt} /> },
  ];
  return (
    <div class="stack wide">
      <PageHead
        title={text.shell.pages.replays}
        lead="Deliveries that failed permanently. Fix the cause, then replay them."
      >
        <ExportLink path="/v1/dead-letters.csv" query={{ destination, reason, since }} />
      </PageHead>
      <Card title={words.summary} flush>
        <Table
          label={words.summary}
          items={summary.data?.items}
          error={summary.error}
          onRetry={summary.reload}
          keyOf={(row) => `${row.destinationId ?? ''} ${row.reason ?? ''}`}
          empty={
            <Empty title="No dead letters" lead="Every delivery was accepted or is still being retried." />
          }
          columns={columns}
        />
        {omitted > 0 && <p class="list-foot quiet small">{words.omitted(maxRows, formatCount(omitted))}</p>}
      </Card>
      {/* After the summary, which would move it. */}
      {(summary.data ?? summary.error) && (
        <Card title="Replays" flush>
          <Replays resource={replays} onEnd={summary.reload} />
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

function Actions({ row, onReplay }: { readonly row: Row; readonly onReplay: (asked: Asked) => void }) {
  const { destinationId: destination, reason = '', deadLetters, replayed, replayable } = row;
  return (
    <>
      <a href={hrefOf(['deliveries'], { status: 'dead', destination })}>Deliveries</a>
      {may('write') && replayable && deadLetters > replayed && destination !== undefined && (
        <Button small onClick={() => onReplay({ destination, reason })}>
          Replay …
        </Button>
      )}
    </>
  );
}
