/** Everything about one user: what was sent for them and what was not, and whether they are suppressed. */
import type { Schema } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { isLimited } from '../../api/session.ts';
import { useList } from '../../lists/pager.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Ask } from '../../parts/ask.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { ErrorNote } from '../../parts/notes.tsx';
import { Reason, Status } from '../../parts/status.tsx';
import { PagedTable, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';

const limit = 20;
const notFound = 404;

const eventColumn = <Item extends { readonly event?: string; readonly type: string }>(
  linkOf: (item: Item) => string,
): Column<Item> => ({
  title: 'Event',
  kind: 'wrap',
  cell: (item) => (
    <a class="row-link" href={linkOf(item)}>
      {item.event ?? item.type}
    </a>
  ),
});

const deliveryColumns: readonly Column<Schema['Delivery']>[] = [
  { title: 'Time', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Status', cell: ({ status }) => <Status of={status} /> },
  eventColumn(({ deliveryId }) => hrefOf(['deliveries', deliveryId])),
  { title: 'Source', cell: ({ sourceId }) => sourceId },
  { title: 'Destination', cell: ({ destinationId }) => destinationId },
];

const filteredColumns: readonly Column<Schema['FilteredEvent']>[] = [
  { title: 'Time', cell: ({ decidedAt }) => <Time at={decidedAt} /> },
  { title: 'Reason', kind: 'wrap', cell: ({ reason }) => <Reason of={reason} /> },
  eventColumn(({ eventId }) => hrefOf(['why', eventId])),
  { title: 'Source', cell: ({ sourceId }) => sourceId },
  { title: 'Destination', cell: ({ destinationId }) => destinationId ?? 'none' },
];

export default function UsersPage({ steps }: PageProps) {
  const [id = ''] = steps;
  return (
    <div class="stack">
      <PageHead
        title={text.shell.pages.users}
        lead="Enter a user id to see the deliveries and filtered events of that user."
      />
      <Ask
        page="users"
        id={id}
        label="User id"
        hint="The exact userId, or the anonymousId of calls without one."
        action="Show"
      />
      {id === '' ? <Empty title="What happened to a user's events?" /> : <User key={id} id={id} />}
    </div>
  );
}

function User({ id }: { readonly id: string }) {
  const deliveries = useList('/v1/deliveries', { query: { userId: id, limit } });
  return (
    <>
      {!isLimited.value && <Suppression id={id} />}
      <section class="stack" aria-label={text.shell.pages.deliveries}>
        <div class="row spread">
          <h2>{text.shell.pages.deliveries}</h2>
          <LinkButton small href={hrefOf(['deliveries'], { user: id })}>
            Search deliveries
          </LinkButton>
        </div>
        <PagedTable
          label="Deliveries of the user"
          columns={deliveryColumns}
          pages={deliveries}
          keyOf={({ deliveryId }) => deliveryId}
          empty={<Empty title="No deliveries" />}
        />
      </section>
      {/* After the deliveries, which would move it. */}
      {(!deliveries.isFirst || deliveries.error) && <Filtered id={id} />}
    </>
  );
}

function Suppression({ id }: { readonly id: string }) {
  const { data, error, reload } = useGet('/v1/suppressions/{userId}', { path: { userId: id } });
  if (error && error.status !== notFound) return <ErrorNote error={error} onRetry={reload} />;
  return (
    <Card title="Suppression">
      {data ? (
        <p>
          Suppressed since <Time at={data.since} />. Events are not delivered.
        </p>
      ) : (
        <p class="quiet" aria-busy={!error}>
          {error ? 'Not suppressed.' : 'Loading …'}
        </p>
      )}
    </Card>
  );
}

function Filtered({ id }: { readonly id: string }) {
  const pages = useList('/v1/decisions', { query: { userId: id, limit } });
  return (
    <section class="stack" aria-label={text.shell.pages.filtered}>
      <div class="row spread">
        <h2>{text.shell.pages.filtered}</h2>
        <LinkButton small href={hrefOf(['filtered'], { user: id })}>
          Search filtered events
        </LinkButton>
      </div>
      <PagedTable
        label="Filtered events of the user"
        columns={filteredColumns}
        pages={pages}
        keyOf={({ eventId, decidedAt, sourceId, destinationId }) =>
          [eventId, decidedAt, sourceId, destinationId].join(' ')
        }
        empty={<Empty title="No filtered events" />}
      />
    </section>
  );
}
