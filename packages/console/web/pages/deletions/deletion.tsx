import { api, ask, type Schema } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { Action } from '../../parts/action.tsx';
import { Card, PageHead, PageOfEntry } from '../../parts/card.tsx';
import { Facts } from '../../parts/facts.tsx';
import { formatCount } from '../../parts/format.ts';
import { Status } from '../../parts/status.tsx';
import { MainCell, Table, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { hrefOf } from '../../url/location.ts';

const words = {
  unaffectedReasons: { disabled: 'the source is disabled', 'no-destination': 'no destination is connected' },
  liftMessage:
    "The users' earlier events can be sent again, for example by a replay. Data that receivers have deleted stays deleted.",
};

const everyMs = 3_000;
type Source = Schema['Deletion']['sources'][number];

/** A destination of a source. Without the history, its outcomes are not known. */
interface Row {
  readonly sourceId: string;
  readonly sent: number;
  readonly destinationId: string;
  readonly outcomes: Schema['DeletionOutcomes'] | undefined;
}

function rowsOf({ sourceId, sent, destinations, byDestination }: Source): Row[] {
  return destinations.map((destinationId) => {
    const outcomes = byDestination?.find((one) => one.destinationId === destinationId);
    return { sourceId, sent, destinationId, outcomes };
  });
}

type Counts = Pick<Schema['DeletionOutcomes'], 'dead' | 'waiting'>;

/** The worst of what has become of the notifications. */
function stateOf({ dead, waiting }: Counts): string {
  if (dead > 0) return 'dead';
  return waiting > 0 ? 'pending' : 'delivered';
}

function stateOfAll({ state, sources }: Schema['Deletion']): string {
  const known = sources.flatMap(({ byDestination = [] }) => byDestination);
  if (state === 'sending' || known.length === 0) return state;
  const sum = (name: keyof Counts): number => known.reduce((total, one) => total + one[name], 0);
  return stateOf({ dead: sum('dead'), waiting: sum('waiting') });
}

const count = (value: number | undefined): string => (value === undefined ? '–' : formatCount(value));

const columns: readonly Column<Row>[] = [
  {
    title: 'From → to',
    kind: 'main',
    cell: ({ sourceId: source, destinationId: destination, outcomes }) => (
      <MainCell
        below={
          <>
            {outcomes && <Status of={stateOf(outcomes)} />}
            <a href={hrefOf(['deliveries'], { source, destination, type: 'delete' })}>Deliveries</a>
          </>
        }
      >
        {source} → <a href={hrefOf(['destinations', destination])}>{destination}</a>
      </MainCell>
    ),
  },
  { title: 'Sent', kind: 'number', cell: ({ sent }) => count(sent) },
  { title: 'Delivered', kind: 'number', cell: ({ outcomes }) => count(outcomes?.delivered) },
  { title: 'Pending', kind: 'number', cell: ({ outcomes }) => count(outcomes?.waiting) },
  { title: 'Dead', kind: 'number', cell: ({ outcomes }) => count(outcomes?.dead) },
];

/** A deletion request with its progress at each destination. */
export function DeletionPage({ id }: { readonly id: string }) {
  const params = { path: { id } };
  const { data, error, reload } = useGet('/v1/deletions/{id}', params, { everyMs });
  if (!data) return <PageOfEntry title={id} error={error} onRetry={reload} />;
  const moment = (at: string | undefined) => at !== undefined && <Time at={at} />;
  return (
    <div class="stack">
      <PageHead title={id} lead={<Status of={stateOfAll(data)} />}>
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
          label="Destinations"
          columns={columns}
          items={data.sources.flatMap(rowsOf)}
          keyOf={({ sourceId, destinationId }) => `${sourceId} ${destinationId}`}
          empty={null}
        />
      </Card>
    </div>
  );
}
