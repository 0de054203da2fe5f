import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ChoiceField, problemOf, TextField } from '../../parts/field.tsx';
import { linesOf, useSubmission } from '../../parts/form.ts';
import { ErrorNote } from '../../parts/notes.tsx';
import { text } from '../../text/index.ts';

const words = text.access;

interface CreateTokenProps {
  readonly onClose: () => void;
  readonly onMade: (token: string) => void;
}

export function CreateToken({ onClose, onMade }: CreateTokenProps) {
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Schema['Token']['scope']>('read');
  const [sources, setSources] = useState('');
  const [destinations, setDestinations] = useState('');
  const [expiresIn, setExpiresIn] = useState('90d');
  const { isBusy, error, run } = useSubmission();
  const create = (): Promise<boolean> =>
    run(async () => {
      const body = {
        name,
        scope,
        ...(linesOf(sources).length > 0 && { sources: linesOf(sources) }),
        ...(linesOf(destinations).length > 0 && { destinations: linesOf(destinations) }),
        ...(expiresIn.trim() !== '' && { expiresIn: expiresIn.trim() }),
      };
      onMade((await ask(api.POST('/v1/tokens', { body }))).token);
    });
  return (
    <Dialog title={words.createToken} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <TextField
          label={words.tokenName}
          hint={words.tokenNameHint}
          value={name}
          onValue={setName}
          required
          autofocus
          problem={problemOf(error, 'name')}
        />
        <ChoiceField
          label={words.scope}
          value={scope}
          onValue={(chosen) => {
            setScope(chosen as typeof scope);
          }}
          choices={Object.entries(words.scopes)}
        />
        <div class="columns">
          <TextField
            label={words.limitSources}
            hint={words.limitHint}
            value={sources}
            onValue={setSources}
            lines={2}
            problem={problemOf(error, 'sources')}
          />
          <TextField
            label={words.limitDestinations}
            hint={words.limitHint}
            value={destinations}
            onValue={setDestinations}
            lines={2}
            problem={problemOf(error, 'destinations')}
          />
        </div>
        <TextField
          label={words.expiresIn}
          hint={words.expiresInHint}
          value={expiresIn}
          onValue={setExpiresIn}
          problem={problemOf(error, 'expiresIn')}
        />
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
