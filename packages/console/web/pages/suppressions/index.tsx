/** Users whose events are not delivered. */
import { useState } from 'preact/hooks';
import { api, ApiError, ask, type Schema } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Card, Empty, PageHead } from '../../parts/card.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { Form } from '../../parts/entry-form.tsx';
import { problemOf, TextField } from '../../parts/field.tsx';
import { linesOf, useSubmission } from '../../parts/form.ts';
import { formatCount } from '../../parts/format.ts';
import { attempt, toast } from '../../parts/notes.tsx';
import { usePages } from '../../lists/pager.tsx';
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
  const pages = usePages('suppressions', (cursor, signal) =>
    ask(api.GET('/v1/suppressions', { signal, params: { query: { limit: 100, cursor } } })),
  );
  const remove = async (userId: string): Promise<void> => {
    const asked = { title: words.unsuppressTitle(userId), message: <p>{words.unsuppressMessage}</p> };
    if (!(await confirmed({ ...asked, action: words.unsuppress, danger: true }))) return;
    const params = { path: { userId } };
    await attempt(() => ask(api.DELETE('/v1/suppressions/{userId}', { params })), words.unsuppressed);
    await pages.reload();
  };
  return (
    <div class="stack">
      <div class="columns">
        <Find />
        <Suppress onDone={() => pages.reload()} />
      </div>
      <PagedTable
        label={text.shell.pages.suppressions}
        columns={columnsOf(remove)}
        pages={pages}
        keyOf={({ userId }) => userId}
        empty={<Empty title={words.suppressionsEmpty} lead={words.suppressionsEmptyLead} />}
      />
    </div>
  );
}

function columnsOf(remove: (userId: string) => Promise<void>): readonly Column<Suppression>[] {
  return [
    { title: words.user, kind: 'wrap', cell: ({ userId }) => <code>{userId}</code> },
    { title: words.since, cell: ({ since }) => <Time at={since} /> },
    {
      title: text.common.actions,
      cell: ({ userId }) => (
        <Button small kind="danger" label={`${words.unsuppress} ${userId}`} onClick={() => remove(userId)}>
          {words.unsuppress}
        </Button>
      ),
    },
  ];
}

const notFound = 404;

function Find() {
  const [userId, setUserId] = useState('');
  const [answer, setAnswer] = useState('');
  const submission = useSubmission();
  const find = (): Promise<boolean> =>
    submission.run(async () => {
      setAnswer('');
      const params = { path: { userId } };
      try {
        await ask(api.GET('/v1/suppressions/{userId}', { params }));
        setAnswer(words.isSuppressed(userId));
      } catch (reason) {
        if (!(reason instanceof ApiError) || reason.status !== notFound) throw reason;
        setAnswer(words.notSuppressed(userId));
      }
    });
  return (
    <Card title={words.find}>
      <Form
        state={submission}
        onSubmit={find}
        action={words.findAction}
        wide
        beside={
          <span role="status" class="breakable">
            {answer}
          </span>
        }
      >
        <TextField label={words.user} hint={words.findHint} value={userId} onValue={setUserId} required />
      </Form>
    </Card>
  );
}

function Suppress({ onDone }: { readonly onDone: () => Promise<void> }) {
  const [typed, setTyped] = useState('');
  const submission = useSubmission();
  const suppress = (): Promise<boolean> =>
    submission.run(async () => {
      const body = { userIds: linesOf(typed) };
      const { added } = await ask(api.POST('/v1/suppressions', { body }));
      toast(words.suppressed(formatCount(added)));
      setTyped('');
      await onDone();
    });
  return (
    <Card title={words.suppress}>
      <Form state={submission} onSubmit={suppress} action={words.suppress} kind="main-action" wide>
        <TextField
          label={words.userIds}
          hint={words.userIdsHint}
          value={typed}
          onValue={setTyped}
          lines={3}
          required
          problem={problemOf(submission.error, 'userIds')}
        />
      </Form>
    </Card>
  );
}
