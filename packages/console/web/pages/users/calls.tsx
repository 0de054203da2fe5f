/** The past calls of a user, which are searched for in the topic events. */
import type { Schema } from '../../api/client.ts';
import { useList } from '../../lists/pager.tsx';
import { Empty } from '../../parts/card.tsx';
import { PagedTable, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { hrefOf } from '../../url/location.ts';

const limit = 20;

const columns: readonly Column<Schema['UserCall']>[] = [
  {
    title: 'Event',
    kind: 'wrap',
    cell: ({ eventId, event, type }) =>
      eventId === undefined ? (
        (event ?? type)
      ) : (
        <a class="row-link" href={hrefOf(['why', eventId])}>
          {event ?? type}
        </a>
      ),
  },
  { title: 'Time', cell: ({ receivedAt }) => <Time at={receivedAt} /> },
  { title: 'Type', cell: ({ type }) => type },
  { title: 'Source', cell: ({ sourceId }) => sourceId },
];

export function UserCalls({ id }: { readonly id: string }) {
  const pages = useList('/v1/users/{userId}/calls', { path: { userId: id }, query: { limit } });
  const { searchedSince, hasMore, isLoading } = pages;
  return (
    <section class="stack tight" aria-label="Calls">
      <h2>Calls</h2>
      <p class="quiet small" role="status">
        {searchedSince === undefined ? (
          isLoading ? (
            'Searching …'
          ) : (
            'Calls are kept in Kafka for a limited time.'
          )
        ) : (
          <>
            {isLoading ? 'Searching, back to' : 'Searched back to'} <Time at={searchedSince} />
            {!isLoading && !hasMore && ', the oldest call that Kafka keeps'}
          </>
        )}
      </p>
      <PagedTable
        label="Calls of the user"
        columns={columns}
        pages={pages}
        keyOf={({ eventId, receivedAt }) => `${receivedAt} ${eventId ?? ''}`}
        empty={<Empty title="No calls found" />}
      />
    </section>
  );
}
