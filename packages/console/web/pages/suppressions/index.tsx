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

const words = text.people;
type Suppression = Schema['GetSuppressionAnswer'];

/** A token with the scope read may look up a user, and not list them. */
export default function Suppressions() {
  return (
    <>
      <PageHead title={text.shell.pages.suppressions} lead={words.suppressionsLead} />
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
        empty={<Empty title={words.suppressionsEmpty} lead={words.suppressionsEmptyLead} />}
      />
    </div>
  );
}

function columnsOf(onRemoved: () => unknown): readonly Column<Suppression>[] {
  return [
    { title: words.user, kind: 'wrap', cell: ({ userId }) => <code>{userId}</code> },
    { title: words.since, cell: ({ since }) => <Time at={since} /> },
    {
      title: text.common.actions,
      cell: ({ userId }) => (
        <Action
          small
          kind="danger"
          label={`${words.unsuppress} ${userId}`}
          question={{ title: words.unsuppressTitle(userId), message: words.unsuppressMessage }}
          request={() => ask(api.DELETE('/v1/suppressions/{userId}', { params: { path: { userId } } }))}
          done={words.unsuppressed}
          after={onRemoved}
        >
          {words.unsuppress}
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
      setAnswer(words.isSuppressed(userId));
    } catch (reason) {
      if (!(reason instanceof ApiError) || reason.status !== notFound) throw reason;
      setAnswer(words.notSuppressed(userId));
    }
  });
  return (
    <Card title={words.find}>
      <Form
        {...form}
        action={words.findAction}
        wide
        beside={
          <span role="status" class="breakable">
            {answer}
          </span>
        }
      >
        <TextField label={words.user} hint={words.findHint} {...field('userId')} required />
      </Form>
    </Card>
  );
}

function Suppress({ onDone }: { readonly onDone: () => Promise<void> }) {
  const { field, form, setDraft } = useForm({ userIds: '' }, async ({ userIds }) => {
    const { added } = await ask(api.POST('/v1/suppressions', { body: { userIds: linesOf(userIds) } }));
    toast(words.suppressed(formatCount(added)));
    setDraft({ userIds: '' });
    await onDone();
  });
  return (
    <Card title={words.suppress}>
      <Form {...form} action={words.suppress} kind="main-action" wide>
        <TextField label={words.userIds} hint={words.userIdsHint} {...field('userIds')} lines={3} required />
      </Form>
    </Card>
  );
}
