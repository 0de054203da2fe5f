/** The message of a notification, and its form for each channel. Pure. */
import type { NotificationEvent } from '@tailrace/config';
import { formatInstant } from '@tailrace/events';
import { incidentOf, lastingOf, type Changes, type Facts, type Incident } from './incidents.ts';
import type { Told } from './told.ts';

/** One incident, or the end of one. */
export interface Item {
  readonly event: NotificationEvent;
  readonly sourceId?: string;
  readonly destinationId?: string;
  readonly since: string;
  readonly text: string;
  /** Its page in the console, where the URL of the console is known. */
  readonly url?: string;
}

/** What a webhook with the format `json` has as its body. */
export interface Message {
  readonly notification: string;
  readonly title: string;
  readonly test: boolean;
  readonly at: string;
  /** The first 20, with the number of all. */
  readonly opened: readonly Item[];
  readonly openedCount: number;
  readonly over: readonly Item[];
  readonly overCount: number;
  /** How many are open now. */
  readonly openCount: number;
  /** The page of the notification in the console, as for an item. */
  readonly url?: string;
}

/** A message with what PagerDuty needs to know of it. */
export interface Outgoing {
  readonly message: Message;
  /** The id of the message: incidents that are told together are one alert. */
  readonly group: string;
  /** The messages of which every incident is over. */
  readonly resolved: readonly string[];
}

const listed = 20;
/** Earlier messages of which incidents are over in one message; the others are in the next one. */
const groupsTogether = 20;

/** @param since by the key of the incidents that are over */
export function messageOf(
  notification: string,
  { opened, over, open }: Changes,
  since: ReadonlyMap<string, { readonly since: string }>,
  { now, ...facts }: Pick<Facts, 'config' | 'reported'> & { readonly now: number },
): Message {
  const ended = over.map((key) => incidentOf(key, Date.parse(since.get(key)?.since ?? '') || now));
  const firstOpened = opened[0];
  const firstEnded = ended[0];
  const openedTitle =
    opened.length === 1 && firstOpened ? openedText(firstOpened) : `${opened.length} new problems`;
  const overTitle =
    ended.length === 1 && firstEnded ? overText(firstEnded, facts) : `${ended.length} problems resolved`;
  const parts = [opened.length > 0 ? openedTitle : '', ended.length > 0 ? overTitle : ''];
  return {
    notification,
    title: parts.filter((part) => part !== '').join('; '),
    test: false,
    at: formatInstant(now),
    opened: opened.slice(0, listed).map((one) => itemOf(one, openedText(one))),
    openedCount: opened.length,
    over: ended.slice(0, listed).map((one) => itemOf(one, overText(one, facts))),
    overCount: ended.length,
    openCount: open,
  };
}

export function testMessage(notification: string, now: number): Outgoing {
  const none = { opened: [], openedCount: 0, over: [], overCount: 0, openCount: 0 };
  const title = `Test of the notification ${notification}`;
  const group = `tailrace/${notification}/test`;
  return {
    message: { notification, title, test: true, at: formatInstant(now), ...none },
    group,
    resolved: [group],
  };
}

/**
 * What one message tells of the changes: of those that are over, only those that have recovered. `over` are all that it ends.
 *
 * @param told what was told, by the key of the incident
 * @param present the incidents of `incidentsAt`
 */
export function tellingOf(
  id: string,
  told: ReadonlyMap<string, Told>,
  { opened, open, ...all }: Changes,
  present: readonly Incident[],
) {
  const groupAt = (key: string): string => told.get(key)?.group ?? '';
  const groups = new Set([...new Set(all.over.map(groupAt))].slice(0, groupsTogether));
  const over = all.over.filter((key) => groups.has(groupAt(key)));
  const isLast = (group: string): boolean =>
    ![...told].some(([key, one]) => one.group === group && !over.includes(key));
  const group = groupOf(id, opened);
  const resolved = [...groups].filter((one) => one !== group && isLast(one));
  // What lasts has not recovered: the notification was changed. Only an alert of PagerDuty has to be resolved then.
  const lasting = lastingOf(told, present);
  const recovered = over.filter((key) => !lasting.has(key));
  return { changes: { opened, over: recovered, open }, over, group, resolved };
}

/** The same for a message that is sent again, so that PagerDuty recognises it. */
export function groupOf(notification: string, [first]: readonly Incident[]): string {
  return `tailrace/${notification}/${first ? `${first.key}/${first.since}` : ''}`;
}

function itemOf({ event, subject, since }: Incident, text: string): Item {
  const id = event === 'source.silent' ? { sourceId: subject } : { destinationId: subject };
  return { event, ...id, since: formatInstant(since), text };
}

function openedText({ event, subject, since, detail }: Incident): string {
  const why = detail === undefined || detail === '' ? '' : `: ${detail}`;
  const at = minuteOf(formatInstant(since));
  switch (event) {
    case 'destination.failing':
      return `${subject} has been failing since ${at}${why}`;
    case 'deliveries.dead':
      return `${subject} has dead letters since ${at}${why}`;
    case 'destination.disabled':
      return detail === undefined
        ? `${subject} was disabled at ${at}; it receives no events`
        : `${subject} was disabled at ${at}, because all attempts had failed since ${minuteOf(detail)}; it receives no events`;
    case 'source.silent':
      return `No events have arrived from ${subject} since ${at}`;
  }
}

/** `2026-05-01 08:30 UTC`, for people. */
function minuteOf(instant: string): string {
  return `${instant.slice(0, 16).replace('T', ' ')} UTC`;
}

function overText(
  { event, subject }: Incident,
  { config, reported }: Pick<Facts, 'config' | 'reported'>,
): string {
  const destination = config.destination(subject);
  const entry = event === 'source.silent' ? config.source(subject) : destination;
  if (!entry) return `${subject} was deleted`;
  switch (event) {
    case 'destination.failing':
      if (!entry.enabled) return `${subject} was failing and is disabled`;
      if (destination?.paused) return `${subject} was failing and is paused`;
      return reported.destination(subject).stopped
        ? `${subject} was failing until it was paused or disabled`
        : `${subject} has recovered`;
    case 'deliveries.dead':
      return `${subject} has had no further dead letters for an hour`;
    case 'destination.disabled':
      return `${subject} is enabled again`;
    case 'source.silent':
      return entry.enabled ? `Events arrive from ${subject} again` : `${subject} was silent and is disabled`;
  }
}

/** @param consoleUrl with or without a slash at its end */
export function withLinks({ message, ...rest }: Outgoing, consoleUrl: string): Outgoing {
  const linkTo = (page: string): string => `${consoleUrl.replace(/\/*$/, '')}/#/${page}`;
  const linked = (item: Item): Item => ({ ...item, url: linkTo(pageOf(item)) });
  const { notification, opened, over } = message;
  const url = linkTo(`notifications/${notification}`);
  return { ...rest, message: { ...message, opened: opened.map(linked), over: over.map(linked), url } };
}

/** In the fragment of the address. Ids need no encoding. */
function pageOf({ event, sourceId = '', destinationId = '' }: Item): string {
  switch (event) {
    case 'destination.failing':
    case 'deliveries.dead':
      return `destinations/${destinationId}?tab=failures`;
    case 'destination.disabled':
      return `destinations/${destinationId}`;
    case 'source.silent':
      return `sources/${sourceId}`;
  }
}

/** The lines of a message for people. */
export function linesOf(message: Message): readonly Pick<Item, 'text' | 'url'>[] {
  const { opened, openedCount, over, overCount, openCount, test, url } = message;
  const last = test ? 'It works. Problems will be reported here.' : `Open now: ${openCount}`;
  const more = (count: number, shown: readonly Item[]) =>
    count > shown.length ? [{ text: `and ${count - shown.length} more` }] : [];
  return [
    ...opened,
    ...more(openedCount, opened),
    ...over,
    ...more(overCount, over),
    { text: last, ...(url !== undefined && { url }) },
  ];
}

export function slackBody(message: Message): object {
  const escaped = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const lines = linesOf(message).map(
    ({ text, url }) => `• ${escaped(text)}${url === undefined ? '' : ` <${escaped(url)}|View>`}`,
  );
  return { text: [`*${escaped(message.title)}*`, ...lines].join('\n') };
}

/** The requests of the Events API v2, in order. */
export function pagerDutyBodies(
  { message, group, resolved }: Outgoing,
  routingKey: string,
): readonly object[] {
  const event = { routing_key: routingKey };
  const { title, test, openedCount, at, opened, url } = message;
  const [first] = opened;
  const payload = {
    summary: title.slice(0, 1_024),
    source: 'tailrace',
    severity: test ? 'info' : 'error',
    timestamp: at,
    ...(openedCount === 1 &&
      first && { class: first.event, component: first.destinationId ?? first.sourceId }),
    custom_details: message,
  };
  const links = opened.map(({ url: href, text }) => ({ href, text }));
  const client = url !== undefined && { client: 'Tailrace', client_url: url, links };
  return [
    ...(openedCount > 0 || test
      ? [{ ...event, event_action: 'trigger', dedup_key: group, payload, ...client }]
      : []),
    ...resolved.map((dedup_key) => ({ ...event, event_action: 'resolve', dedup_key })),
  ];
}
