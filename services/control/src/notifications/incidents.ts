/** What a notification is about now, and what of it has to be told. Pure. Times are milliseconds since the epoch. */
import {
  builtInSource,
  notificationEvents,
  type ConfigLookup,
  type Notification,
  type NotificationEvent,
} from '@tailrace/config';
import { parseDuration } from '@tailrace/events';
import type { ReportedDestination } from '../operations/reported.ts';

export interface Incident {
  /** `<event>/<subject>`. */
  readonly key: string;
  readonly event: NotificationEvent;
  /** The id of the source or destination. */
  readonly subject: string;
  readonly since: number;
  /** Why, where it is known. */
  readonly detail?: string | undefined;
  /** It began so long ago that it is news to nobody. It is not told, and is not over where it was told. */
  readonly isOld?: boolean;
}

export interface Facts {
  readonly config: Pick<ConfigLookup, 'source' | 'sources' | 'destination'>;
  readonly reported: {
    destination(id: string): ReportedDestination;
    destinations(): readonly string[];
  };
  /** When the latest call of each source was received; undefined where the history does not know it. */
  readonly receivedAt: ReadonlyMap<string, number> | undefined;
}

const minuteMs = 60_000;
/** For how long a destination fails before it is told. */
const failingForMs = 10 * minuteMs;
/** Dead letters are over when there were no further ones for this time. */
const withoutDeadMs = 60 * minuteMs;
const defaultSilence = '1h';
/** Older silence is not told: the source is not used any more, or it was told by a notification that is deleted. */
const longestSilenceMs = 7 * 24 * 60 * minuteMs;

function incident(event: NotificationEvent, subject: string, since: number, detail?: string): Incident {
  return { key: `${event}/${subject}`, event, subject, since, detail };
}

/** Ids have no slash. */
export function incidentOf(key: string, since: number): Incident {
  const [event = '', subject = ''] = key.split('/');
  return incident(event as NotificationEvent, subject, since);
}

/** All of which notifications may tell, oldest first. Every enabled source is silent, for however short a time. */
export function incidentsAt(now: number, facts: Facts): readonly Incident[] {
  const silent = facts.config.sources().flatMap(({ id, enabled }): readonly Incident[] => {
    const since = facts.receivedAt?.get(id);
    const isTold = enabled && id !== builtInSource.id && since !== undefined;
    return isTold ? [incident('source.silent', id, since)] : [];
  });
  return facts.reported
    .destinations()
    .flatMap((id) => ofDestination(id, facts, now))
    .concat(silent)
    .sort((a, b) => a.since - b.since || (a.key < b.key ? -1 : 1));
}

/**
 * The incidents of which the notification tells, oldest first.
 *
 * @param all those of `incidentsAt`
 */
export function incidentsOf(
  notification: Notification,
  all: readonly Incident[],
  now: number,
): readonly Incident[] {
  const { events = notificationEvents, sources, destinations, silentAfter = defaultSilence } = notification;
  const silentMs = parseDuration(silentAfter) ?? Infinity;
  return all.flatMap((one): readonly Incident[] => {
    const isSilence = one.event === 'source.silent';
    const subjects = isSilence ? sources : destinations;
    if (!events.includes(one.event) || subjects?.includes(one.subject) === false) return [];
    if (!isSilence) return [one];
    const forMs = now - one.since;
    return forMs < silentMs ? [] : [{ ...one, isOld: forMs > longestSilenceMs + silentMs }];
  });
}

function ofDestination(id: string, { config, reported }: Facts, now: number): Incident[] {
  const destination = config.destination(id);
  if (!destination) return [];
  const { failingSince, stopped, reason, deadSince, deadUntil, dead, disabledSince, failedSince } =
    reported.destination(id);
  const found: Incident[] = [];
  const add = (event: NotificationEvent, since: number, detail?: string): void => {
    found.push(incident(event, id, since, detail));
  };
  const failing = timeOf(failingSince);
  const mayFail = destination.enabled && destination.paused !== true && stopped !== true;
  if (mayFail && now - failing >= failingForMs) add('destination.failing', failing, reason);
  const died = timeOf(deadUntil);
  if (now - died < withoutDeadMs) add('deliveries.dead', timeOf(deadSince) || died, reasonsOf(dead));
  const disabled = timeOf(disabledSince);
  if (!destination.enabled && disabled <= now) add('destination.disabled', disabled, failedSince);
  return found;
}

/** NaN without a time, so that no comparison with it holds. */
function timeOf(text: string | undefined): number {
  return Date.parse(text ?? '');
}

function reasonsOf(counts: Readonly<Record<string, number>> = {}): string {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');
}

/** The keys of what was told and lasts, also where the notification was changed and does not tell of it any more. */
export function lastingOf(
  told: ReadonlyMap<string, { readonly since: string }>,
  all: readonly Incident[],
): ReadonlySet<string> {
  const lasting = all.filter(({ key, since }) => timeOf(told.get(key)?.since) === since);
  return new Set(lasting.map(({ key }) => key));
}

export interface Changes {
  /** Incidents that were not told. */
  readonly opened: readonly Incident[];
  /** The keys of incidents that were told and are over. */
  readonly over: readonly string[];
  /** How many were told and are not over, with the opened ones. */
  readonly open: number;
}

/** @param told the keys of the incidents that were told */
export function changesOf(
  incidents: readonly Incident[],
  told: ReadonlySet<string>,
  { receivedAt, config }: Pick<Facts, 'receivedAt' | 'config'>,
): Changes {
  const present = new Set(incidents.map(({ key }) => key));
  // Of a source that the history has forgotten, nothing says that events arrive again.
  const isKnown = (key: string): boolean => {
    const { event, subject } = incidentOf(key, 0);
    if (event !== 'source.silent') return true;
    return receivedAt !== undefined && (receivedAt.has(subject) || config.source(subject)?.enabled !== true);
  };
  const opened = incidents.filter(({ isOld, key }) => !isOld && !told.has(key));
  const over = [...told].filter((key) => !present.has(key) && isKnown(key));
  return { opened, over, open: told.size - over.length + opened.length };
}
