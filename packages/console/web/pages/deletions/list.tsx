import { useMemo } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { Form, useForm } from '../../parts/entry-form.tsx';
import { TextField } from '../../parts/field.tsx';
import { linesOf, randomHex } from '../../parts/form.ts';
import { formatCount, formatCounted } from '../../parts/format.ts';
import { toast } from '../../parts/notes.tsx';
import { EntriesField } from '../../lists/entry-choice.tsx';
import { useList } from '../../lists/pager.tsx';
import { Badge } from '../../parts/status.tsx';
import { PagedTable, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { goFrom, hrefOf, place } from '../../url/location.ts';

const words = {
  deletionsLead:
    "A deletion request sends a delete call for each user to the destinations of each source. The users' earlier events are no longer sent, and the users leave all audiences. To block later calls as well, suppress the users.",
  deletionsEmptyLead:
    'When someone asks to be deleted, create a request with their user id. Its progress for each destination appears here.',
  deletionMessage:
    'Receivers get a delete call for each user. This cannot be undone. Earlier events are no longer sent. Later calls are, unless you also suppress the users.',
};

const columns: readonly Column<Schema['DeletionSummary']>[] = [
  {
    title: 'Request',
    kind: 'wrap',
    cell: ({ id }) => (
      <a class="row-link" href={hrefOf(['deletions', id])}>
        {id}
      </a>
    ),
  },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Users', kind: 'number', cell: ({ users }) => formatCount(users) },
  { title: 'Delete calls', cell: ({ state }) => <Badge tone="accent">{state}</Badge> },
  { title: 'Lifted', cell: ({ liftedAt }) => liftedAt !== undefined && <Time at={liftedAt} /> },
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
          empty={<Empty title="No deletion requests yet" lead={words.deletionsEmptyLead} />}
        />
      </div>
    </>
  );
}

const newDraft = { userIds: '', sources: [] as readonly string[] };

function CreateDeletion() {
  const { draft, field, form } = useForm(newDraft, async (draft) => {
    const { sources } = draft;
    const userIds = linesOf(draft.userIds);
    const body = { requestId, userIds, ...(sources.length > 0 && { sources: [...sources] }) };
    const begin = place.peek();
    const { id } = await ask(api.POST('/v1/deletions', { body }));
    toast('Sending the deletion request.');
    goFrom(begin, ['deletions', id]);
  });
  /** The same after a lost answer, so that a second try is not a second request. */
  const requestId = useMemo(() => randomHex(16), [draft.userIds, draft.sources]);
  const create = async (): Promise<void> => {
    const title = `Delete ${formatCounted(linesOf(draft.userIds).length, 'user')}?`;
    const asked = { title, message: words.deletionMessage, action: 'Delete users', danger: true };
    if (await confirmed(asked)) await form.onSubmit();
  };
  return (
    <Card title="Delete users">
      <Form {...form} onSubmit={create} action="Delete users" kind="danger" wide>
        <div class="columns">
          <TextField
            label="User ids"
            hint="One per line, as they appear in events."
            {...field('userIds')}
            lines={3}
            required
          />
          <EntriesField
            path="/v1/sources"
            label="Only these sources"
            hint="If none is selected, all are included."
            emptyHint="No sources yet."
            {...field('sources')}
            withoutBuiltIn
          />
        </div>
      </Form>
    </Card>
  );
}
