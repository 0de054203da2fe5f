/**
 * Looks every second for what has to be told, and tells it. README.md has the states.
 *
 * The instances share what was told (told.ts). One of them claims a message, in a transaction that fences the others, sends it, and writes the
 * outcome. Notifications do not wait for each other, and nothing else waits for them.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ConfigLookup, Notification } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import { formatInstant } from '@tailrace/events';
import { readIfAvailable, type History } from '@tailrace/history';
import type { OutgoingRecord } from '@tailrace/kafka';
import type { Log, Metrics } from '@tailrace/service';
import type { Operations } from '../operations/index.ts';
import { takeTurns } from '../records/turns.ts';
import {
  changesOf,
  incidentsAt,
  incidentsOf,
  lastingOf,
  type Changes,
  type Facts,
  type Incident,
} from './incidents.ts';
import { groupOf, messageOf, type Outgoing } from './message.ts';
import { longestMs, type Messenger, type Sent } from './send.ts';
import { encodeTold, latestKey, toldKey, type Latest, type MessagePace, type ToldState } from './told.ts';

export interface NotifierOptions {
  /** The topic `destinations.health`. */
  readonly topic: string;
  readonly config: Pick<
    ConfigLookup,
    'notifications' | 'notification' | 'source' | 'sources' | 'destination'
  >;
  readonly history: Pick<History, 'read' | 'status'>;
  readonly operations: Pick<Operations, 'reported' | 'report'>;
  readonly told: ToldState;
  readonly messenger: Pick<Messenger, 'send'>;
  readonly report: { readonly log: Pick<Log, 'info' | 'warn'>; readonly metrics: Metrics };
  readonly pace?: NotifierPace | undefined;
}

export interface NotifierPace extends MessagePace {
  readonly everyMs?: number;
}

/** The facts of one moment, and what they amount to: the notifications share it. */
interface Look extends Facts {
  readonly now: number;
  readonly all: readonly Incident[];
}

/** A history that is further behind does not know what has arrived. */
const historyLagMs = 60_000;
/** Earlier messages of which incidents are over in one message; the others are in the next one. */
const groupsTogether = 20;
/** Records of deleted notifications that are removed together. */
const removedTogether = 500;

export function startNotifier(options: NotifierOptions) {
  const { topic, config, history, operations, told, messenger, report } = options;
  const { log, metrics } = report;
  const pace = {
    everyMs: 1_000,
    gatherMs: 30_000,
    intervalMs: 300_000,
    leaseMs: 120_000,
    retryAfterMs: [1_000, 5_000],
    ...options.pace,
  };
  const closing = new AbortController();
  const { signal } = closing;
  const isAborted = (): boolean => signal.aborted;
  /** When changes of a notification were first seen, of the monotonic clock. */
  const changedAt = new Map<string, number>();
  /** Messages in flight, by notification. */
  const sending = new Map<string, Promise<void>>();
  const messages = metrics.counter('tailrace_notification_messages_total');
  metrics.gauge(
    'tailrace_notifications_failing',
    () =>
      config.notifications().filter(({ id, enabled }) => enabled && told.latest(id)?.state === 'failed')
        .length,
  );

  const look = (): Look => {
    const facts = { config, reported: operations.reported, receivedAt: receivedAt(history) };
    const now = Date.now();
    return { ...facts, now, all: incidentsAt(now, facts) };
  };

  const changes = (notification: Notification, seen: Look): Changes =>
    changesOf(
      incidentsOf(notification, seen.all, seen.now),
      new Set(told.told(notification.id).keys()),
      seen,
    );

  /** The notifications whose message is due. */
  const due = (): readonly Notification[] => {
    const enabled = config.notifications().filter((one) => one.enabled);
    if (enabled.length === 0) return [];
    const seen = look();
    const now = performance.now();
    return enabled.filter((notification) => {
      const { id } = notification;
      const { opened, over } = changes(notification, seen);
      if (opened.length + over.length === 0) {
        changedAt.delete(id);
        return false;
      }
      const since = changedAt.get(id) ?? now;
      changedAt.set(id, since);
      return now - since >= pace.gatherMs && !sending.has(id) && told.maySend(id, pace);
    });
  };

  const abandoned = (): readonly string[] =>
    [...told.abandoned((id) => config.notification(id) !== undefined)].slice(0, removedTogether);

  const put = (id: string, latest: Latest): OutgoingRecord => encodeTold(topic, latestKey(id), latest);

  /** Sends a message, and tries again a little. */
  const send = async (notification: Notification, outgoing: Outgoing): Promise<Sent> => {
    const until = performance.now() + longestMs;
    const pauses = pace.retryAfterMs.values();
    for (;;) {
      const sent = await messenger.send(notification, outgoing, config, until);
      const pauseMs = pauses.next().value;
      if (sent.ok || !sent.mayPass || pauseMs === undefined || performance.now() > until) return sent;
      await wait(pauseMs, undefined, { signal });
    }
  };

  const tell = async (notification: Notification, claim: string): Promise<void> => {
    const { id } = notification;
    const before = told.told(id);
    const seen = look();
    const { opened, open, ...found } = changes(notification, seen);
    const groupAt = (key: string): string => before.get(key)?.group ?? '';
    const groups = new Set([...new Set(found.over.map(groupAt))].slice(0, groupsTogether));
    const over = found.over.filter((key) => groups.has(groupAt(key)));
    const isLast = (group: string): boolean =>
      ![...before].some(([key, one]) => one.group === group && !over.includes(key));
    const group = groupOf(id, opened);
    const resolved = [...groups].filter((one) => one !== group && isLast(one));
    // What lasts has not recovered: the notification was changed. Only an alert of PagerDuty has to be resolved then.
    const lasting = lastingOf(before, seen.all);
    const recovered = over.filter((key) => !lasting.has(key));
    const resolves = notification.webhook?.format === 'pagerduty' && resolved.length > 0;
    const forgotten = over.map((key) => encodeTold(topic, toldKey(id, key), undefined));
    if (opened.length + recovered.length === 0 && !resolves) {
      // It was over before it was told, or the notification was changed.
      await settle(id, claim, (sentAt) => [
        encodeTold(topic, latestKey(id), sentAt === undefined ? undefined : { state: 'sent', sentAt }),
        ...forgotten,
      ]);
      return;
    }
    const message = messageOf(id, { opened, over: recovered, open }, before, seen);
    const sent = await send(notification, { message, group, resolved });
    messages.inc({ channel: channelOf(notification), outcome: sent.ok ? 'sent' : 'failed' });
    const at = formatInstant(Date.now());
    if (!sent.ok) {
      const { reason } = sent;
      log.warn({ notification: id, reason }, 'notification not sent');
      await settle(id, claim, (sentAt) => [put(id, { state: 'failed', failedAt: at, reason, sentAt })]);
      return;
    }
    log.info({ notification: id, title: message.title }, 'notification sent');
    await settle(id, claim, () => [
      put(id, { state: 'sent', sentAt: at }),
      ...opened.map((one) =>
        encodeTold(topic, toldKey(id, one.key), { since: formatInstant(one.since), group }),
      ),
      ...forgotten,
    ]);
  };

  /** Writes the outcome of a message, unless another instance has taken it over or the notification was deleted. */
  const settle = (
    id: string,
    claim: string,
    outcome: (sentAt: string | undefined) => readonly OutgoingRecord[],
  ): Promise<void> =>
    persist(() => {
      const latest = told.latest(id);
      return latest?.state === 'sending' && latest.claim === claim ? outcome(latest.sentAt) : [];
    });

  /** Until Kafka takes it, or another instance has taken over. */
  const persist = async (records: () => readonly OutgoingRecord[]): Promise<void> => {
    for (;;) {
      try {
        await operations.report(() => records().map((remembered) => ({ remembered })));
        return;
      } catch (error) {
        if (!isTailraceError(error) || error.code === 'shutting-down') throw error;
        await wait(pace.everyMs, undefined, { signal });
      }
    }
  };

  const act = async (): Promise<void> => {
    const claim = randomUUID();
    let claimed: readonly Notification[] = [];
    await operations.report(() => {
      claimed = due();
      const records = [
        ...claimed.map(({ id }) => put(id, { state: 'sending', claim, sentAt: told.latest(id)?.sentAt })),
        ...abandoned().map((key) => encodeTold(topic, key, undefined)),
      ];
      return records.map((remembered) => ({ remembered }));
    });
    for (const notification of claimed) {
      const { id } = notification;
      const told = tell(notification, claim)
        .catch((error: unknown) => {
          if (!isAborted()) log.warn({ err: error, notification: id }, 'notification interrupted');
        })
        .finally(() => sending.delete(id));
      sending.set(id, told);
    }
  };

  const isDue = (): boolean => due().length > 0 || abandoned().length > 0;
  const running = takeTurns({ ...pace, signal, isDue, act, log, delayed: 'notifications delayed' });

  return {
    /** What each notification has told and lasts, and its latest message. */
    status() {
      const { all, now } = look();
      return config.notifications().map((notification) => {
        const { id } = notification;
        const open = incidentsOf(notification, all, now).filter(({ key }) => told.told(id).has(key));
        return { id, latest: told.latest(id), open };
      });
    },
    async close() {
      closing.abort();
      await Promise.all([running, ...sending.values()]);
    },
  };
}

export type Notifier = ReturnType<typeof startNotifier>;

export function channelOf({ destination, email }: Notification): 'destination' | 'webhook' | 'email' {
  if (email) return 'email';
  return destination === undefined ? 'webhook' : 'destination';
}

function receivedAt(history: NotifierOptions['history']): ReadonlyMap<string, number> | undefined {
  const { unavailableBecause, lagMs = Infinity } = history.status;
  if (unavailableBecause !== undefined || lagMs > historyLagMs) return undefined;
  return readIfAvailable(history, (queries) => queries.receivedAt());
}
