/** The events that connected destinations did not get, each with the reason. A row leads to the whole way of its event. */
import type { Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { ExportLink } from '../../lists/export-link.tsx';
import { LongList } from '../../lists/long-list.tsx';
import { useList } from '../../lists/pager.tsx';
import { SearchForm } from '../../lists/search-form.tsx';
import { Reason } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';

const words = {
  lead: 'Events that a connected destination did not receive, and why. Newest first.',
};

const pageSize = 200;
type FilteredEvent = Schema['FilteredEvent'];

export default function FilteredPage({ query }: PageProps) {
  const { reason, source, destination, user, since, until } = query;
  const wanted = { reason, source, destination, userId: user, since, until };
  const pages = useList('/v1/decisions', { query: { ...wanted, limit: pageSize } });
  return (
    <>
      <PageHead title={text.shell.pages.filtered} lead={words.lead}>
        {destination !== undefined && may('write') && (
          <LinkButton href={hrefOf(['replays', '+events'], query)}>Send past events</LinkButton>
        )}
        <ExportLink path="/v1/decisions.csv" query={wanted} />
      </PageHead>
      <div class="stack">
        <SearchForm
          label="Search filtered events"
          query={query}
          choices={[{ name: 'reason', label: 'Reason', values: reasonChoices(reason) }]}
          fields={[
            { name: 'destination', label: 'Destination' },
            { name: 'user', label: 'User' },
            { name: 'source', label: 'Source' },
          ]}
          hasPeriod
        />
        <LongList
          pages={pages}
          label="Filtered events"
          keyOf={({ eventId, decidedAt, sourceId, destinationId }) =>
            [eventId, decidedAt, sourceId, destinationId].join(' ')
          }
          row={(event) => <Row event={event} />}
          what={['filtered event', 'filtered events']}
          head={
            <div class="filtered-row">
              {['Time', 'Event', 'From → to', 'Reason', 'User'].map((title) => (
                <span key={title}>{title}</span>
              ))}
            </div>
          }
          hrefOf={({ eventId }) => hrefOf(['why', eventId])}
          empty={
            <Empty
              title="No matching filtered events"
              lead="Broaden the search. Events that a destination received are listed under Deliveries."
            >
              <LinkButton href={hrefOf(['deliveries'])}>View deliveries</LinkButton>
            </Empty>
          }
        />
      </div>
    </>
  );
}

/** The known reasons, and the one of the address. */
function reasonChoices(current: string | undefined): [value: string, label: string][] {
  const known = [
    'filter',
    'sample',
    'transform',
    'disabled',
    'integrations',
    'schema',
    'suppressed',
    'no-destination',
  ] as const;
  const others = current !== undefined && !known.some((one) => one === current) ? [current] : [];
  return [
    ['', 'any'],
    ...known.map((one): [string, string] => [one, text.reasons[one]]),
    ...others.map((one): [string, string] => [one, one]),
  ];
}

function Row({ event: one }: { readonly event: FilteredEvent }) {
  const { decidedAt, event, type, destinationId, sourceId, userKey, reason, rule } = one;
  return (
    <div class="filtered-row">
      <span class="quiet">
        <Time at={decidedAt} />
      </span>
      <strong class="cut">{event ?? type}</strong>
      <span class="cut">
        {sourceId} → {destinationId ?? 'none'}
      </span>
      <span class="cut" title={rule?.text}>
        <Reason of={reason} /> {rule && <code>{rule.text}</code>}
      </span>
      <span class="cut quiet">{userKey}</span>
    </div>
  );
}
