import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { problemOf, TextField } from '../../parts/field.tsx';
import { linesOf, useSubmission } from '../../parts/form.ts';
import { formatCount } from '../../parts/format.ts';
import { ErrorNote, toast } from '../../parts/notes.tsx';
import { usePages } from '../../lists/pager.tsx';
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
  const pages = usePages('deletions', (cursor, signal) =>
    ask(api.GET('/v1/deletions', { signal, params: { query: { limit: 100, cursor } } })),
  );
  return (
    <>
      <PageHead title={text.shell.pages.deletions} lead={words.deletionsLead} />
      <div class="stack">
        {may('write') && <CreateDeletion />}
        <Card flush>
          <PagedTable
            label={text.shell.pages.deletions}
            columns={columns}
            pages={pages}
            keyOf={({ id }) => id}
            empty={
              <Empty title={words.deletionsEmpty}>
                <p>{words.deletionsEmptyLead}</p>
              </Empty>
            }
          />
        </Card>
      </div>
    </>
  );
}

function CreateDeletion() {
  const [users, setUsers] = useState('');
  const [sources, setSources] = useState('');
  const { isBusy, error, run } = useSubmission();
  const create = async (): Promise<void> => {
    const userIds = linesOf(users);
    const asked = {
      title: words.deletionTitle(formatCount(userIds.length)),
      message: <p>{words.deletionMessage}</p>,
      action: words.createDeletion,
    };
    if (!(await confirmed({ ...asked, danger: true }))) return;
    await run(async () => {
      const chosen = linesOf(sources);
      const body = { userIds, ...(chosen.length > 0 && { sources: chosen }) };
      const begin = place.peek();
      const { id } = await ask(api.POST('/v1/deletions', { body }));
      toast(words.deletionDone);
      goFrom(begin, ['deletions', id]);
    });
  };
  return (
    <Card title={words.createDeletion}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <div class="columns">
          <TextField
            label={words.userIds}
            hint={words.userIdsHint}
            value={users}
            onValue={setUsers}
            lines={3}
            required
            problem={problemOf(error, 'userIds')}
          />
          <TextField
            label={words.onlySources}
            hint={words.onlySourcesHint}
            value={sources}
            onValue={setSources}
            lines={3}
            problem={problemOf(error, 'sources')}
          />
        </div>
        <ErrorNote error={error} />
        <div class="row">
          <Button type="submit" kind="danger" isBusy={isBusy}>
            {words.createDeletion}
          </Button>
        </div>
      </form>
    </Card>
  );
}
