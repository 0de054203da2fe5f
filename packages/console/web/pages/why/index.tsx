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
      <PageHead title={text.shell.pages.why} lead={text.why.lead} />
      <form
        class="ask"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() !== '') go(['why', typed.trim()]);
        }}
      >
        <TextField
          label={text.why.id}
          value={typed}
          onValue={setTyped}
          mono
          autofocus={id === ''}
          hint={text.why.example}
        />
        <Button type="submit" kind="main-action">
          {text.why.explain}
        </Button>
      </form>
      {id === '' ? <Empty title={text.why.empty} /> : <Explained id={id} />}
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
    <Card title={text.why.outcomes[outcome]}>
      <div class="stack">
        <p>{explanation}</p>
        <Picture trace={data} />
        {searched && (
          <p class="quiet small">
            {text.why.searched} <Time at={searched.since} />. {!searched.complete && text.why.incomplete}
          </p>
        )}
        {behind > 0 && <p class="quiet small">{text.why.behind(formatCount(behind))}</p>}
      </div>
    </Card>
  );
}
