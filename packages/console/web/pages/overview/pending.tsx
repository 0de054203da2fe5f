import type { Schema } from '../../api/client.ts';
import { Empty } from '../../parts/card.tsx';
import { formatCount, formatTier } from '../../parts/format.ts';
import { Badge, Reason } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { hrefOf } from '../../url/location.ts';

/** What waits, by the tier in which it waits. */
export function Tiers({ overview }: { readonly overview: Schema['Overview'] | undefined }) {
  return (
    <Table
      label="Pending deliveries"
      items={overview?.pending}
      keyOf={({ tier, reason }) => `${tier ?? ''} ${reason ?? ''}`}
      empty={<Empty title="Nothing is pending" />}
      columns={[
        {
          title: 'Waiting for',
          cell: ({ tier }) => formatTier(tier),
        },
        { title: 'Reason', kind: 'wrap', cell: ({ reason }) => <Reason of={reason} /> },
        {
          title: 'Deliveries',
          kind: 'number',
          cell: ({ tier, deliveries }) => (
            <a href={hrefOf(['deliveries'], { status: tier === undefined ? 'waiting' : 'retrying' })}>
              {formatCount(deliveries)}
            </a>
          ),
        },
      ]}
    />
  );
}

export function Breakers({ overview }: { readonly overview: Schema['Overview'] | undefined }) {
  const breakers = overview?.breakers ?? [];
  if (breakers.length === 0) return <p class="quiet">No open circuit breakers.</p>;
  return (
    <ul class="stack tight">
      {breakers.map(({ destinationId, deliveries, openSince }) => (
        <li key={destinationId} class="row spread">
          <a href={hrefOf(['destinations', destinationId])}>{destinationId}</a>
          {openSince !== undefined && (
            <span class="quiet small">
              open since <Time at={openSince} />
            </span>
          )}
          <Badge tone="bad">{formatCount(deliveries)} pending</Badge>
        </li>
      ))}
    </ul>
  );
}
