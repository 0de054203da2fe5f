/** What fails: one row for each destination and reason, and what is done about it. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { may, session } from '../../api/session.ts';
import { ExportLink } from '../../lists/export-link.tsx';
import { useList } from '../../lists/pager.tsx';
import { SearchForm } from '../../lists/search-form.tsx';
import { Action } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { formatCount } from '../../parts/format.ts';
import { Reason, Status } from '../../parts/status.tsx';
import { MainCell, PagedTable, type Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';
import { MarkDialog, type Asked } from './mark.tsx';

const words = {
  lead: 'Failures by destination and reason. A dismissed issue reopens when it fails again.',
  limited:
    'Issues cover all sources of a destination, so a token that is limited to certain sources cannot view them.',
};

type Issue = Schema['Issue'];

const states = [
  ['', 'any'],
  ['open', 'open'],
  ['acknowledged', 'acknowledged'],
  ['dismissed', 'dismissed'],
] as const;

export default function IssuesPage({ query }: PageProps) {
  if (session.value?.sources !== undefined) {
    return (
      <>
        <PageHead title={text.shell.pages.issues} />
        <Empty title={words.limited} />
      </>
    );
  }
  return <Issues query={query} />;
}

function Issues({ query }: Pick<PageProps, 'query'>) {
  const { destination, state } = query;
  const [asked, setAsked] = useState<Asked>();
  const wanted = { destination, state: state === '' ? undefined : (state as Issue['state'] | undefined) };
  const pages = useList('/v1/issues', { query: wanted });
  return (
    <div class="stack wide">
      <PageHead title={text.shell.pages.issues} lead={words.lead}>
        <ExportLink path="/v1/issues.csv" query={wanted} />
      </PageHead>
      <SearchForm
        label="Search issues"
        query={query}
        choices={[{ name: 'state', label: 'State', values: states }]}
        fields={[{ name: 'destination', label: 'Destination' }]}
      />
      <PagedTable
        label={text.shell.pages.issues}
        columns={columnsOf(setAsked, pages.reload)}
        pages={pages}
        keyOf={({ destinationId, reason }) => `${destinationId} ${reason}`}
        empty={
          <Empty title="No matching issues" lead="Failed attempts and dead letters appear here by reason." />
        }
      />
      {asked && (
        <MarkDialog
          {...asked}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined);
            void pages.reload();
          }}
        />
      )}
    </div>
  );
}

function columnsOf(onAsked: (asked: Asked) => void, onDone: () => unknown): readonly Column<Issue>[] {
  return [
    {
      title: 'Destination and reason',
      kind: 'main',
      cell: (issue) => (
        <MainCell
          below={
            <>
              <Status of={issue.state} />
              {may('write') && <Actions issue={issue} onAsked={onAsked} onDone={onDone} />}
            </>
          }
        >
          <a href={hrefOf(['destinations', issue.destinationId], { tab: 'failures' })}>
            {issue.destinationId}
          </a>
          : <Reason of={issue.reason} />
        </MainCell>
      ),
    },
    { title: 'Note', kind: 'wrap', cell: (issue) => <Said issue={issue} /> },
    { title: 'Failed attempts', kind: 'number', cell: ({ attempts }) => formatCount(attempts) },
    {
      title: 'Dead',
      kind: 'number',
      cell: ({ dead, destinationId: destination, reason }) =>
        dead === 0 ? 0 : <a href={hrefOf(['replays'], { destination, reason })}>{formatCount(dead)}</a>,
    },
    {
      title: 'Latest',
      cell: ({ firstAt, lastAt }) => (
        <>
          <Ago at={lastAt} />
          <div class="quiet small">
            first <Ago at={firstAt} />
          </div>
        </>
      ),
    },
    {
      title: 'Example',
      cell: ({ deliveryId }) =>
        deliveryId !== undefined && (
          <a class="mono" href={hrefOf(['deliveries', deliveryId])}>
            {deliveryId.slice(0, 8)}
          </a>
        ),
    },
  ];
}

/** The note, and who has said when what about the issue. */
function Said({ issue: { state, mark } }: { readonly issue: Issue }) {
  if (!mark) return null;
  return (
    <span class="said">
      {mark.note !== undefined && <>{mark.note} · </>}
      <span class="quiet small">
        {state === 'open' ? 'failed again, ' : ''}
        {mark.state} {mark.by !== undefined && `by ${mark.by} `}
        <Ago at={mark.at} />
      </span>
    </span>
  );
}

interface ActionsProps {
  readonly issue: Issue;
  readonly onAsked: (asked: Asked) => void;
  readonly onDone: () => unknown;
}

function Actions({ issue, onAsked, onDone }: ActionsProps) {
  const { destinationId: id, reason, state } = issue;
  const asks = (wanted: Asked['state'], title: string) => (
    <Button small label={`${title} ${id} ${reason}`} onClick={() => onAsked({ issue, state: wanted })}>
      {title}
    </Button>
  );
  return (
    <>
      {state === 'open' && asks('acknowledged', 'Acknowledge')}
      {state !== 'dismissed' && asks('dismissed', 'Dismiss')}
      {state !== 'open' && (
        <Action
          small
          label={`Reopen ${id} ${reason}`}
          request={() =>
            ask(
              api.PUT('/v1/destinations/{id}/issues/{reason}', {
                params: { path: { id, reason } },
                body: { state: 'open' },
              }),
            )
          }
          done="Reopened."
          after={onDone}
        >
          Reopen
        </Action>
      )}
    </>
  );
}
