/** Users whose events are not delivered. */
import { useState } from 'preact/hooks';
import { api, ApiError, ask, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Action } from '../../parts/action.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { Form, useForm } from '../../parts/entry-form.tsx';
import { TextField } from '../../parts/field.tsx';
import { linesOf } from '../../parts/form.ts';
import { formatCount } from '../../parts/format.ts';
import { toast } from '../../parts/notes.tsx';
import { useList } from '../../lists/pager.tsx';
import { PagedTable, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { isolated } from '../../text/isolated.ts';

type Suppression = Schema['GetSuppressionAnswer'];

/** A token with the scope read may look up a user, and not list them. */
export default function Suppressions() {
  return (
    <>
      <PageHead
        title={text.shell.pages.suppressions}
        lead="Events of suppressed users are not delivered. Delete calls still are."
      />
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
    { title: 'User', kind: 'wrap', cell: ({ userId }) => <code>{userId}</code> },
    { title: 'Since', cell: ({ since }) => <Time at={since} /> },
    {
      title: 'Actions',
      cell: ({ userId }) => (
        <Action
          small
          kind="danger"
          label={`Remove ${userId}`}
          question={{
            title: `Deliver events of ${isolated(userId)} again?`,
            message: 'New events are delivered. Events sent during the suppression are not.',
          }}
          request={() => ask(api.DELETE('/v1/suppressions/{userId}', { params: { path: { userId } } }))}
          done="The user is no longer suppressed."
          after={onRemoved}
        >
          Remove
        </Action>
      ),
    },
  ];
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
  const { field, form, setDraft } = useForm({ userIds: '' }, async ({ userIds }) => {
    const { added } = await ask(api.POST('/v1/suppressions', { body: { userIds: linesOf(userIds) } }));
    toast(`${formatCount(added)} more users suppressed.`);
    setDraft({ userIds: '' });
    await onDone();
  });
  return (
    <Card title="Suppress users">
      <Form {...form} action="Suppress users" kind="main-action" wide>
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
