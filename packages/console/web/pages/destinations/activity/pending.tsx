/** The pending deliveries of a destination: why they wait, and until when. */
import { api, ask, type Schema } from '../../../api/client.ts';
import { useGet } from '../../../api/resource.ts';
import { may } from '../../../api/session.ts';
import { Action } from '../../../parts/action.tsx';
import { LinkButton } from '../../../parts/button.tsx';
import { Card, Empty } from '../../../parts/card.tsx';
import { formatCount, formatTier } from '../../../parts/format.ts';
import { Reason } from '../../../parts/status.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Ago, Due, Time } from '../../../parts/time.tsx';
import { hrefOf } from '../../../url/location.ts';
import type { Destination } from '../draft.ts';

const everyMs = 5_000;
type Row = Schema['PendingDeliveries'];

const columns: readonly Column<Row>[] = [
  {
    title: 'Waiting for',
    cell: ({ tier }) => formatTier(tier),
  },
  { title: 'Reason', kind: 'wrap', cell: ({ reason }) => <Reason of={reason} /> },
  { title: 'Deliveries', kind: 'number', cell: ({ deliveries }) => formatCount(deliveries) },
];

export function Pending({ destination }: { readonly destination: Destination }) {
  const { id, paused } = destination;
  const params = { path: { id } };
  const { data, error, reload } = useGet('/v1/destinations/{id}/pending', params, { everyMs });
  return (
    <Card
      flush
      title="Pending deliveries"
      actions={
        may('write') &&
        data &&
        data.total > 0 && (
          <span class="row">
            <Action
              small
              request={() => ask(api.POST('/v1/destinations/{id}/retry', { params }))}
              done="Retrying pending deliveries as fast as the receiver accepts them."
              after={reload}
            >
              Retry all now
            </Action>
            <Action
              small
              kind="danger"
              question={{
                title: 'Turn all pending deliveries into dead letters?',
                message:
                  'They are not attempted again, and this cannot be undone. You can replay the dead letters for 30 days.',
              }}
              request={() => ask(api.POST('/v1/destinations/{id}/drain', { params }))}
              done="Moving pending deliveries to dead letters."
              after={reload}
            >
              Drain
            </Action>
          </span>
        )
      }
    >
      {paused && <p class="quiet note">The destination is paused. Deliveries wait until it is resumed.</p>}
      {data && <WaitsFor pending={data} />}
      <Table
        label="Pending deliveries"
        columns={columns}
        items={data?.items}
        keyOf={({ tier, reason }) => `${tier ?? ''} ${reason ?? ''}`}
        error={error}
        onRetry={reload}
        empty={<Empty title="Nothing is pending" />}
      />
      <div class="row more">
        <LinkButton small href={hrefOf(['deliveries'], { destination: id })}>
          All deliveries to this destination
        </LinkButton>
        <LinkButton small href={hrefOf(['filtered'], { destination: id })}>
          Events it did not receive
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
          since <Time at={openSince} />
        </>
      )}
      {nextDueAt !== undefined && (
        <>
          {' · '}
          {isOpen ? 'next probe' : 'next attempt'} <Due at={nextDueAt} />
        </>
      )}
      {oldestAt !== undefined && (
        <>
          {' · '}
          oldest created <Ago at={oldestAt} />
        </>
      )}
    </p>
  );
}
