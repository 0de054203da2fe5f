import { api, ask, type Schema } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { useResource } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Card, PageHead } from '../../parts/card.tsx';
import { Id, Json } from '../../parts/code.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { attempt, ErrorNote } from '../../parts/notes.tsx';
import { Reason, Status } from '../../parts/status.tsx';
import { Ago, Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { hrefOf } from '../../url/location.ts';
import { TimeLine } from './time-line.tsx';

type DeliveryWithAttempts = Schema['DeliveryWithAttempts'];

const refreshMs = 5_000;
const hasEnded = (status: string | undefined): boolean =>
  status === 'delivered' || status === 'dead' || status === 'unknown';

export function Delivery({ id }: { readonly id: string }) {
  const shown = useResource(id, (signal) =>
    ask(api.GET('/v1/deliveries/{deliveryId}', { params: { path: { deliveryId: id } }, signal })),
  );
  const { data, error } = shown;
  const isPending = data !== undefined && !hasEnded(data.status);
  // A pending delivery changes without an action of this page.
  useResource(isPending ? `${id} again` : null, () => shown.reload(), { everyMs: refreshMs });
  useLive('', { onCounts: () => void (isPending && shown.reload()) });
  return (
    <div class="stack wide">
      <PageHead
        title={data ? (data.event ?? data.type) : text.deliveries.one}
        lead={data && <Status of={data.status} />}
      >
        {data && may('write') && <Actions delivery={data} onDone={() => shown.reload()} />}
      </PageHead>
      <ErrorNote error={error} onRetry={() => shown.reload()} />
      {data && (
        <>
          <Card title={text.deliveries.timeline}>
            <TimeLine delivery={data} />
          </Card>
          <div class="columns">
            <Card title={text.deliveries.one}>
              <Facts delivery={data} />
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
  const { deliveryId, destinationId, status } = delivery;
  if (hasEnded(status)) {
    return (
      <Button
        kind="main-action"
        onClick={async () => {
          const { resend: action, resendAsk: message, resent } = text.deliveries;
          if (!(await confirmed({ title: action, message: <p>{message}</p>, action }))) return;
          const path = { deliveryId };
          await attempt(
            () => ask(api.POST('/v1/deliveries/{deliveryId}/resend', { params: { path } })),
            resent,
          );
          await onDone();
        }}
      >
        {text.deliveries.resend}
      </Button>
    );
  }
  return (
    <Button
      onClick={async () => {
        const { retryNow: action, retryAsk, retried } = text.deliveries;
        if (!(await confirmed({ title: action, message: <p>{retryAsk(destinationId)}</p>, action }))) return;
        const path = { id: destinationId };
        await attempt(() => ask(api.POST('/v1/destinations/{id}/retry', { params: { path } })), retried);
        await onDone();
      }}
    >
      {text.deliveries.retryNow}
    </Button>
  );
}

function Facts({ delivery }: { readonly delivery: DeliveryWithAttempts }) {
  const {
    deliveryId,
    eventId,
    sourceId,
    destinationId,
    userKey,
    type,
    createdAt,
    reason,
    nextDueAt,
    status,
  } = delivery;
  const words = text.deliveries;
  return (
    <dl class="facts">
      <dt>{words.destination}</dt>
      <dd>
        <a href={hrefOf(['destinations', destinationId])}>{destinationId}</a>
      </dd>
      <dt>{words.source}</dt>
      <dd>
        <a href={hrefOf(['sources', sourceId])}>{sourceId}</a>
      </dd>
      <dt>{words.user}</dt>
      <dd>{may('write') ? <a href={hrefOf(['deliveries'], { user: userKey })}>{userKey}</a> : userKey}</dd>
      <dt>{words.type}</dt>
      <dd>{type}</dd>
      <dt>{words.created}</dt>
      <dd>
        <Time at={createdAt} both />
      </dd>
      {status !== 'delivered' && reason !== undefined && (
        <>
          <dt>{words.reason}</dt>
          <dd>
            <Reason of={reason} />
          </dd>
        </>
      )}
      {nextDueAt !== undefined && (
        <>
          <dt>{words.nextDue}</dt>
          <dd>
            <Ago at={nextDueAt} /> · <Time at={nextDueAt} />
          </dd>
        </>
      )}
      <dt>{words.eventId}</dt>
      <dd>
        <Id of={eventId} />
        <a href={hrefOf(['why', eventId])}>{words.why}</a>
      </dd>
      <dt>{words.one}</dt>
      <dd>
        <Id of={deliveryId} />
      </dd>
    </dl>
  );
}

function Body({ id }: { readonly id: string }) {
  const { data, error, reload } = useResource(`${id} body`, (signal) =>
    ask(api.GET('/v1/deliveries/{deliveryId}/body', { params: { path: { deliveryId: id } }, signal })),
  );
  return (
    <Card title={text.deliveries.body}>
      {error?.status === 404 ? (
        <p class="quiet">{text.deliveries.bodyGone}</p>
      ) : (
        <ErrorNote error={error} onRetry={reload} />
      )}
      {data && (
        <div class="stack tight">
          {data.masked && <p class="quiet">{text.deliveries.bodyMasked}</p>}
          <Json label={text.deliveries.body}>{data.text ?? JSON.stringify(data.body)}</Json>
        </div>
      )}
    </Card>
  );
}
