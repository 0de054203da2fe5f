import { api, ask, type Schema } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { useGet, useResource } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { Action } from '../../parts/action.tsx';
import { Card, PageHead } from '../../parts/card.tsx';
import { Id, Json } from '../../parts/code.tsx';
import { Facts } from '../../parts/facts.tsx';
import { ErrorNote } from '../../parts/notes.tsx';
import { Reason, Status } from '../../parts/status.tsx';
import { Due, Time } from '../../parts/time.tsx';
import { hrefOf } from '../../url/location.ts';
import { resendMessage } from './resend-selection.tsx';
import { TimeLine } from './time-line.tsx';

const words = {
  retryNow: 'Retry all pending deliveries to this destination now',
  retryAsk: (id: string) =>
    `All pending deliveries to ${id} are attempted as fast as its receiver accepts them.`,
};

type DeliveryWithAttempts = Schema['DeliveryWithAttempts'];

const refreshMs = 5_000;
const hasEnded = (status: string | undefined): boolean =>
  status === 'delivered' || status === 'dead' || status === 'unknown';

export function Delivery({ id }: { readonly id: string }) {
  const shown = useGet('/v1/deliveries/{deliveryId}', { path: { deliveryId: id } });
  const { data, error } = shown;
  const isPending = data !== undefined && !hasEnded(data.status);
  // A pending delivery changes without an action of this page.
  useResource(isPending ? `${id} again` : null, shown.reload, { everyMs: refreshMs });
  useLive({ onCounts: () => void (isPending && shown.reload()) });
  return (
    <div class="stack wide">
      <PageHead
        title={data ? (data.event ?? data.type) : 'Delivery'}
        lead={data && <Status of={data.status} />}
      >
        {data && may('write') && <Actions delivery={data} onDone={shown.reload} />}
      </PageHead>
      <ErrorNote error={error} onRetry={shown.reload} />
      {data && (
        <>
          <Card title="Timeline">
            <TimeLine delivery={data} />
          </Card>
          <div class="columns">
            <Card title="Delivery">
              <FactsOf delivery={data} />
            </Card>
            <Body id={id} />
          </div>
        </>
      )}
    </div>
  );
}

function Actions({
  delivery,
  onDone,
}: {
  readonly delivery: DeliveryWithAttempts;
  readonly onDone: () => unknown;
}) {
  const { deliveryId, destinationId, status, reason } = delivery;
  // The body is removed.
  if (status === 'dead' && reason === 'user-deleted') return null;
  if (hasEnded(status)) {
    return (
      <Action
        kind="main-action"
        question={{ title: 'Resend', message: resendMessage }}
        request={() =>
          ask(api.POST('/v1/deliveries/{deliveryId}/resend', { params: { path: { deliveryId } } }))
        }
        done="Resending."
        after={onDone}
      >
        Resend
      </Action>
    );
  }
  return (
    <Action
      question={{ title: words.retryNow, message: words.retryAsk(destinationId) }}
      request={() =>
        ask(api.POST('/v1/destinations/{id}/retry', { params: { path: { id: destinationId } } }))
      }
      done="Retrying pending deliveries."
      after={onDone}
    >
      {words.retryNow}
    </Action>
  );
}

function FactsOf({ delivery }: { readonly delivery: DeliveryWithAttempts }) {
  const { deliveryId, eventId, sourceId, destinationId, userKey, reason, nextDueAt, status } = delivery;
  return (
    <Facts
      of={[
        ['Destination', <a href={hrefOf(['destinations', destinationId])}>{destinationId}</a>],
        ['Source', <a href={hrefOf(['sources', sourceId])}>{sourceId}</a>],
        ['User', may('write') ? <a href={hrefOf(['users', userKey])}>{userKey}</a> : userKey],
        ['Type', delivery.type],
        ['Created', <Time at={delivery.createdAt} both />],
        ['Reason', status !== 'delivered' && reason !== undefined && <Reason of={reason} />],
        [
          'Next attempt',
          nextDueAt !== undefined && (
            <>
              <Due at={nextDueAt} /> · <Time at={nextDueAt} />
            </>
          ),
        ],
        [
          'Event id (messageId)',
          <>
            <Id of={eventId} />
            <a href={hrefOf(['why', eventId])}>Trace this event</a>
          </>,
        ],
        ['Delivery id', <Id of={deliveryId} />],
      ]}
    />
  );
}

function Body({ id }: { readonly id: string }) {
  const path = { deliveryId: id };
  const { data, error, reload } = useGet('/v1/deliveries/{deliveryId}/body', { path });
  return (
    <Card title="Body">
      {error?.status === 404 ? (
        <p class="quiet">The body has expired from Kafka.</p>
      ) : (
        <ErrorNote error={error} onRetry={reload} />
      )}
      {data && (
        <div class="stack tight">
          {data.masked && <p class="quiet">Values are masked because this token is read-only.</p>}
          <Json label="Body">{data.text ?? JSON.stringify(data.body)}</Json>
        </div>
      )}
    </Card>
  );
}
