/** Notifications: who is told of which problems. */
import { useGet } from '../../api/resource.ts';
import { may } from '../../api/session.ts';
import { useList } from '../../lists/pager.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { Status } from '../../parts/status.tsx';
import { MainCell, PagedTable, type Column } from '../../parts/table.tsx';
import { text } from '../../text/index.ts';
import { hrefOf, type PageProps } from '../../url/location.ts';
import type { Schema } from '../../api/client.ts';
import { channelOf, events, type Event, type Notification } from './draft.ts';
import { CreateNotification, Latest, NotificationPage, TestButton } from './entry.tsx';

const words = {
  lead: 'Messages when a destination fails, is disabled or has dead letters, or when a source goes silent, and when the problem is over.',
  channels: {
    slack: 'Slack',
    pagerduty: 'PagerDuty',
    json: 'Webhook',
    email: 'Email',
    destination: 'Destination',
  },
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
      kind: 'main',
      cell: ({ id, name, enabled }) => (
        <MainCell
          below={
            <>
              <Status of={enabled ? 'enabled' : 'disabled'} />
              {may('write') && <TestButton id={id} small />}
            </>
          }
        >
          <a href={hrefOf(['notifications', id])}>{name ?? id}</a>
        </MainCell>
      ),
    },
    { title: 'Latest message', kind: 'wrap', cell: ({ id }) => <Latest of={stateOf(id)} /> },
    { title: 'Open', kind: 'number', cell: ({ id }) => stateOf(id)?.openCount ?? 0 },
    { title: 'Sends to', kind: 'wrap', cell: toOf },
    { title: 'About', kind: 'wrap', cell: ({ events }) => aboutOf(events) },
  ];
}

const problems: Readonly<Record<Event, string>> = {
  'destination.failing': 'failing',
  'deliveries.dead': 'dead letters',
  'destination.disabled': 'disabled',
  'source.silent': 'silent sources',
};

function aboutOf(chosen: readonly Event[] = events): string {
  return chosen.length === events.length ? 'everything' : chosen.map((event) => problems[event]).join(', ');
}

/** The host of a masked URL says which one it is. */
function toOf(notification: Notification): string {
  const { destination, webhook, email } = notification;
  if (email) {
    const [first = '', ...others] = email.to;
    return others.length === 0 ? first : `${first} and ${others.length} more`;
  }
  const channel = words.channels[channelOf(notification)];
  return [channel, destination ?? (webhook?.url && URL.parse(webhook.url)?.host)].filter(Boolean).join(': ');
}
