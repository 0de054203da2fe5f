/** The calls of a source as they arrive, and what becomes of each. */
import { useEffect, useState } from 'preact/hooks';
import { ApiError, generation, type Schema } from '../../api/client.ts';
import { readLines } from '../../api/lines.ts';
import { may } from '../../api/session.ts';
import { SearchForm } from '../../lists/search-form.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Card, Empty } from '../../parts/card.tsx';
import { CopyButton, Json } from '../../parts/code.tsx';
import { formatCounted } from '../../parts/format.ts';
import { ErrorNote } from '../../parts/notes.tsx';
import { Reason, Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { hrefOf } from '../../url/location.ts';
import { knownEndpoint } from './endpoint.ts';
import { curlOf } from './snippets.ts';

const maxShown = 100;
const againMs = 2_000;

type LiveCall = Schema['LiveCall'];
type Line = LiveCall | { readonly missed: number };

interface CallsProps {
  readonly source: Schema['Source'];
  /** Only calls with this event. */
  readonly event?: string | undefined;
  /** Only calls of this user. */
  readonly user?: string | undefined;
}

/** The tab of a source: its calls, with a filter. */
export function Live({
  source,
  query,
}: {
  readonly source: Schema['Source'];
  readonly query: Readonly<Record<string, string>>;
}) {
  const { event, user } = query;
  return (
    <div class="stack">
      <SearchForm
        label="Filter calls"
        query={query}
        choices={[]}
        fields={[
          { name: 'event', label: 'Event' },
          { name: 'user', label: 'User id' },
        ]}
      />
      <Calls key={JSON.stringify([event, user])} source={source} event={event} user={user} />
    </div>
  );
}

export function Calls({ source, event = '', user = '' }: CallsProps) {
  const [isOn, setOn] = useState(true);
  const [calls, setCalls] = useState<readonly LiveCall[]>([]);
  const [missed, setMissed] = useState(0);
  const [error, setError] = useState<ApiError>();
  const { id } = source;
  const epoch = generation.value;

  useEffect(() => {
    if (!isOn) return undefined;
    const own = new AbortController();
    const query = new URLSearchParams();
    if (event !== '') query.set('event', event);
    if (user !== '') query.set('userId', user);
    const path = `/v1/sources/${encodeURIComponent(id)}/calls/stream?${query.toString()}`;
    const follow = async (): Promise<void> => {
      while (!own.signal.aborted) {
        try {
          await readLines(path, own.signal, (line) => {
            const read = line as Line;
            if ('missed' in read) setMissed((before) => before + read.missed);
            else setCalls((before) => withLine(before, read));
          });
        } catch (reason) {
          if (reason instanceof ApiError) {
            setError(reason);
            return;
          }
        }
        // A proxy may end a long answer.
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    };
    setError(undefined);
    void follow();
    return () => own.abort();
  }, [id, event, user, isOn, epoch]);

  return (
    <Card
      flush
      title="Live"
      actions={
        <Button small label={isOn ? 'Pause live calls' : 'Resume live calls'} onClick={() => setOn(!isOn)}>
          {isOn ? 'Pause' : 'Resume'}
        </Button>
      }
    >
      <ErrorNote error={error} />
      <div class="tail" role="log" aria-label="Live" tabIndex={0}>
        {calls.length === 0 ? (
          <Empty
            title={isOn ? 'Waiting for the first event …' : 'Paused'}
            lead="Calls appear here as they arrive, including those that are blocked, repeated or rejected."
          />
        ) : (
          <ol>
            {calls.map((call) => (
              <Row key={call.id} call={call} source={source} />
            ))}
          </ol>
        )}
        {missed > 0 && (
          <p class="note quiet small">
            Not shown because there were too many: {formatCounted(missed, 'call')}.
          </p>
        )}
      </div>
    </Card>
  );
}

/** The newest calls first. A later line of a call has all but its content. */
function withLine(calls: readonly LiveCall[], line: LiveCall): readonly LiveCall[] {
  if (!line.changed) return [line, ...calls].slice(0, maxShown);
  return calls.map((known) => (known.id === line.id ? { ...known, ...line } : known));
}

function Row({ call, source }: { readonly call: LiveCall; readonly source: Schema['Source'] }) {
  const [isOpen, setOpen] = useState(false);
  const { receivedAt, outcome, type, event, userKey, code } = call;
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          {receivedAt !== undefined && <Time at={receivedAt} />}
          <Status of={outcome} />
          <span class="cut">
            {event ?? type ?? 'Unknown call'} <span class="quiet">{userKey}</span>
          </span>
          <span class="quiet cut">{outcome === 'routed' ? call.destinations.join(', ') : code}</span>
        </summary>
        {isOpen && <Content call={call} source={source} />}
      </details>
    </li>
  );
}

function Content({ call, source }: { readonly call: LiveCall; readonly source: Schema['Source'] }) {
  const { outcome, destinations, filtered, message, status, eventId, call: content } = call;
  const [writeKey] = source.writeKeys;
  const curl =
    content !== undefined && writeKey !== undefined && may('write')
      ? curlOf({ endpoint: knownEndpoint(), writeKey }, content)
      : undefined;
  return (
    <div class="stack note">
      {message !== undefined && (
        <p>
          {message} {status !== undefined && `The sender was answered with ${status}.`}
        </p>
      )}
      {(destinations.length > 0 || filtered.length > 0) && (
        <ul>
          {destinations.map((id) => (
            <li key={id}>
              <a href={hrefOf(['destinations', id])}>{id}</a>
            </li>
          ))}
          {filtered.map(({ reason, rule, destinations }) => (
            <li key={`${reason} ${rule?.path ?? ''}`}>
              {destinations.join(', ')}: <Reason of={reason} /> {rule && <code>{rule.text}</code>}
            </li>
          ))}
        </ul>
      )}
      {outcome === 'no-destination' && <Reason of={outcome} />}
      {content !== undefined && <Json label="Call">{content}</Json>}
      <div class="row">
        {eventId !== undefined && (
          <LinkButton small href={hrefOf(['why', eventId])}>
            Why
          </LinkButton>
        )}
        {curl !== undefined && <CopyButton of={curl}>Copy as curl</CopyButton>}
      </div>
    </div>
  );
}
