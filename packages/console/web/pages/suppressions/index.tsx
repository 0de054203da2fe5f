/** Users whose events are not delivered. */
import { useState } from 'preact/hooks';
import { api, ApiError, ask, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Action } from '../../parts/action.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { Form, useForm } from '../../parts/entry-form.tsx';
import { TextField } from '../../parts/field.tsx';
import { linesOf } from '../../parts/form.ts';
import { formatCounted } from '../../parts/format.ts';
import { attempt, toast } from '../../parts/notes.tsx';
import { ExportLink } from '../../lists/export-link.tsx';
import { useList } from '../../lists/pager.tsx';
import { MainCell, PagedTable, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { isolated } from '../../text/isolated.ts';

const words = {
  suppressMessage:
    'Their events that arrive from now on are never delivered, even if you remove the suppression. Delete calls still are.',
  released: 'The users are no longer suppressed. Events sent meanwhile are not delivered.',
};

/** Each is a request. */
const maxUndone = 20;

type Suppression = Schema['GetSuppressionAnswer'];

/** A token with the scope read may look up a user, and not list them. */
export default function Suppressions() {
  return (
    <>
      <PageHead
        title={text.shell.pages.suppressions}
        lead="Events of suppressed users are not delivered. Delete calls still are."
      >
        {may('write') && <ExportLink path="/v1/suppressions.csv" query={{}} />}
      </PageHead>
      {may('write') ? <List /> : <Find />}
    </>
  );
}

function List() {
  const pages = useList('/v1/suppressions', {});
  return (
    <div class="stack">
      <div class="columns">
        <Find />
        <Suppress onDone={pages.reload} />
      </div>
      <PagedTable
        label={text.shell.pages.suppressions}
        columns={columnsOf(pages.reload)}
        pages={pages}
        keyOf={({ userId }) => userId}
        empty={
          <Empty
            title="No suppressed users"
            lead="Suppress users whose events must not be delivered, for example after they objected."
          />
        }
      />
    </div>
  );
}

function columnsOf(onRemoved: () => unknown): readonly Column<Suppression>[] {
  return [
    {
      title: 'User, suppressed since',
      kind: 'main',
      cell: ({ userId, since }) => (
        <MainCell
          below={
            <>
              <Time at={since} />
              <Action
                small
                kind="danger"
                label={`Remove ${userId}`}
                question={{
                  title: `Deliver events of ${isolated(userId)} again?`,
                  message: 'New events are delivered. Events sent during the suppression are not.',
                }}
                request={() => release(userId)}
                done="The user is no longer suppressed."
                after={onRemoved}
              >
                Remove
              </Action>
            </>
          }
        >
          <code>{userId}</code>
        </MainCell>
      ),
    },
  ];
}

function release(userId: string): Promise<unknown> {
  return ask(api.DELETE('/v1/suppressions/{userId}', { params: { path: { userId } } }));
}

const notFound = 404;

function Find() {
  const [answer, setAnswer] = useState('');
  const { field, form } = useForm({ userId: '' }, async ({ userId }) => {
    setAnswer('');
    try {
      await ask(api.GET('/v1/suppressions/{userId}', { params: { path: { userId } } }));
      setAnswer(`${isolated(userId)} is suppressed.`);
    } catch (reason) {
      if (!(reason instanceof ApiError) || reason.status !== notFound) throw reason;
      setAnswer(`${isolated(userId)} is not suppressed.`);
    }
  });
  return (
    <Card title="Find a user">
      <Form
        {...form}
        action="Find"
        wide
        beside={
          <span role="status" class="breakable">
            {answer}
          </span>
        }
      >
        <TextField label="User" hint="The exact user id." {...field('userId')} required />
      </Form>
    </Card>
  );
}

function Suppress({ onDone }: { readonly onDone: () => Promise<void> }) {
  const { draft, field, form, setDraft } = useForm({ userIds: '' }, async (draft) => {
    const userIds = [...new Set(linesOf(draft.userIds))];
    const { added } = await ask(api.POST('/v1/suppressions', { body: { userIds } }));
    const undo = async (): Promise<void> => {
      await attempt(() => Promise.all(userIds.map(release)), words.released);
      await onDone();
    };
    // Users who were suppressed before stay so.
    const isUndoable = added === userIds.length && added <= maxUndone;
    toast(`${formatCounted(added, 'more user', 'more users')} suppressed.`, isUndoable ? { undo } : {});
    setDraft({ userIds: '' });
    await onDone();
  });
  const suppress = async (): Promise<void> => {
    const title = `Suppress ${formatCounted(new Set(linesOf(draft.userIds)).size, 'user')}?`;
    const asked = { title, message: words.suppressMessage, action: 'Suppress users', danger: true };
    if (await confirmed(asked)) await form.onSubmit();
  };
  return (
    <Card title="Suppress users">
      <Form {...form} onSubmit={suppress} action="Suppress users" kind="main-action" wide>
        <TextField
          label="User ids"
          hint="One per line, as they appear in events."
          {...field('userIds')}
          lines={3}
          required
        />
      </Form>
    </Card>
  );
}
