import { useState } from 'preact/hooks';
import { api, ask } from '../../api/client.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Card, PageHead } from '../../parts/card.tsx';
import { problemOf, TextField } from '../../parts/field.tsx';
import { useSubmission } from '../../parts/form.ts';
import { ErrorNote, toast } from '../../parts/notes.tsx';
import { text } from '../../text/index.ts';
import { goFrom, hrefOf, place } from '../../url/location.ts';

const words = text.sources;

export function CreateSource() {
  const [name, setName] = useState('');
  const [id, setId] = useState('');
  const { isBusy, error, run } = useSubmission();
  const create = (): Promise<boolean> =>
    run(async () => {
      const body = { ...(name !== '' && { name }), ...(id !== '' && { id }) };
      const begin = place.peek();
      const source = await ask(api.POST('/v1/sources', { body }));
      toast(words.created);
      goFrom(begin, ['sources', source.id]);
    });
  return (
    <>
      <PageHead title={words.create} lead={words.lead} />
      <Card>
        <form
          class="stack form"
          onSubmit={(event) => {
            event.preventDefault();
            void create();
          }}
        >
          <TextField
            label={words.name}
            hint={words.nameHint}
            value={name}
            onValue={setName}
            autofocus
            problem={problemOf(error, 'name')}
          />
          <TextField
            label={words.id}
            hint={words.idHint}
            value={id}
            onValue={setId}
            mono
            problem={problemOf(error, 'id')}
          />
          <ErrorNote error={error} />
          <div class="row">
            <Button type="submit" kind="main-action" isBusy={isBusy}>
              {words.create}
            </Button>
            <LinkButton href={hrefOf(['sources'])}>{text.common.cancel}</LinkButton>
          </div>
        </form>
      </Card>
    </>
  );
}
