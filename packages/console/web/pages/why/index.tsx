import { useGet } from '../../api/resource.ts';
import { isLimited } from '../../api/session.ts';
import { Ask } from '../../parts/ask.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { formatCounted } from '../../parts/format.ts';
import { ErrorNote } from '../../parts/notes.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { go, type PageProps } from '../../url/location.ts';
import { UserCalls } from '../users/calls.tsx';
import { Picture } from './picture.tsx';

export default function WhyPage({ steps, query }: PageProps) {
  const [id = ''] = steps;
  const { user = '' } = query;
  return (
    <div class="stack wide">
      <PageHead
        title={text.shell.pages.why}
        lead="Everything that happened to one event. Enter its id, or find it among the calls of its user."
      />
      <div class="columns">
        <Ask
          id={id}
          autofocus={user === ''}
          label="Event id"
          hint="The messageId: in the call, in the SDK's log, or on the page of a delivery."
          action="Explain"
          onAsk={(asked) => go(['why', asked])}
        />
        {!isLimited.value && (
          <Ask
            id={user}
            autofocus={false}
            label="User id"
            hint="The exact userId, or the anonymousId of calls without one."
            action="Find events"
            onAsk={(asked) => go(['why'], { user: asked })}
          />
        )}
      </div>
      {id !== '' ? (
        <Explained id={id} />
      ) : user !== '' && !isLimited.value ? (
        <UserCalls key={user} id={user} />
      ) : (
        <Empty title={isLimited.value ? 'Enter an event id' : 'Enter an event id or a user id'} />
      )}
    </div>
  );
}

function Explained({ id }: { readonly id: string }) {
  const shown = useGet('/v1/events/{eventId}', { path: { eventId: id } });
  const { data, error, isLoading } = shown;
  if (error) return <ErrorNote error={error} onRetry={shown.reload} />;
  if (!data) return <div class="skeleton list-skeleton" aria-busy={isLoading} />;
  const { outcome, explanation, behind, searched, deliveries, decisions } = data;
  return (
    <Card title={text.outcomes[outcome]}>
      <div class="stack">
        {/* Otherwise the picture says it. */}
        {deliveries.length + decisions.length === 0 && <p>{explanation}</p>}
        <Picture trace={data} />
        {searched && (
          <p class="quiet small">
            All events searched since <Time at={searched.since} />.{' '}
            {!searched.complete && 'The search ended early. Try again.'}
          </p>
        )}
        {behind > 0 && (
          <p class="quiet small">The history is still reading {formatCounted(behind, 'record')}.</p>
        )}
      </div>
    </Card>
  );
}
