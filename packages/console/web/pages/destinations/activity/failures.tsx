/** The failed attempts of a destination by reason, each with its newest sample. */
import type { Schema } from '../../../api/client.ts';
import { useGet } from '../../../api/resource.ts';
import { LinkButton } from '../../../parts/button.tsx';
import { Card, Empty } from '../../../parts/card.tsx';
import { formatCounted, formatDuration } from '../../../parts/format.ts';
import { ErrorNote } from '../../../parts/notes.tsx';
import { Reason, Status } from '../../../parts/status.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { hrefOf } from '../../../url/location.ts';
import { RangeChoice, rangeOf } from './range.tsx';

const everyMs = 15_000;
/** The page of the delivery has all of it. */
const shownBody = 120;
type Failure = Schema['GetDestinationFailuresAnswer']['items'][number];
type Sample = Failure['samples'][number];

const columns: readonly Column<Sample>[] = [
  {
    title: 'Response',
    kind: 'main',
    cell: ({ deliveryId, startedAt, urls: [first, ...others] }) => (
      <>
        <a class="row-link" href={hrefOf(['deliveries', deliveryId])}>
          <Time at={startedAt} />
        </a>
        {first && <Answer {...first} others={others.length} />}
      </>
    ),
  },
  { title: 'Outcome', cell: ({ outcome }) => <Status of={outcome} /> },
  { title: 'Attempt', kind: 'number', cell: ({ attempt }) => attempt },
];

/** In one line. */
function Answer({
  url,
  status,
  reason,
  detail,
  latencyMs,
  exchange,
  others,
}: Sample['urls'][number] & { readonly others: number }) {
  return (
    <div class="one-line" title={url}>
      {status ?? <Reason of={reason} />} {detail}{' '}
      <span class="quiet">
        {formatDuration(latencyMs)}
        {others > 0 && `, and ${others} more ${others === 1 ? 'URL' : 'URLs'}`}
      </span>{' '}
      {exchange?.responseBody !== undefined && <code>{exchange.responseBody.slice(0, shownBody)}</code>}
    </div>
  );
}

interface FailuresProps {
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
}

export function Failures({ id, query }: FailuresProps) {
  const since = rangeOf(query['range']);
  const params = { path: { id }, query: { since } };
  const { data, error, reload } = useGet('/v1/destinations/{id}/failures', params, { everyMs });
  return (
    <div class="stack">
      <RangeChoice current={since} />
      <p class="quiet">Failed attempts by reason, with the latest samples.</p>
      <ErrorNote error={error} onRetry={reload} />
      {data?.items.length === 0 && (
        <Card>
          <Empty title="No failures in this period" lead="The receiver accepted every attempt." />
        </Card>
      )}
      {data?.items.map((failure) => (
        <FailureCard key={failure.reason} id={id} {...failure} />
      ))}
    </div>
  );
}

function FailureCard({
  id,
  reason,
  count,
  dead,
  firstAt,
  lastAt,
  samples,
}: Failure & { readonly id: string }) {
  return (
    <Card
      flush
      title={<Reason of={reason} />}
      actions={
        dead > 0 && (
          <LinkButton small href={hrefOf(['replays'], { destination: id, reason })}>
            Dead letters
          </LinkButton>
        )
      }
    >
      <p class="note">
        {formatCounted(count, 'failed attempt')}, {formatCounted(dead, 'dead letter')}{' '}
        <span class="quiet">
          <Time at={firstAt} /> – <Time at={lastAt} />
        </span>
      </p>
      <Table
        label="Latest sample"
        columns={columns}
        items={samples}
        keyOf={({ deliveryId, attempt }) => `${deliveryId} ${attempt}`}
        empty={null}
      />
    </Card>
  );
}
