import { api, ask, type Schema } from '../../api/client.ts';
import { FormDialog, useForm } from '../../parts/entry-form.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { EntriesField } from '../../lists/entry-choice.tsx';

const words = {
  scopes: {
    read: 'read: view everything except secrets, bodies and user ids',
    write: 'write: also change sources, destinations and deliveries',
    admin: 'admin: also manage tokens and view the audit log',
  },
  limitHint: 'If none is selected, the token is not limited.',
  expiries: {
    '24h': 'in 1 day',
    '7d': 'in 7 days',
    '30d': 'in 30 days',
    '90d': 'in 90 days',
    '365d': 'in 1 year',
    '': 'never',
  },
};

const newDraft = {
  name: '',
  scope: 'read' as Schema['Token']['scope'],
  sources: [] as readonly string[],
  destinations: [] as readonly string[],
  expiresIn: '90d',
};

interface CreateTokenProps {
  readonly onClose: () => void;
  readonly onMade: (token: string) => void;
}

export function CreateToken({ onClose, onMade }: CreateTokenProps) {
  const { field, form } = useForm(newDraft, async ({ name, scope, expiresIn, sources, destinations }) => {
    const body = {
      name,
      scope,
      ...(sources.length > 0 && { sources: [...sources] }),
      ...(destinations.length > 0 && { destinations: [...destinations] }),
      ...(expiresIn !== '' && { expiresIn }),
    };
    onMade((await ask(api.POST('/v1/tokens', { body }))).token);
  });
  return (
    <FormDialog {...form} title="Create a token" onClose={onClose} action="Create">
      <TextField
        label="Name"
        hint="The person or program that uses the token. Shown in the audit log."
        {...field('name')}
        required
        autofocus
      />
      <ChoiceField label="Scope" {...field('scope')} choices={Object.entries(words.scopes)} />
      <div class="columns">
        <EntriesField
          path="/v1/sources"
          label="Only these sources"
          hint={words.limitHint}
          emptyHint="No sources yet."
          {...field('sources')}
        />
        <EntriesField
          path="/v1/destinations"
          label="Only these destinations"
          hint={words.limitHint}
          emptyHint="No destinations yet."
          {...field('destinations')}
        />
      </div>
      <ChoiceField label="Expires" {...field('expiresIn')} choices={Object.entries(words.expiries)} />
    </FormDialog>
  );
}
