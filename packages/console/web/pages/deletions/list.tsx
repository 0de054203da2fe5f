import { api, ask, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { Form, useForm } from '../../parts/entry-form.tsx';
import { TextField } from '../../parts/field.tsx';
import { linesOf } from '../../parts/form.ts';
import { formatCount } from '../../parts/format.ts';
import { toast } from '../../parts/notes.tsx';
import { useList } from '../../lists/pager.tsx';
import { Status } from '../../parts/status.tsx';
import { PagedTable, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { goFrom, hrefOf, place } from '../../url/location.ts';

const words = text.people;

const columns: readonly Column<Schema['DeletionSummary']>[] = [
  {
    title: words.request,
    kind: 'wrap',
    cell: ({ id }) => (
      <a class="row-link" href={hrefOf(['deletions', id])}>
        {id}
      </a>
    ),
  },
  { title: words.state, cell: ({ state }) => <Status of={state} /> },
  { title: words.users, kind: 'number', cell: ({ users }) => formatCount(users) },
  { title: words.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: words.liftedAt, cell: ({ liftedAt }) => liftedAt !== undefined && <Time at={liftedAt} /> },
];

export function DeletionList() {
  const pages = useList('/v1/deletions', {});
  return (
    <>
      <PageHead title={text.shell.pages.deletions} lead={words.deletionsLead} />
      <div class="stack">
        {may('write') && <CreateDeletion />}
        <PagedTable
          label={text.shell.pages.deletions}
          columns={columns}
          pages={pages}
          keyOf={({ id }) => id}
          empty={<Empty title={words.deletionsEmpty} lead={words.deletionsEmptyLead} />}
        />
      </div>
    </>
  );
}

function CreateDeletion() {
  const { draft, field, form } = useForm({ userIds: '', sources: '' }, async (draft) => {
    const chosen = linesOf(draft.sources);
    const body = { userIds: linesOf(draft.userIds), ...(chosen.length > 0 && { sources: chosen }) };
    const begin = place.peek();
    const { id } = await ask(api.POST('/v1/deletions', { body }));
    toast(words.deletionDone);
    goFrom(begin, ['deletions', id]);
  });
  const create = async (): Promise<void> => {
    const title = words.deletionTitle(formatCount(linesOf(draft.userIds).length));
    const asked = { title, message: words.deletionMessage, action: words.createDeletion, danger: true };
    if (await confirmed(asked)) await form.onSubmit();
  };
  return (
    <Card title={words.createDeletion}>
      <Form {...form} onSubmit={create} action={words.createDeletion} kind="danger" wide>
        <div class="columns">
          <TextField
            label={words.userIds}
            hint={words.userIdsHint}
            {...field('userIds')}
            lines={3}
            required
          />
          <TextField label={words.onlySources} hint={words.onlySourcesHint} {...field('sources')} lines={3} />
        </div>
      </Form>
    </Card>
  );
}
