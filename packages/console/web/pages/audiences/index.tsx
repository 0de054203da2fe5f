/** The audiences of a source, which the address names: `#/audiences/app`. */
import { useEffect, useState } from 'preact/hooks';
import { api, ask, urlOf, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Action } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { ChoiceField } from '../../parts/field.tsx';
import { formatCount } from '../../parts/format.ts';
import { ErrorNote } from '../../parts/notes.tsx';
import { useList } from '../../lists/pager.tsx';
import { Status } from '../../parts/status.tsx';
import { MainCell, PagedTable, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { go, type PageProps } from '../../url/location.ts';
import { useEntryChoice } from '../../lists/entry-choice.tsx';
import { SendMembers } from './send-members.tsx';
import { Upload } from './upload.tsx';
import { isolated } from '../../text/isolated.ts';

const words = {
  audiencesLead:
    'An audience is a list of users. Each upload is compared with the previous one, and each change is sent as an identify call with a trait.',
  audiencesEmptyLead:
    "Upload a file of user ids (CSV or NDJSON). For each user who joins or leaves, an identify call is sent to the source's destinations.",
};

/** While changes are sent. */
const againMs = 1_000;
type Audience = Schema['Audience'];

export default function Audiences({ steps, query }: PageProps) {
  const { search, error, reload, entries } = useEntryChoice('/v1/sources');
  const sources = entries?.filter(({ builtIn }) => !builtIn);
  // Of several sources none is the right one before it is chosen: an upload to another one reaches other destinations.
  const [source = sources?.length === 1 && !search ? sources[0]?.id : undefined] = steps;
  const choices = sources?.map(({ id, name }) => [id, name ?? id] as const) ?? [];
  // The search may not find the source of the address.
  if (source !== undefined && !choices.some(([id]) => id === source)) choices.unshift([source, source]);
  if (source === undefined) choices.unshift(['', 'Choose a source']);
  return (
    <>
      <PageHead title={text.shell.pages.audiences} lead={words.audiencesLead} />
      <div class="stack">
        <ErrorNote error={error} onRetry={reload} />
        <div class="filters">
          {search}
          {choices.length > 1 || source !== undefined ? (
            <ChoiceField
              label="Source"
              value={source ?? ''}
              onValue={(id) => go(['audiences', id])}
              choices={choices}
            />
          ) : null}
        </div>
        {source !== undefined && (
          <AudiencesOf key={source} source={source} destination={query['destination']} />
        )}
        {sources?.length === 0 && !search && (
          <Card>
            <Empty title="No sources yet" lead="An audience belongs to a source. Create one first." />
          </Card>
        )}
      </div>
    </>
  );
}

interface OfSource {
  readonly source: string;
  /** To which members are sent. */
  readonly destination: string | undefined;
}

function AudiencesOf({ source, destination }: OfSource) {
  const [asked, setAsked] = useState<Audience>();
  const pages = useList('/v1/sources/{id}/audiences', { path: { id: source } });
  const running = pages.items.filter(({ sync }) => sync.state === 'running');
  useEffect(() => {
    if (running.length === 0) return undefined;
    const timer = setTimeout(() => void pages.reload(), againMs);
    return () => clearTimeout(timer);
  }, [JSON.stringify(running), pages.isLoading]);
  return (
    <>
      {may('write') && (
        <Upload source={source} names={pages.items.map(({ name }) => name)} onDone={pages.reload} />
      )}
      <PagedTable
        label={text.shell.pages.audiences}
        columns={columnsOf(source, pages.reload, setAsked)}
        pages={pages}
        keyOf={({ name }) => name}
        empty={<Empty title="No audiences for this source" lead={words.audiencesEmptyLead} />}
      />
      {asked && (
        <SendMembers
          source={source}
          audience={asked}
          destination={destination}
          onClose={() => {
            setAsked(undefined);
            void pages.reload();
          }}
        />
      )}
    </>
  );
}

function Progress({ read, sent, total }: Audience['sync']) {
  if (total === undefined) return <p>{formatCount(read)} lines read</p>;
  return (
    <div class="row">
      <progress class="progress" max={Math.max(1, total)} value={sent} aria-label="Last sync" />
      <span class="numeric small">
        {formatCount(sent)} of {formatCount(total)} changes sent
      </span>
    </div>
  );
}

function membersFile(source: string, name: string): string {
  return urlOf(`/v1/sources/${encodeURIComponent(source)}/audiences/${encodeURIComponent(name)}/members.csv`);
}

function columnsOf(
  source: string,
  onDeleted: () => unknown,
  onSend: (audience: Audience) => void,
): readonly Column<Audience>[] {
  return [
    {
      title: 'Audience and trait',
      kind: 'main',
      cell: (audience) => (
        <MainCell
          below={
            <>
              <Status of={audience.sync.state} />
              {may('write') && (
                <Actions source={source} audience={audience} onDeleted={onDeleted} onSend={onSend} />
              )}
            </>
          }
        >
          {audience.name} <code class="quiet small">{audience.trait}</code>
        </MainCell>
      ),
    },
    {
      title: 'Members',
      kind: 'number',
      cell: ({ name, members }) => (
        <>
          {formatCount(members)}{' '}
          {may('write') && (
            <a href={membersFile(source, name)} title={`Export the members of ${name} as CSV`} download>
              CSV
            </a>
          )}
        </>
      ),
    },
    {
      title: 'Last sync',
      kind: 'wrap',
      cell: ({ sync }) => (
        <>
          <div class="lines">
            <Time at={sync.updatedAt} /> {sync.destination !== undefined && `to ${sync.destination}`}{' '}
            {sync.problem?.message}
          </div>
          {sync.state === 'running' && <Progress {...sync} />}
        </>
      ),
    },
  ];
}

interface ActionsProps {
  readonly source: string;
  readonly audience: Audience;
  readonly onDeleted: () => unknown;
  readonly onSend: (audience: Audience) => void;
}

function Actions({ source, audience, onDeleted, onSend }: ActionsProps) {
  const { name } = audience;
  return (
    <>
      <Button small label={`Send ${name} to a destination`} onClick={() => onSend(audience)}>
        Send to …
      </Button>
      <Action
        small
        kind="danger"
        label={`Delete ${name}`}
        question={{
          title: `Delete the audience ${isolated(name)}?`,
          message:
            'All members leave: an identify call is sent for each. This cannot be undone. To keep the members, export them first.',
        }}
        request={() => {
          const params = { path: { id: source, name } };
          return ask(api.DELETE('/v1/sources/{id}/audiences/{name}', { params }));
        }}
        done="Deleting the audience."
        after={onDeleted}
      >
        Delete
      </Action>
    </>
  );
}
