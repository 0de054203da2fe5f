import { api, ask, type Schema } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useForm } from '../../parts/entry-form.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { linesOf } from '../../parts/form.ts';
import { ErrorNote } from '../../parts/notes.tsx';

const words = {
  scopes: {
    read: 'read: view everything except secrets, bodies and user ids',
    write: 'write: also change sources, destinations and deliveries',
    admin: 'admin: also manage tokens and view the audit log',
  },
  limitHint: 'One id per line. Leave empty for no limit.',
};

const newDraft = {
  name: '',
  scope: 'read' as Schema['Token']['scope'],
  sources: '',
  destinations: '',
  expiresIn: '90d',
};

interface CreateTokenProps {
  readonly onClose: () => void;
  readonly onMade: (token: string) => void;
}

export function CreateToken({ onClose, onMade }: CreateTokenProps) {
  const { field, form } = useForm(newDraft, async ({ name, scope, expiresIn, ...draft }) => {
    const [sources, destinations] = [linesOf(draft.sources), linesOf(draft.destinations)];
    const body = {
      name,
      scope,
      ...(sources.length > 0 && { sources }),
      ...(destinations.length > 0 && { destinations }),
      ...(expiresIn.trim() !== '' && { expiresIn: expiresIn.trim() }),
    };
    onMade((await ask(api.POST('/v1/tokens', { body }))).token);
  });
  const { error, isBusy } = form.state;
  return (
    <Dialog title="Create a token" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void form.onSubmit();
        }}
      >
        <TextField
          label="Name"
          hint="The person or program that uses the token. Shown in the audit log."
          {...field('name')}
          required
          autofocus
        />
        <ChoiceField label="Scope" {...field('scope')} choices={Object.entries(words.scopes)} />
        <div class="columns">
          <TextField label="Only these sources" hint={words.limitHint} {...field('sources')} lines={2} />
          <TextField
            label="Only these destinations"
            hint={words.limitHint}
            {...field('destinations')}
            lines={2}
          />
        </div>
        <TextField
          label="Expires in"
          hint="A duration such as 24h or 90d. Leave empty for a token that does not expire."
          {...field('expiresIn')}
        />
        <ErrorNote error={error} />
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="main-action" isBusy={isBusy}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
