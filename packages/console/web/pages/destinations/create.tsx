/** Creates a destination: its type from the catalog, where there are several, then its form. */
import { useState } from 'preact/hooks';
import { api, ask } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card, PageHead, PageOfEntry } from '../../parts/card.tsx';
import { CreatePage, useForm } from '../../parts/entry-form.tsx';
import { CheckField, problemOf } from '../../parts/field.tsx';
import { toast } from '../../parts/notes.tsx';
import { IdField } from '../../parts/id-field.tsx';
import { idOf } from '../../parts/proposed-id.ts';
import { goFrom, hrefOf, place } from '../../url/location.ts';
import { entryOf, newDraft } from './draft.ts';
import { DestinationFields } from './fields.tsx';
import { omit } from '../../versions/omit.ts';

const words = {
  title: 'Create a destination',
  isEnabledHint:
    'A disabled destination receives no events, and does not receive them later. You can still send it a test event.',
};

export function CreateDestination({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { data, error, reload } = useGet('/v1/catalog', {});
  const { type, source } = query;
  if (!data) return <PageOfEntry title={words.title} error={error} onRetry={reload} />;
  const { items } = data;
  const chosen = items.length === 1 ? items[0] : items.find((entry) => entry.type === type);
  if (chosen) return <NewForm type={chosen.type} source={source} />;
  return (
    <>
      <PageHead title={words.title} lead="Choose a type" />
      <div class="catalog">
        {items.map((entry) => (
          <Card key={entry.type} title={entry.name}>
            <p>{entry.description}</p>
            <p class="quiet small">Calls: {entry.supportedCalls.join(', ')}</p>
            <LinkButton
              kind="main-action"
              href={hrefOf(['destinations', '+new'], { type: entry.type, source })}
            >
              Continue
            </LinkButton>
          </Card>
        ))}
      </div>
    </>
  );
}

function NewForm({ type, source }: { readonly type: string; readonly source: string | undefined }) {
  const [typedId, setId] = useState<string>();
  const [isEnabled, setEnabled] = useState(false);
  const { draft, setDraft, form } = useForm(
    () => newDraft(source === undefined ? [] : [source]),
    async (draft) => {
      const id = (typedId ?? idOf(draft.name)).trim();
      const entry = entryOf(draft, { id, type: 'Webhooks', enabled: isEnabled });
      const body = entry.id === '' ? omit(entry, 'id') : entry;
      const begin = place.peek();
      const destination = await ask(api.POST('/v1/destinations', { body }));
      toast(isEnabled ? 'Destination created and enabled.' : 'Destination created. It is disabled.');
      goFrom(begin, ['destinations', destination.id], isEnabled ? { created: 'now' } : { tab: 'test' });
    },
  );
  const { error } = form.state;
  return (
    <CreatePage {...form} title={words.title} lead={`Type: ${type}`} list="destinations">
      <DestinationFields draft={draft} onDraft={setDraft} error={error}>
        <IdField name={draft.name} value={typedId} onValue={setId} problem={problemOf(error, 'id')} />
      </DestinationFields>
      <CheckField
        label="Enable immediately"
        hint={words.isEnabledHint}
        value={isEnabled}
        onValue={setEnabled}
      />
    </CreatePage>
  );
}
