/** Notifications: who is told of which problems. */
import { useGet } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { useList } from '../../lists/pager.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { Status } from '../../parts/status.tsx';
import { PagedTable, type Column } from '../../parts/table.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';
import type { Schema } from '../../api/client.ts';
import { type Notification } from './draft.ts';
import { CreateNotification, Latest, NotificationPage, TestButton } from './entry.tsx';

const words = {
  lead: 'One message when a destination fails, is disabled or has dead letters, or when a source is silent, and one when it is over.',
  emptyLead: 'Create one to hear of problems in Slack, by PagerDuty or by email.',
};

const statusEveryMs = 10_000;

export default function NotificationsPage({ steps }: PageProps) {
  const [id] = steps;
  if (id === undefined) return <Notifications />;
  // An id cannot contain a plus sign, so no notification has this address.
  if (id === '+new') return <CreateNotification />;
  return <NotificationPage id={id} />;
}

function Notifications() {
  const pages = useList('/v1/notifications', {});
  const { data } = useGet('/v1/notification-status', {}, { everyMs: statusEveryMs });
  return (
    <div class="stack wide">
      <PageHead title={text.shell.pages.notifications} lead={words.lead}>
        {may('write') && (
          <LinkButton kind="main-action" href={hrefOf(['notifications', '+new'])}>
            Create a notification
          </LinkButton>
        )}
      </PageHead>
      <PagedTable
        label={text.shell.pages.notifications}
        columns={columnsOf(data?.items ?? [])}
        pages={pages}
        keyOf={({ id }) => id}
        empty={<Empty title="No notifications yet" lead={words.emptyLead} />}
      />
    </div>
  );
}

function columnsOf(states: readonly Schema['NotificationStatus'][]): readonly Column<Notification>[] {
  const stateOf = (id: string) => states.find((one) => one.id === id);
  return [
    {
      title: 'Notification',
      kind: 'wrap',
      cell: ({ id, name, enabled }) => (
        <div class="stack tight">
          <a href={hrefOf(['notifications', id])}>{name ?? id}</a>
          <span class="row">
            <Status of={enabled ? 'enabled' : 'disabled'} />
            {may('write') && <TestButton id={id} small />}
          </span>
        </div>
      ),
    },
    { title: 'Latest message', kind: 'wrap', cell: ({ id }) => <Latest of={stateOf(id)} /> },
    { title: 'Open', kind: 'number', cell: ({ id }) => stateOf(id)?.openCount ?? 0 },
    { title: 'Sends to', kind: 'wrap', cell: toOf },
    { title: 'Events', kind: 'wrap', cell: ({ events }) => events?.join(', ') ?? 'all' },
  ];
}

function toOf({ destination, webhook, email }: Notification): string {
  if (email) return email.to.join(', ');
  return destination ?? [webhook?.format ?? 'json', webhook?.url].filter(Boolean).join(' ');
}
