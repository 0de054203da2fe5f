/** The pending deliveries of a destination: why they wait, and until when. */
import { api, ask, type Schema } from '../../../api/client.ts';
import { useGet } from '../../../api/resource.ts';
import { may } from '../../../api/session.ts';
import { Action } from '../../../parts/action.tsx';
import { LinkButton } from '../../../parts/button.tsx';
import { Card, Empty } from '../../../parts/card.tsx';
import { formatCount } from '../../../parts/format.ts';
import { Reason } from '../../../parts/status.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Ago, Time } from '../../../parts/time.tsx';
import { text } from '../../../text/index.ts';
import { hrefOf } from '../../../url/location.ts';
import type { Destination } from '../draft.ts';

const words = text.destinations;
const everyMs = 5_000;
type Row = Schema['PendingDeliveries'];

const columns: readonly Column<Row>[] = [
  {
    title: words.tier,
    cell: ({ tier }) => (tier === undefined ? text.overview.firstQueue : text.overview.retryTier(tier)),
  },
  { title: words.reason, kind: 'wrap', cell: ({ reason }) => <Reason of={reason} /> },
  { title: words.deliveries, kind: 'number', cell: ({ deliveries }) => formatCount(deliveries) },
];

export function Pending({ destination }: { readonly destination: Destination }) {
  const { id, paused } = destination;
  const params = { path: { id } };
  const { data, error, reload } = useGet('/v1/destinations/{id}/pending', params, { everyMs });
  return (
    <Card
      flush
      title={words.waiting}
      actions={
        may('write') &&
        data &&
        data.total > 0 && (
          <span class="row">
            <Action
              small
              request={() => ask(api.POST('/v1/destinations/{id}/retry', { params }))}
              done={words.retryNowDone}
              after={reload}
            >
              {words.retryNow}
            </Action>
            <Action
              small
              kind="danger"
              question={{ title: words.drainTitle, message: words.drainMessage }}
              request={() => ask(api.POST('/v1/destinations/{id}/drain', { params }))}
              done={words.drainDone}
              after={reload}
            >
              {words.drain}
            </Action>
          </span>
        )
      }
    >
      {paused && <p class="quiet note">{words.waitingPaused}</p>}
      {data && <WaitsFor pending={data} />}
      <Table
        label={words.waiting}
        columns={columns}
        items={data?.items}
        keyOf={({ tier, reason }) => `${tier ?? ''} ${reason ?? ''}`}
        error={error}
        onRetry={reload}
        empty={<Empty title={words.waitingNone} />}
      />
      <div class="row more">
        <LinkButton small href={hrefOf(['deliveries'], { destination: id })}>
          {words.allDeliveries}
        </LinkButton>
        <LinkButton small href={hrefOf(['filtered'], { destination: id })}>
          {words.allFiltered}
        </LinkButton>
      </div>
    </Card>
  );
}

/** "The circuit breaker is open since 12:03 · next probe in 20 s". */
function WaitsFor({ pending }: { readonly pending: Schema['DestinationPending'] }) {
  const { openSince, nextDueAt, reason, oldestAt } = pending;
  const isOpen = openSince !== undefined || reason === 'circuit-open';
  if (openSince === undefined && nextDueAt === undefined && oldestAt === undefined) return null;
  return (
    <p class="note">
      <Reason of={isOpen ? 'circuit-open' : reason} />
      {openSince !== undefined && (
        <>
          {' '}
          {words.openSince} <Time at={openSince} />
        </>
      )}
      {nextDueAt !== undefined && (
        <>
          {' · '}
          {isOpen ? words.probe : words.due} <Ago at={nextDueAt} />
        </>
      )}
      {oldestAt !== undefined && (
        <>
          {' · '}
          {words.oldest} <Ago at={oldestAt} />
        </>
      )}
    </p>
  );
}
