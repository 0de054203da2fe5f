import { api, ask, type Schema } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useForm } from '../../parts/entry-form.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { linesOf } from '../../parts/form.ts';
import { ErrorNote } from '../../parts/notes.tsx';
import { text } from '../../text/index.ts';

const words = text.access;

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
    <Dialog title={words.createToken} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void form.onSubmit();
        }}
      >
        <TextField label={words.tokenName} hint={words.tokenNameHint} {...field('name')} required autofocus />
        <ChoiceField label={words.scope} {...field('scope')} choices={Object.entries(words.scopes)} />
        <div class="columns">
          <TextField label={words.limitSources} hint={words.limitHint} {...field('sources')} lines={2} />
          <TextField
            label={words.limitDestinations}
            hint={words.limitHint}
            {...field('destinations')}
            lines={2}
          />
        </div>
        <TextField label={words.expiresIn} hint={words.expiresInHint} {...field('expiresIn')} />
        <ErrorNote error={error} />
        <div class="actions">
          <Button onClick={onClose}>{text.common.cancel}</Button>
          <Button type="submit" kind="main-action" isBusy={isBusy}>
            {text.common.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
