import type { Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { ExportLink } from '../../lists/export-link.tsx';
import { LongList } from '../../lists/long-list.tsx';
import { useList } from '../../lists/pager.tsx';
import { useSelection } from '../../lists/selection.ts';
import { Reason, Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';
import { ResendSelection } from './resend-selection.tsx';
import { Search, wantedOf } from './search.tsx';

type Delivery = Schema['Delivery'];

const pageSize = 200;
const keyOf = ({ deliveryId }: Delivery): string => deliveryId;

export function DeliveryList({ query }: Pick<PageProps, 'query'>) {
  const wanted = wantedOf(query);
  const pages = useList('/v1/deliveries', { query: { ...wanted, limit: pageSize } });
  const selection = useSelection(pages.items, keyOf);
  return (
    <>
      <PageHead title={text.shell.pages.deliveries} lead="All recent deliveries, newest first.">
        {query['destination'] !== undefined && may('write') && (
          <LinkButton href={hrefOf(['replays', '+events'], query)}>Send past events</LinkButton>
        )}
        <ExportLink path="/v1/deliveries.csv" query={wanted} />
      </PageHead>
      <div class="stack">
        <Search query={query} />
        {may('write') && pages.items.length > 0 && (
          <ResendSelection
            selection={selection}
            onDone={() => {
              selection.clear();
              void pages.reload();
            }}
          />
        )}
        <LongList
          pages={pages}
          label="Deliveries"
          keyOf={keyOf}
          row={(delivery) => <Row delivery={delivery} />}
          selection={may('write') ? selection : undefined}
          what={['delivery', 'deliveries']}
          head={
            <div class="delivery-row">
              {['Time', 'Status', 'Event', 'Destination', 'User', 'Reason', 'Attempts'].map((title) => (
                <span key={title}>{title}</span>
              ))}
            </div>
          }
          hrefOf={({ deliveryId }) => hrefOf(['deliveries', deliveryId])}
          empty={
            <Empty
              title="No matching deliveries"
              lead="Broaden the search. Events that a destination did not receive are listed under Filtered."
            >
              <LinkButton href={hrefOf(['filtered'], { ...query, status: undefined })}>
                View filtered events
              </LinkButton>
              <LinkButton href={hrefOf(['why'])}>Open Why</LinkButton>
            </Empty>
          }
        />
      </div>
    </>
  );
}

function Row({ delivery }: { readonly delivery: Delivery }) {
  const { createdAt, status, event, type, destinationId, userKey, reason, attempts } = delivery;
  return (
    <div class="delivery-row">
      <span class="quiet">
        <Time at={createdAt} />
      </span>
      <Status of={status} />
      <strong class="cut">{event ?? type}</strong>
      <span class="cut">{destinationId}</span>
      <span class="cut quiet">{userKey}</span>
      <span class="cut quiet">{status === 'delivered' ? null : <Reason of={reason} />}</span>
      <span class="numeric quiet">{attempts}</span>
    </div>
  );
}
