/** Creates a destination: its type from the catalog, then its form. */
import { useState } from 'preact/hooks';
import { api, ask } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card, PageHead } from '../../parts/card.tsx';
import { Form, useForm } from '../../parts/entry-form.tsx';
import { CheckField, problemOf, TextField } from '../../parts/field.tsx';
import { ErrorNote, toast } from '../../parts/notes.tsx';
import { text } from '../../text/index.ts';
import { goFrom, hrefOf, place } from '../../url/location.ts';
import { entryOf, newDraft } from './draft.ts';
import { DestinationFields } from './fields.tsx';
import { omit } from '../../versions/omit.ts';

const words = text.destinations;

export function CreateDestination({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { data, error, reload } = useGet('/v1/catalog', {});
  const { type, source } = query;
  const chosen = data?.items.find((entry) => entry.type === type);
  if (chosen) return <NewForm type={chosen.type} source={source} />;
  return (
    <>
      <PageHead title={words.create} lead={words.catalog} />
      <ErrorNote error={error} onRetry={reload} />
      <div class="catalog">
        {data?.items.map((entry) => (
          <Card key={entry.type} title={entry.name}>
            <p>{entry.description}</p>
            <p class="quiet small">
              {words.calls}: {entry.supportedCalls.join(', ')}
            </p>
            <LinkButton
              kind="main-action"
              href={hrefOf(['destinations', '+new'], { type: entry.type, source })}
            >
              {words.next}
            </LinkButton>
          </Card>
        ))}
      </div>
    </>
  );
}

function NewForm({ type, source }: { readonly type: string; readonly source: string | undefined }) {
  const [id, setId] = useState('');
  const [isEnabled, setEnabled] = useState(false);
  const { draft, setDraft, form } = useForm(
    () => newDraft(source === undefined ? [] : [source]),
    async (draft) => {
      const entry = entryOf(draft, { id: id.trim(), type: 'Webhooks', enabled: isEnabled });
      const body = entry.id === '' ? omit(entry, 'id') : entry;
      const begin = place.peek();
      const destination = await ask(api.POST('/v1/destinations', { body }));
      toast(words.created);
      goFrom(begin, ['destinations', destination.id], { tab: 'test' });
    },
  );
  const { error } = form.state;
  return (
    <>
      <PageHead title={words.create} lead={`${words.chosen}: ${type}`} />
      <Card>
        <Form
          {...form}
          action={words.create}
          kind="main-action"
          beside={<LinkButton href={hrefOf(['destinations'])}>{text.common.cancel}</LinkButton>}
        >
          <TextField
            label={words.id}
            hint={words.idHint}
            value={id}
            onValue={setId}
            mono
            problem={problemOf(error, 'id')}
          />
          <DestinationFields draft={draft} onDraft={setDraft} error={error} />
          <CheckField
            label={words.isEnabled}
            hint={words.isEnabledHint}
            value={isEnabled}
            onValue={setEnabled}
          />
        </Form>
      </Card>
    </>
  );
}
