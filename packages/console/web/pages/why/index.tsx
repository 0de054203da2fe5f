import { useGet } from '../../api/resource.ts';
import { Ask } from '../../parts/ask.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { formatCount } from '../../parts/format.ts';
import { ErrorNote } from '../../parts/notes.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import type { PageProps } from '../../url/location.ts';
import { Picture } from './picture.tsx';

export default function WhyPage({ steps }: PageProps) {
  const [id = ''] = steps;
  return (
    <div class="stack wide">
      <PageHead
        title={text.shell.pages.why}
        lead="Paste an event id (messageId) to see everything that happened to the event."
      />
      <Ask
        page="why"
        id={id}
        label="Event id"
        hint="Find the id in the call, in the SDK's log, or on the page of a delivery."
        action="Explain"
      />
      {id === '' ? <Empty title="What happened to an event?" /> : <Explained id={id} />}
    </div>
  );
}

function Explained({ id }: { readonly id: string }) {
  const shown = useGet('/v1/events/{eventId}', { path: { eventId: id } });
  const { data, error, isLoading } = shown;
  if (error) return <ErrorNote error={error} onRetry={shown.reload} />;
  if (!data) return <div class="skeleton list-skeleton" aria-busy={isLoading} />;
  const { outcome, explanation, behind, searched } = data;
  return (
    <Card title={text.outcomes[outcome]}>
      <div class="stack">
        <p>{explanation}</p>
        <Picture trace={data} />
        {searched && (
          <p class="quiet small">
            All events searched since <Time at={searched.since} />.{' '}
            {!searched.complete && 'The search ended early. Try again.'}
          </p>
        )}
        {behind > 0 && <p class="quiet small">The history is still reading {formatCount(behind)} records.</p>}
      </div>
    </Card>
  );
}
