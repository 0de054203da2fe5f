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
import type { Counter, Log, Metrics } from '@tailrace/service';
import type { Due, Operations } from '../operations/index.ts';
import { takeTurns } from '../records/turns.ts';
import { changesOf, incidentsAt, incidentsOf, type Changes, type Facts, type Incident } from './incidents.ts';
import { messageOf, tellingOf, type Outgoing } from './message.ts';
import { longestMs, type Messenger, type Sent } from './send.ts';
import {
  encodeTold,
  latestKey,
  toldKey,
  type Latest,
  type MessagePace,
  type Told,
  type ToldState,
} from './told.ts';

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
/** Records of deleted notifications that are removed together. */
const removedTogether = 500;
const defaultPace: Required<NotifierPace> = {
  everyMs: 1_000,
  gatherMs: 30_000,
  intervalMs: 300_000,
  leaseMs: 120_000,
  retryAfterMs: [1_000, 5_000],
};

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #pace: Required<NotifierPace>;
  readonly #closing = new AbortController();
  /** When changes of a notification were first seen, of the monotonic clock. */
  readonly #changedAt = new Map<string, number>();
  /** Messages in flight, by notification. */
  readonly #sending = new Map<string, Promise<void>>();
  readonly #messages: Counter<'tailrace_notification_messages_total'>;
  readonly #running: Promise<void>;

  constructor(options: NotifierOptions) {
    const { config, told, report } = options;
    const { log, metrics } = report;
    this.#options = options;
    this.#pace = { ...defaultPace, ...options.pace };
    this.#messages = metrics.counter('tailrace_notification_messages_total');
    const isFailing = ({ id, enabled }: Notification): boolean =>
      enabled && told.latest(id)?.state === 'failed';
    metrics.gauge('tailrace_notifications_failing', () => config.notifications().filter(isFailing).length);
    const { everyMs } = this.#pace;
    const { signal } = this.#closing;
    const isDue = (): boolean => this.#due().length > 0 || this.#abandoned().length > 0;
    const act = (): Promise<void> => this.#act();
    this.#running = takeTurns({ everyMs, signal, isDue, act, log, delayed: 'notifications delayed' });
  }

  /** What each notification has told and lasts, and its latest message. */
  status() {
    const { config, told } = this.#options;
    const { all, now } = this.#look();
    return config.notifications().map((notification) => {
      const { id } = notification;
      const open = incidentsOf(notification, all, now).filter(({ key }) => told.told(id).has(key));
      return { id, latest: told.latest(id), open };
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#running, ...this.#sending.values()]);
  }

  #look(): Look {
    const { config, operations, history } = this.#options;
    const facts = { config, reported: operations.reported, receivedAt: receivedAt(history) };
    const now = Date.now();
    return { ...facts, now, all: incidentsAt(now, facts) };
  }

  #changes(notification: Notification, seen: Look): Changes {
    const told = this.#options.told.told(notification.id);
    return changesOf(incidentsOf(notification, seen.all, seen.now), new Set(told.keys()), seen);
  }

  /** The notifications whose message is due. */
  #due(): readonly Notification[] {
    const { config, told } = this.#options;
    const enabled = config.notifications().filter((one) => one.enabled);
    if (enabled.length === 0) return [];
    const seen = this.#look();
    const now = performance.now();
    return enabled.filter((notification) => {
      const { id } = notification;
      const { opened, over } = this.#changes(notification, seen);
      if (opened.length + over.length === 0) {
        this.#changedAt.delete(id);
        return false;
      }
      const since = this.#changedAt.get(id) ?? now;
      this.#changedAt.set(id, since);
      const isGathered = now - since >= this.#pace.gatherMs;
      return isGathered && !this.#sending.has(id) && told.maySend(id, this.#pace);
    });
  }

  /** The keys of records of deleted notifications. */
  #abandoned(): readonly string[] {
    const { config, told } = this.#options;
    const exists = (id: string): boolean => config.notification(id) !== undefined;
    return [...told.abandoned(exists)].slice(0, removedTogether);
  }

  /** Claims the messages that are due, and begins to send them. */
  async #act(): Promise<void> {
    const { operations, told, report } = this.#options;
    const { log } = report;
    const claim = randomUUID();
    let claimed: readonly Notification[] = [];
    await operations.report(() => {
      claimed = this.#due();
      return [
        ...claimed.map(({ id }) =>
          this.#put(id, { state: 'sending', claim, sentAt: told.latest(id)?.sentAt }),
        ),
        ...this.#abandoned().map((key) => this.#remove(key)),
      ];
    });
    for (const notification of claimed) {
      const { id } = notification;
      const telling = this.#tell(notification, claim)
        .catch((error: unknown) => {
          if (!this.#closing.signal.aborted)
            log.warn({ err: error, notification: id }, 'notification interrupted');
        })
        .finally(() => this.#sending.delete(id));
      this.#sending.set(id, telling);
    }
  }

  async #tell(notification: Notification, claim: string): Promise<void> {
    const { id } = notification;
    const { log } = this.#options.report;
    const before = this.#options.told.told(id);
    const seen = this.#look();
    const { changes, over, ...ids } = tellingOf(id, before, this.#changes(notification, seen), seen.all);
    const forgotten = over.map((key) => this.#remove(toldKey(id, key)));
    const { opened } = changes;
    const resolves = notification.webhook?.format === 'pagerduty' && ids.resolved.length > 0;
    if (opened.length + changes.over.length === 0 && !resolves) {
      // It was over before it was told, or the notification was changed.
      await this.#settle(id, claim, (sentAt) => [
        sentAt === undefined ? this.#remove(latestKey(id)) : this.#put(id, { state: 'sent', sentAt }),
        ...forgotten,
      ]);
      return;
    }
    const message = messageOf(id, changes, before, seen);
    const sent = await this.#send(notification, { message, ...ids });
    this.#messages.inc({ channel: channelOf(notification), outcome: sent.ok ? 'sent' : 'failed' });
    const at = formatInstant(Date.now());
    if (!sent.ok) {
      const { reason } = sent;
      log.warn({ notification: id, reason }, 'notification not sent');
      await this.#settle(id, claim, (sentAt) => [
        this.#put(id, { state: 'failed', failedAt: at, reason, sentAt }),
      ]);
      return;
    }
    log.info({ notification: id, title: message.title }, 'notification sent');
    await this.#settle(id, claim, () => [
      this.#put(id, { state: 'sent', sentAt: at }),
      ...opened.map(({ key, since }) =>
        this.#write(toldKey(id, key), { since: formatInstant(since), group: ids.group }),
      ),
      ...forgotten,
    ]);
  }

  /** Sends a message, and tries again a little. */
  async #send(notification: Notification, outgoing: Outgoing): Promise<Sent> {
    const { messenger, config } = this.#options;
    const until = performance.now() + longestMs;
    const pauses = this.#pace.retryAfterMs.values();
    for (;;) {
      const sent = await messenger.send(notification, outgoing, config, until);
      const pauseMs = pauses.next().value;
      if (sent.ok || !sent.mayPass || pauseMs === undefined || performance.now() > until) return sent;
      await wait(pauseMs, undefined, { signal: this.#closing.signal });
    }
  }

  /**
   * Writes the outcome of a message, unless another instance has taken it over or the notification was deleted. Tries until Kafka takes it.
   */
  async #settle(
    id: string,
    claim: string,
    outcome: (sentAt: string | undefined) => readonly Due[],
  ): Promise<void> {
    const { operations, told } = this.#options;
    for (;;) {
      try {
        await operations.report(() => {
          const latest = told.latest(id);
          return latest?.state === 'sending' && latest.claim === claim ? outcome(latest.sentAt) : [];
        });
        return;
      } catch (error) {
        if (!isTailraceError(error) || error.code === 'shutting-down') throw error;
        await wait(this.#pace.everyMs, undefined, { signal: this.#closing.signal });
      }
    }
  }

  #put(id: string, latest: Latest): Due {
    return this.#write(latestKey(id), latest);
  }

  #remove(key: string): Due {
    return this.#write(key, undefined);
  }

  #write(key: string, value: Told | Latest | undefined): Due {
    return { remembered: encodeTold(this.#options.topic, key, value) };
  }
}

function channelOf({ destination, email }: Notification): 'destination' | 'webhook' | 'email' {
  if (email) return 'email';
  return destination === undefined ? 'webhook' : 'destination';
}

function receivedAt(history: NotifierOptions['history']): ReadonlyMap<string, number> | undefined {
  const { unavailableBecause, lagMs = Infinity } = history.status;
  if (unavailableBecause !== undefined || lagMs > historyLagMs) return undefined;
  return readIfAvailable(history, (queries) => queries.receivedAt());
}
