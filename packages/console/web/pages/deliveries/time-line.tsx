/** A delivery from the router to its end: each attempt with the answer of each URL, and when the next one is due. */
import type { ComponentChildren } from 'preact';
import type { Schema } from '../../api/client.ts';
import { Exchange } from '../../parts/exchange.tsx';
import { formatDuration } from '../../parts/format.ts';
import { Badge, Reason, Status, type Tone } from '../../parts/status.tsx';
import { Due, Time } from '../../parts/time.tsx';
import { TransformFailure } from '../../parts/transform-failure.tsx';

const words = {
  ends: {
    delivered: 'Accepted by the receiver.',
    dead: 'Moved to dead letters.',
    unknown: 'Sent or given up. The record of the last attempt was lost.',
  },
};

const tones = { delivered: 'good', retry: 'warning', dead: 'bad' } as const;
const endTones = { delivered: 'good', dead: 'bad', unknown: 'neutral' } as const;

export function TimeLine({ delivery }: { readonly delivery: Schema['DeliveryWithAttempts'] }) {
  const { history, createdAt, status, nextDueAt, reason } = delivery;
  const end = status === 'waiting' || status === 'retrying' ? undefined : status;
  return (
    <ol class="time-line">
      <Entry tone="accent" at={createdAt} title="Created by the router" />
      {entriesOf(delivery).map(({ at, attempt, by }) =>
        attempt ? (
          <AttemptEntry key={`${attempt.attempt} ${at}`} attempt={attempt} />
        ) : (
          <Entry
            key={at}
            tone="accent"
            at={at}
            title={by === undefined ? 'Sent again' : `Sent again by ${by}`}
          />
        ),
      )}
      {end === undefined && (
        <Entry
          tone="neutral"
          at={nextDueAt}
          title={history.length === 0 ? 'No attempts yet' : 'Waiting for the next attempt'}
          beside={nextDueAt !== undefined && <Due at={nextDueAt} />}
        >
          <Reason of={reason} />
        </Entry>
      )}
      {end !== undefined && (
        <Entry tone={endTones[end]} at={delivery.changedAt} title={words.ends[end]}>
          {status === 'dead' && <Reason of={reason} />}
          <TransformFailure of={delivery} />
        </Entry>
      )}
    </ol>
  );
}

interface Happened {
  readonly at: string;
  /** Undefined where the delivery was sent again. */
  readonly attempt?: Schema['Attempt'];
  readonly by?: string | undefined;
}

/** Its attempts, and when it was replayed or resent between them, after which attempts are numbered from 1 again. */
function entriesOf({ history, resends }: Schema['DeliveryWithAttempts']): readonly Happened[] {
  const entries: Happened[] = [
    ...resends.map(({ at, by }) => ({ at, by })),
    ...history.map((attempt) => ({ at: attempt.startedAt, attempt })),
  ];
  return entries.sort((one, other) => (one.at < other.at ? -1 : 1));
}

function AttemptEntry({ attempt }: { readonly attempt: Schema['Attempt'] }) {
  const { outcome, startedAt, latencyMs, reason } = attempt;
  return (
    <Entry
      tone={tones[outcome]}
      at={startedAt}
      title={`Attempt ${attempt.attempt}`}
      beside={
        <>
          <Status of={outcome} /> <span class="quiet numeric">{formatDuration(latencyMs)}</span>
        </>
      }
    >
      {outcome !== 'delivered' && <Reason of={reason} />}
      <Urls attempt={attempt} />
    </Entry>
  );
}

interface EntryProps {
  readonly tone: Tone;
  readonly at: string | undefined;
  readonly title: string;
  readonly beside?: ComponentChildren;
  readonly children?: ComponentChildren;
}

function Entry({ tone, at, title, beside, children }: EntryProps) {
  return (
    <li class={tone}>
      <div class="row">
        <strong>{title}</strong>
        {beside}
        {at !== undefined && (
          <span class="quiet small">
            <Time at={at} />
          </span>
        )}
      </div>
      {children}
    </li>
  );
}

function Urls({ attempt }: { readonly attempt: Schema['Attempt'] }) {
  if (attempt.urls.length === 0) return <p class="quiet small">No URL was tried.</p>;
  return (
    <ul class="urls">
      {attempt.urls.map(({ url, status, reason, detail, latencyMs, exchange }) => (
        <li key={url} class="stack tight">
          <div class="row">
            <Badge tone={reason === undefined ? 'good' : 'bad'}>{status ?? reason}</Badge>
            <code class="breakable">{url}</code>
            <span class="quiet small numeric">{formatDuration(latencyMs)}</span>
            {detail !== undefined && <span class="quiet small breakable">{detail}</span>}
          </div>
          <Exchange of={exchange} />
        </li>
      ))}
    </ul>
  );
}
