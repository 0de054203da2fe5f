import type { Schema } from '../../api/client.ts';
import { Empty } from '../../parts/card.tsx';
import { formatCount } from '../../parts/format.ts';
import { Badge, Reason } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { hrefOf } from '../../url/location.ts';

/** What waits, by the tier in which it waits. */
export function Tiers({ overview }: { readonly overview: Schema['Overview'] | undefined }) {
  return (
    <Table
      label={text.overview.tiers}
      items={overview?.pending}
      keyOf={({ tier, reason }) => `${tier ?? ''} ${reason ?? ''}`}
      empty={<Empty title={text.overview.nothingPending} />}
      columns={[
        {
          title: text.overview.tier,
          cell: ({ tier }) => (tier === undefined ? text.overview.firstQueue : text.overview.retryTier(tier)),
        },
        { title: text.overview.reason, kind: 'wrap', cell: ({ reason }) => <Reason of={reason} /> },
        {
          title: text.overview.deliveries,
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
  if (breakers.length === 0) return <p class="quiet">{text.overview.noBreakers}</p>;
  return (
    <ul class="stack tight">
      {breakers.map(({ destinationId, deliveries, openSince }) => (
        <li key={destinationId} class="row spread">
          <a href={hrefOf(['destinations', destinationId])}>{destinationId}</a>
          {openSince !== undefined && (
            <span class="quiet small">
              {text.overview.openSince} <Time at={openSince} />
            </span>
          )}
          <Badge tone="bad">{text.overview.breaker(formatCount(deliveries))}</Badge>
        </li>
      ))}
    </ul>
  );
}
