import type { Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { LongList } from '../../lists/long-list.tsx';
import { useList } from '../../lists/pager.tsx';
import { useSelection } from '../../lists/selection.ts';
import { Reason, Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { go, hrefOf, type PageProps } from '../../url/location.ts';
import { ResendSelection } from './resend-selection.tsx';
import { Search, wantedOf } from './search.tsx';

type Delivery = Schema['Delivery'];

const pageSize = 200;
const keyOf = ({ deliveryId }: Delivery): string => deliveryId;

export function DeliveryList({ query }: Pick<PageProps, 'query'>) {
  const pages = useList('/v1/deliveries', { query: { ...wantedOf(query), limit: pageSize } });
  const selection = useSelection(pages.items, keyOf);
  return (
    <>
      <PageHead title={text.shell.pages.deliveries} lead={text.deliveries.lead} />
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
          label={text.deliveries.list}
          keyOf={keyOf}
          row={(delivery) => <Row delivery={delivery} />}
          selection={may('write') ? selection : undefined}
          onOpen={({ deliveryId }) => {
            go(['deliveries', deliveryId]);
          }}
          empty={
            <Empty title={text.deliveries.none} lead={text.deliveries.noneLead}>
              <LinkButton href={hrefOf(['filtered'], { ...query, status: undefined })}>
                {text.deliveries.toFiltered}
              </LinkButton>
              <LinkButton href={hrefOf(['why'])}>{text.deliveries.toWhy}</LinkButton>
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
      <span class="numeric quiet">{attempts}×</span>
    </div>
  );
}
