import { useLayoutEffect, useState } from 'preact/hooks';
import { useGet } from '../../api/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { TextField } from '../../parts/field.tsx';
import { formatCount } from '../../parts/format.ts';
import { ErrorNote } from '../../parts/notes.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { go, type PageProps } from '../../url/location.ts';
import { Picture } from './picture.tsx';

export default function WhyPage({ steps }: PageProps) {
  const [id = ''] = steps;
  const [typed, setTyped] = useState(id);
  useLayoutEffect(() => {
    setTyped(id);
  }, [id]);
  return (
    <div class="stack wide">
      <PageHead
        title={text.shell.pages.why}
        lead="Paste an event id (messageId) to see everything that happened to the event."
      />
      <form
        class="ask"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() !== '') go(['why', typed.trim()]);
        }}
      >
        <TextField
          label="Event id"
          value={typed}
          onValue={setTyped}
          mono
          autofocus={id === ''}
          hint="Find the id in the call, in the SDK's log, or on the page of a delivery."
        />
        <Button type="submit" kind="main-action">
          Explain
        </Button>
      </form>
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
