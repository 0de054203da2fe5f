import { api, ask } from '../../api/client.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card, PageHead } from '../../parts/card.tsx';
import { Form, useForm } from '../../parts/entry-form.tsx';
import { TextField } from '../../parts/field.tsx';
import { toast } from '../../parts/notes.tsx';
import { text } from '../../text/index.ts';
import { goFrom, hrefOf, place } from '../../url/location.ts';

const words = text.sources;

export function CreateSource() {
  const { field, form } = useForm({ name: '', id: '' }, async ({ name, id }) => {
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
        <Form
          {...form}
          action={words.create}
          kind="main-action"
          beside={<LinkButton href={hrefOf(['sources'])}>{text.common.cancel}</LinkButton>}
        >
          <TextField label={words.name} hint={words.nameHint} {...field('name')} autofocus />
          <TextField label={words.id} hint={words.idHint} {...field('id')} mono />
        </Form>
      </Card>
    </>
  );
}
