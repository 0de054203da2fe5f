/** Creates a notification; changes, tests and deletes one. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { useGet, useResource } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Card, PageHead, PageOfEntry } from '../../parts/card.tsx';
import { CreatePage, useForm } from '../../parts/entry-form.tsx';
import { problemOf } from '../../parts/field.tsx';
import { attempt, toast } from '../../parts/notes.tsx';
import { IdField } from '../../parts/id-field.tsx';
import { idOf } from '../../parts/proposed-id.ts';
import { Badge, Status } from '../../parts/status.tsx';
import { Ago } from '../../parts/time.tsx';
import { goFrom, hrefOf, place } from '../../url/location.ts';
import { DeleteCard } from '../../versions/delete-card.tsx';
import { requestsOf } from '../../versions/requests.ts';
import { SettingsForm } from '../../versions/settings-form.tsx';
import { draftOf, entryOf, newDraft } from './draft.ts';
import { NotificationFields } from './fields.tsx';

const statusEveryMs = 5_000;

const requests = requestsOf('/v1/notifications/{id}');
const settings = { kind: 'notification', requests, draftOf, entryOf, fields: NotificationFields } as const;

export function CreateNotification() {
  const [typedId, setId] = useState<string>();
  const { draft, setDraft, form } = useForm(newDraft, async (draft) => {
    const id = (typedId ?? idOf(draft.name)).trim();
    const { id: _none, ...body } = entryOf(draft, { id });
    const begin = place.peek();
    const created = await ask(api.POST('/v1/notifications', { body: { ...body, ...(id !== '' && { id }) } }));
    toast('Notification created. Send a test message.');
    goFrom(begin, ['notifications', created.id]);
  });
  const { error } = form.state;
  return (
    <CreatePage
      {...form}
      title="Create a notification"
      lead="One message when a problem begins, and one when it is over."
      list="notifications"
    >
      <NotificationFields draft={draft} onDraft={setDraft} error={error}>
        <IdField name={draft.name} value={typedId} onValue={setId} problem={problemOf(error, 'id')} />
      </NotificationFields>
    </CreatePage>
  );
}

export function NotificationPage({ id }: { readonly id: string }) {
  const {
    data: version,
    error,
    reload,
    set,
  } = useResource(`notification ${id}`, (signal) => requests.load(id, signal));
  if (!version) return <PageOfEntry title={id} error={error} onRetry={reload} />;
  const { name, enabled } = version.data;
  return (
    <div class="stack">
      <PageHead
        title={name ?? id}
        lead={
          <span class="row">
            <code>{id}</code>
            <Status of={enabled ? 'enabled' : 'disabled'} />
          </span>
        }
      >
        {may('write') && <TestButton id={id} />}
      </PageHead>
      <LatestCard id={id} />
      {may('write') && (
        <>
          <SettingsForm of={settings} version={version} onVersion={set} />
          <DeleteCard
            of={settings}
            id={id}
            message="It stops sending messages, including those about problems that are still open."
          />
        </>
      )}
    </div>
  );
}

export function TestButton({ id, small }: { readonly id: string; readonly small?: boolean }) {
  const test = async (): Promise<void> => {
    const params = { path: { id } };
    const answer = await attempt(() => ask(api.POST('/v1/notifications/{id}/test', { params })));
    if (!answer) return;
    if (answer.accepted) toast('Test message accepted.');
    else toast(`Test message not accepted: ${answer.reason ?? ''}`, { isBad: true });
  };
  return (
    <Button small={small} label={small ? `Send a test of ${id}` : undefined} onClick={test}>
      Send a test
    </Button>
  );
}

type State = Schema['NotificationStatus'];

/** What became of the latest message. */
export function Latest({ of }: { readonly of: State | undefined }) {
  if (!of || of.state === 'quiet') return <Badge>nothing sent yet</Badge>;
  return (
    <span class="breakable">
      <Status of={of.state} />{' '}
      {of.state === 'failed' ? (
        <>
          {of.failedAt !== undefined && <Ago at={of.failedAt} />} <span class="quiet">{of.reason}</span>
        </>
      ) : (
        of.sentAt !== undefined && <Ago at={of.sentAt} />
      )}
    </span>
  );
}

function LatestCard({ id }: { readonly id: string }) {
  const { data } = useGet('/v1/notification-status', {}, { everyMs: statusEveryMs });
  const state = data?.items.find((one) => one.id === id);
  return (
    <Card title="Latest message">
      <div class="stack tight">
        <Latest of={state} />
        {state && state.openCount > 0 && (
          <ul>
            {state.open.map(({ event, sourceId, destinationId, since }) => {
              const subject = sourceId ?? destinationId ?? '';
              const list = sourceId === undefined ? 'destinations' : 'sources';
              return (
                <li key={`${event} ${subject}`}>
                  <a href={hrefOf([list, subject])}>{subject}</a> <code>{event}</code> <Ago at={since} />
                </li>
              );
            })}
          </ul>
        )}
        <p class="quiet">
          {!state || state.openCount === 0 ? 'No open problems.' : `Open problems: ${state.openCount}`}
        </p>
      </div>
    </Card>
  );
}
