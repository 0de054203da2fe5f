/** Creates a destination: its type from the catalog, then its form. */
import { useState } from 'preact/hooks';
import { api, ask } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card, PageHead } from '../../parts/card.tsx';
import { Form, useForm } from '../../parts/entry-form.tsx';
import { CheckField, problemOf, TextField } from '../../parts/field.tsx';
import { ErrorNote, toast } from '../../parts/notes.tsx';
import { goFrom, hrefOf, place } from '../../url/location.ts';
import { entryOf, newDraft } from './draft.ts';
import { DestinationFields } from './fields.tsx';
import { omit } from '../../versions/omit.ts';

const words = {
  isEnabledHint:
    'A disabled destination receives no events, and does not receive them later. You can still send it a test event.',
};

export function CreateDestination({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { data, error, reload } = useGet('/v1/catalog', {});
  const { type, source } = query;
  const chosen = data?.items.find((entry) => entry.type === type);
  if (chosen) return <NewForm type={chosen.type} source={source} />;
  return (
    <>
      <PageHead title="Create a destination" lead="Choose a type" />
      <ErrorNote error={error} onRetry={reload} />
      <div class="catalog">
        {data?.items.map((entry) => (
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
  const [id, setId] = useState('');
  const [isEnabled, setEnabled] = useState(false);
  const { draft, setDraft, form } = useForm(
    () => newDraft(source === undefined ? [] : [source]),
    async (draft) => {
      const entry = entryOf(draft, { id: id.trim(), type: 'Webhooks', enabled: isEnabled });
      const body = entry.id === '' ? omit(entry, 'id') : entry;
      const begin = place.peek();
      const destination = await ask(api.POST('/v1/destinations', { body }));
      toast('Destination created. Send a test event, then enable it.');
      goFrom(begin, ['destinations', destination.id], { tab: 'test' });
    },
  );
  const { error } = form.state;
  return (
    <>
      <PageHead title="Create a destination" lead={`Type: ${type}`} />
      <Card>
        <Form
          {...form}
          action="Create a destination"
          kind="main-action"
          beside={<LinkButton href={hrefOf(['destinations'])}>Cancel</LinkButton>}
        >
          <TextField
            label="Id"
            hint="Cannot be changed later. Leave empty to generate one."
            value={id}
            onValue={setId}
            mono
            problem={problemOf(error, 'id')}
          />
          <DestinationFields draft={draft} onDraft={setDraft} error={error} />
          <CheckField
            label="Enable immediately"
            hint={words.isEnabledHint}
            value={isEnabled}
            onValue={setEnabled}
          />
        </Form>
      </Card>
    </>
  );
}
