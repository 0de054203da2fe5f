/** The fields of the form of a notification, and the entry that they make. */
import type { Schema } from '../../api/client.ts';
import { linesOf } from '../../parts/form.ts';
import { omit } from '../../versions/omit.ts';

export type Notification = Schema['Notification'];
export type Channel = 'slack' | 'pagerduty' | 'json' | 'email' | 'destination';
export type Event = NonNullable<Notification['events']>[number];

export const events: readonly Event[] = [
  'destination.failing',
  'deliveries.dead',
  'destination.disabled',
  'source.silent',
];

export interface Draft {
  readonly name: string;
  readonly enabled: boolean;
  readonly events: readonly Event[];
  readonly sources: readonly string[];
  readonly destinations: readonly string[];
  readonly silentAfter: string;
  readonly channel: Channel;
  readonly url: string;
  readonly routingKey: string;
  readonly destination: string;
  /** An address in each line. */
  readonly to: string;
  readonly from: string;
  readonly server: string;
  readonly user: string;
  readonly password: string;
}

export const newDraft: Draft = {
  name: '',
  enabled: true,
  events,
  sources: [],
  destinations: [],
  silentAfter: '1h',
  channel: 'slack',
  url: '',
  routingKey: '',
  destination: '',
  to: '',
  from: '',
  server: '',
  user: '',
  password: '',
};

export function channelOf({ destination, webhook, email }: Notification): Channel {
  if (email) return 'email';
  return destination === undefined ? (webhook?.format ?? 'json') : 'destination';
}

export function draftOf(entry: Notification): Draft {
  const { name = '', enabled, sources = [], destinations = [], silentAfter = '1h', email } = entry;
  const { url = '', routingKey = '' } = entry.webhook ?? {};
  const { to = [], from = '', server = '', user = '', password = '' } = email ?? {};
  return {
    name,
    enabled,
    events: entry.events ?? events,
    sources,
    destinations,
    silentAfter,
    channel: channelOf(entry),
    url,
    routingKey,
    destination: entry.destination ?? '',
    to: to.join('\n'),
    from,
    server,
    user,
    password,
  };
}

/** The entry with the values of the form; its other fields stay. Values that are not set are left out. */
export function entryOf(draft: Draft, before: Omit<Notification, 'enabled'>): Notification {
  const rest = omit(
    before,
    ...(['name', 'events', 'sources', 'destinations', 'silentAfter'] as const),
    ...(['destination', 'webhook', 'email'] as const),
  );
  const { name, enabled, sources, destinations, silentAfter } = draft;
  const isAll = events.every((event) => draft.events.includes(event));
  return {
    ...rest,
    enabled,
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(!isAll && { events: [...draft.events] }),
    ...(sources.length > 0 && { sources: [...sources] }),
    ...(destinations.length > 0 && { destinations: [...destinations] }),
    ...((silentAfter !== '1h' || before.silentAfter !== undefined) && { silentAfter }),
    ...targetOf(draft),
  };
}

function targetOf(draft: Draft): Pick<Notification, 'destination' | 'webhook' | 'email'> {
  const [url, routingKey, user] = [draft.url.trim(), draft.routingKey.trim(), draft.user.trim()];
  if (draft.channel === 'destination') return { destination: draft.destination.trim() };
  if (draft.channel === 'email') {
    const { password } = draft;
    const login = { ...(user !== '' && { user }), ...(password !== '' && { password }) };
    return {
      email: { to: linesOf(draft.to), from: draft.from.trim(), server: draft.server.trim(), ...login },
    };
  }
  const format = draft.channel;
  const key = format === 'pagerduty' && routingKey !== '' ? { routingKey } : {};
  return { webhook: { format, ...(url !== '' && { url }), ...key } };
}
