import { api, ask, type Schema } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Card, PageHead, PageOfEntry } from '../../parts/card.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { formatCount } from '../../parts/format.ts';
import { attempt } from '../../parts/notes.tsx';
import { Status } from '../../parts/status.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';

const words = text.people;
const everyMs = 3_000;
type Row = Schema['Deletion']['sources'][number];

const count = (value: number | undefined): string => (value === undefined ? '–' : formatCount(value));

const columns: readonly Column<Row>[] = [
  { title: words.source, cell: ({ sourceId }) => sourceId },
  { title: words.destinations, kind: 'wrap', cell: ({ destinations }) => destinations.join(', ') },
  { title: words.sent, kind: 'number', cell: ({ sent }) => count(sent) },
  { title: words.delivered, kind: 'number', cell: ({ delivered }) => count(delivered) },
  { title: words.waiting, kind: 'number', cell: ({ waiting }) => count(waiting) },
  { title: words.dead, kind: 'number', cell: ({ dead }) => count(dead) },
];

/** A deletion request with its progress at each source. */
export function DeletionPage({ id }: { readonly id: string }) {
  const params = { path: { id } };
  const { data, error, reload } = useResource(
    `deletion ${id}`,
    (signal) => ask(api.GET('/v1/deletions/{id}', { signal, params })),
    { everyMs },
  );
  if (!data) return <PageOfEntry title={id} error={error} onRetry={reload} />;
  const lift = async (): Promise<void> => {
    const asked = { title: words.liftTitle, message: <p>{words.liftMessage}</p>, action: words.lift };
    if (!(await confirmed({ ...asked, danger: true }))) return;
    await attempt(() => ask(api.POST('/v1/deletions/{id}/lift', { params })), words.lifted);
    await reload();
  };
  return (
    <div class="stack">
      <PageHead title={id} lead={<Status of={data.state} />}>
        {may('write') && data.liftedAt === undefined && (
          <Button kind="danger" onClick={lift}>
            {words.lift}
          </Button>
        )}
      </PageHead>
      <Card>
        <dl class="facts">
          <dt>{words.users}</dt>
          <dd>{formatCount(data.users)}</dd>
          <dt>{words.created}</dt>
          <dd>
            <Time at={data.createdAt} both />
          </dd>
          <dt>{words.updated}</dt>
          <dd>
            <Time at={data.updatedAt} both />
          </dd>
          {data.liftedAt !== undefined && (
            <>
              <dt>{words.liftedAt}</dt>
              <dd>
                <Time at={data.liftedAt} both />
              </dd>
            </>
          )}
          {data.unaffected.length > 0 && (
            <>
              <dt>{words.unaffected}</dt>
              <dd>
                {data.unaffected.map(({ sourceId, reason }) => (
                  <div key={sourceId}>
                    {sourceId}: {words.unaffectedReasons[reason]}
                  </div>
                ))}
              </dd>
            </>
          )}
        </dl>
      </Card>
      <Card flush>
        <Table
          label={words.source}
          columns={columns}
          items={data.sources}
          keyOf={({ sourceId }) => sourceId}
          empty={null}
        />
      </Card>
    </div>
  );
}
