import { api, ask, type Schema } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { Action } from '../../parts/action.tsx';
import { Card, PageHead, PageOfEntry } from '../../parts/card.tsx';
import { Facts } from '../../parts/facts.tsx';
import { formatCount } from '../../parts/format.ts';
import { Status } from '../../parts/status.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

const words = {
  unaffectedReasons: { disabled: 'the source is disabled', 'no-destination': 'no destination is connected' },
  liftMessage:
    "The users' earlier events can be sent again, for example by a replay. Data that receivers have deleted stays deleted.",
};

const everyMs = 3_000;
type Row = Schema['Deletion']['sources'][number];

const count = (value: number | undefined): string => (value === undefined ? '–' : formatCount(value));

const columns: readonly Column<Row>[] = [
  { title: 'Source', cell: ({ sourceId }) => sourceId },
  { title: 'Destinations', kind: 'wrap', cell: ({ destinations }) => destinations.join(', ') },
  { title: 'Sent', kind: 'number', cell: ({ sent }) => count(sent) },
  { title: 'Delivered', kind: 'number', cell: ({ delivered }) => count(delivered) },
  { title: 'Pending', kind: 'number', cell: ({ waiting }) => count(waiting) },
  { title: 'Dead', kind: 'number', cell: ({ dead }) => count(dead) },
];

/** A deletion request with its progress at each source. */
export function DeletionPage({ id }: { readonly id: string }) {
  const params = { path: { id } };
  const { data, error, reload } = useGet('/v1/deletions/{id}', params, { everyMs });
  if (!data) return <PageOfEntry title={id} error={error} onRetry={reload} />;
  const moment = (at: string | undefined) => at !== undefined && <Time at={at} />;
  return (
    <div class="stack">
      <PageHead title={id} lead={<Status of={data.state} />}>
        {may('write') && data.liftedAt === undefined && (
          <Action
            kind="danger"
            question={{ title: 'Lift the deletion of these users?', message: words.liftMessage }}
            request={() => ask(api.POST('/v1/deletions/{id}/lift', { params }))}
            done="Deletion lifted."
            after={reload}
          >
            Lift deletion
          </Action>
        )}
      </PageHead>
      <Card>
        <Facts
          of={[
            ['Users', formatCount(data.users)],
            ['Created', <Time at={data.createdAt} both />],
            ['Updated', moment(data.updatedAt)],
            ['Lifted', moment(data.liftedAt)],
            [
              'Unaffected sources',
              data.unaffected.length > 0 &&
                data.unaffected.map(({ sourceId, reason }) => (
                  <div key={sourceId}>
                    {sourceId}: {words.unaffectedReasons[reason]}
                  </div>
                )),
            ],
          ]}
        />
      </Card>
      <Card flush>
        <Table
          label="Source"
          columns={columns}
          items={data.sources}
          keyOf={({ sourceId }) => sourceId}
          empty={null}
        />
      </Card>
    </div>
  );
}
