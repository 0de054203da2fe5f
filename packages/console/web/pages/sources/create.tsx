import { api, ask } from '../../api/client.ts';
import { CreatePage, useForm } from '../../parts/entry-form.tsx';
import { TextField } from '../../parts/field.tsx';
import { toast } from '../../parts/notes.tsx';
import { IdField } from '../../parts/id-field.tsx';
import { idOf } from '../../parts/proposed-id.ts';
import { goFrom, place } from '../../url/location.ts';

interface Draft {
  readonly name: string;
  /** Undefined until it is typed. */
  readonly id?: string;
}

export function CreateSource() {
  const { draft, field, form } = useForm<Draft>({ name: '' }, async ({ name, id = idOf(name) }) => {
    const body = { ...(name !== '' && { name }), ...(id !== '' && { id }) };
    const begin = place.peek();
    const source = await ask(api.POST('/v1/sources', { body }));
    toast('Source created. Send it an event.');
    goFrom(begin, ['sources', source.id]);
  });
  return (
    <CreatePage
      {...form}
      title="Create a source"
      lead="A source is an application that sends events. Each has its own write keys."
      list="sources"
    >
      <TextField
        label="Name"
        hint="Display name. You can change it at any time."
        {...field('name')}
        autofocus
      />
      <IdField name={draft.name} {...field('id')} />
    </CreatePage>
  );
}
