/** The failed attempts of a destination by reason, each with its newest sample. */
import type { Schema } from '../../../api/client.ts';
import { useGet } from '../../../api/resource.ts';
import { LinkButton } from '../../../parts/button.tsx';
import { Card, Empty } from '../../../parts/card.tsx';
import { formatCount, formatDuration } from '../../../parts/format.ts';
import { ErrorNote } from '../../../parts/notes.tsx';
import { Reason, Status } from '../../../parts/status.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { text } from '../../../text/index.ts';
import { hrefOf } from '../../../url/location.ts';
import { RangeChoice, rangeOf } from './range.tsx';

const words = text.destinations;
const everyMs = 15_000;
type Failure = Schema['GetDestinationFailuresAnswer']['items'][number];
type Sample = Failure['samples'][number];

const columns: readonly Column<Sample>[] = [
  {
    title: words.delivery,
    cell: ({ deliveryId }) => (
      <a class="row-link mono" href={hrefOf(['deliveries', deliveryId])}>
        {deliveryId.slice(0, 8)}
      </a>
    ),
  },
  { title: words.attempt, kind: 'number', cell: ({ attempt }) => attempt },
  { title: words.state, cell: ({ outcome }) => <Status of={outcome} /> },
  { title: words.sent, cell: ({ startedAt }) => <Time at={startedAt} /> },
  {
    title: words.answer,
    kind: 'wrap',
    cell: ({ urls }) =>
      urls.map(({ url, status, reason, detail, latencyMs }, index) => (
        <div key={index}>
          <code>{url}</code> {status ?? <Reason of={reason} />} {detail}{' '}
          <span class="quiet">{formatDuration(latencyMs)}</span>
        </div>
      )),
  },
];

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
      <p class="quiet">{words.failuresLead}</p>
      <ErrorNote error={error} onRetry={reload} />
      {data?.items.length === 0 && (
        <Card>
          <Empty title={words.noFailures} lead={words.noFailuresLead} />
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
            {words.deadLetters}
          </LinkButton>
        )
      }
    >
      <p class="note">
        {words.failure(formatCount(count), formatCount(dead))}{' '}
        <span class="quiet">
          <Time at={firstAt} /> – <Time at={lastAt} />
        </span>
      </p>
      <Table
        label={words.sample}
        columns={columns}
        items={samples}
        keyOf={({ deliveryId, attempt }) => `${deliveryId} ${attempt}`}
        empty={null}
      />
    </Card>
  );
}
