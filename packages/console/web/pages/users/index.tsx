/** Everything about one user: calls, deliveries, filtered events, deletion requests, audiences, and whether they are suppressed. */
import type { ComponentChildren } from 'preact';
import type { Schema } from '../../api/client.ts';
import { isLimited } from '../../api/session.ts';
import { useList } from '../../lists/pager.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Ask } from '../../parts/ask.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { Reason, Status } from '../../parts/status.tsx';
import { MainCell, PagedTable, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { go, hrefOf, type PageProps } from '../../url/location.ts';
import { About } from './about.tsx';
import { UserCalls } from './calls.tsx';

const limit = 20;

const eventColumn = <Item extends { readonly event?: string; readonly type: string }>(
  linkOf: (item: Item) => string,
  below: (item: Item) => ComponentChildren,
): Column<Item> => ({
  title: 'Event',
  kind: 'main',
  cell: (item) => (
    <MainCell below={below(item)}>
      <a class="row-link" href={linkOf(item)}>
        {item.event ?? item.type}
      </a>
    </MainCell>
  ),
});

const deliveryColumns: readonly Column<Schema['Delivery']>[] = [
  eventColumn(
    ({ deliveryId }) => hrefOf(['deliveries', deliveryId]),
    ({ createdAt, status }) => (
      <>
        <Time at={createdAt} />
        <Status of={status} />
      </>
    ),
  ),
  { title: 'Source', cell: ({ sourceId }) => sourceId },
  { title: 'Destination', cell: ({ destinationId }) => destinationId },
];

const filteredColumns: readonly Column<Schema['FilteredEvent']>[] = [
  eventColumn(
    ({ eventId }) => hrefOf(['why', eventId]),
    ({ decidedAt, reason }) => (
      <span class="one-line">
        <Time at={decidedAt} /> <Reason of={reason} />
      </span>
    ),
  ),
  { title: 'Source', cell: ({ sourceId }) => sourceId },
  { title: 'Destination', cell: ({ destinationId }) => destinationId ?? 'none' },
];

export default function UsersPage({ steps }: PageProps) {
  const [id = ''] = steps;
  return (
    <div class="stack">
      <PageHead
        title={text.shell.pages.users}
        lead="Everything about one user: calls, deliveries, filtered events, deletions and audiences."
      />
      <Ask
        id={id}
        label="User id"
        hint="The exact userId, or the anonymousId of calls without one."
        action="Show"
        onAsk={(asked) => go(['users', asked])}
      />
      {id === '' ? <Empty title="Enter a user id" /> : <User key={id} id={id} />}
    </div>
  );
}

function User({ id }: { readonly id: string }) {
  const deliveries = useList('/v1/deliveries', { query: { userId: id, limit } });
  return (
    <>
      {!isLimited.value && <About id={id} />}
      <section class="stack tight" aria-label={text.shell.pages.deliveries}>
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

function Filtered({ id }: { readonly id: string }) {
  const pages = useList('/v1/decisions', { query: { userId: id, limit } });
  const isLoaded = !pages.isFirst || pages.error !== undefined;
  return (
    <>
      <section class="stack tight" aria-label={text.shell.pages.filtered}>
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
      {isLoaded && !isLimited.value && <UserCalls id={id} />}
    </>
  );
}
