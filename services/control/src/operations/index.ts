/**
 * Operational events: what happens to destinations and to the configuration, as track calls of the built-in source `tailrace`, so that
 * any destination can be connected to it. Nothing is written while no enabled destination is, and there is no enabled notification.
 *
 * An event is one transaction with the record that it was reported (reported.ts). The instances watch the same topics; the first one
 * that notices an event writes it, and the others find it reported.
 *
 * Events cause no events: attempts and dead letters of the built-in source are left out.
 */
import { builtInSource, type ConfigView, type Destination } from '@tailrace/config';
import type { History } from '@tailrace/history';
import type { Kafka, KafkaLog, OutgoingRecord } from '@tailrace/kafka';
import { isAboutReceiver } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import { ExclusiveWriter } from '../records/exclusive-writer.ts';
import { takeTurns } from '../records/turns.ts';
import { openConfigChanges, type ConfigChanges } from './config-changes.ts';
import { createDeadLetterCounts, type DeadLetterCount } from './dead-letters.ts';
import { watchDisabled } from './disabled.ts';
import {
  configEvent,
  deadEvent,
  disabledEvent,
  enabledEvent,
  eventRecord,
  failingEvent,
  recoveredEvent,
  type OperationalEvent,
} from './event.ts';
import { hasRecovered, isFailing, withAttempt, type Streak } from './receiver-health.ts';
import {
  encodeReported,
  encodeReportedConfig,
  openReported,
  type Reported,
  type ReportedDestination,
} from './reported.ts';

interface Reader {
  accept(name: string, value: Buffer | null): void;
}

export interface OperationsOptions {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly config: Pick<
    ConfigView,
    'destination' | 'destinations' | 'destinationsOf' | 'notifications' | 'onChange'
  >;
  readonly history: Pick<History, 'onAttempt' | 'onDeadLetter'>;
  readonly log: Pick<KafkaLog, 'info' | 'warn'>;
  /** For how long the attempts of a destination must only fail. */
  readonly failingAfterMs: number;
  readonly pace?: OperationsPace | undefined;
  /** They get the other records of `destinations.health`. */
  readonly beside: {
    readonly told: Reader & {
      /** Called when those are read that the topic has at the start. */
      started(): void;
    };
    readonly outages: Reader & {
      /** Since when its attempts had only failed, in milliseconds since the epoch, where `disableAfter` disabled it. */
      failedSince(destinationId: string): number | undefined;
    };
  };
}

export interface OperationsPace {
  /** Dead letters are counted in spans of this length, and reported when a span is over. Default 30 s. */
  readonly deadSpanMs?: number;
  /** How often is looked for events that are due. Default 1 s. */
  readonly everyMs?: number;
  /** Called each time that was looked. */
  readonly onTurn?: () => void;
}

/** Older records are read again where the history is rebuilt. */
const maxAgeMs = 15 * 60_000;
const maxChangeAgeMs = 3_600_000;
/** Dead letters of a destination are reported at most this often. */
const deadEveryMs = 10 * 60_000;
/** Events of one transaction. */
const maxEvents = 100;

/** A record of `destinations.health`, and the event that it remembers. */
export interface Due {
  readonly event?: OperationalEvent | undefined;
  readonly remembered: OutgoingRecord;
}

export type Operations = Awaited<ReturnType<typeof openOperations>>;

/** Resolves once the topics `config` and `destinations.health` are read to their ends. */
export async function openOperations(options: OperationsOptions) {
  const { kafka, names, beside } = options;
  const { told, outages } = beside;
  const reported = await openReported(kafka, names.destinationsHealth, (name, value) => {
    told.accept(name, value);
    outages.accept(name, value);
  });
  told.started();
  try {
    return startOperations(options, reported, await openConfigChanges(kafka, names.config));
  } catch (error) {
    await reported.close();
    throw error;
  }
}

function startOperations(options: OperationsOptions, reported: Reported, changes: ConfigChanges) {
  const { kafka, names, config, history, log, failingAfterMs, beside, pace = {} } = options;
  const { deadSpanMs = 30_000, everyMs = 1_000, onTurn } = pace;
  const closing = new AbortController();
  const { signal } = closing;
  const streaks = new Map<string, Streak>();
  const dead = createDeadLetterCounts(deadSpanMs);
  const disabled = watchDisabled(config);
  /** Destinations that are or were paused or disabled, until that is remembered of those that fail. */
  const newlyStopped = new Set(config.destinations().flatMap((one) => (isSending(one) ? [] : [one.id])));
  // Changes from before the first start are not reported.
  let configFrom = Math.min(reported.config()?.offset ?? changes.offset, changes.offset);

  const unsubscribe = [
    () => {
      disabled.close();
    },
    config.onChange(({ kind, id }) => {
      if (kind !== 'destination' || isSending(config.destination(id))) return;
      streaks.delete(id);
      newlyStopped.add(id);
    }),
    history.onAttempt((attempt) => {
      const { sourceId, destinationId, startedAt } = attempt;
      const at = Date.parse(startedAt);
      if (sourceId === builtInSource.id || !(at > Date.now() - maxAgeMs)) return;
      if (isSending(config.destination(destinationId)) && isAboutReceiver(attempt)) {
        streaks.set(destinationId, withAttempt(streaks.get(destinationId), attempt, at));
      }
    }),
    history.onDeadLetter((letter) => {
      const { destinationId = '', diedAt } = letter;
      if (!(diedAt > Date.now() - maxAgeMs) || !config.destination(destinationId)) return;
      dead.add(letter);
    }),
  ];

  /** The events that are due now, at most `maxEvents`. */
  const due = (): Due[] => {
    const now = Date.now();
    const found: Due[] = [];
    // Of a destination with two events, the second record replaces the first, so it has what both report.
    const updated = new Map<string, ReportedDestination>();
    const remember = (id: string, event: OperationalEvent | undefined, update: ReportedDestination): void => {
      const remembered = { ...(updated.get(id) ?? reported.destination(id)), ...update };
      updated.set(id, remembered);
      found.push({ event, remembered: encodeReported(names.destinationsHealth, id, remembered) });
    };
    const forget = (id: string) => encodeReported(names.destinationsHealth, id, {});
    for (const [id, streak] of streaks) {
      const { failingSince, stopped } = reported.destination(id);
      if (!config.destination(id)) streaks.delete(id);
      else if ((failingSince === undefined || stopped) && isFailing(streak, failingAfterMs)) {
        const failingSince = new Date(streak.since).toISOString();
        remember(id, failingEvent(id, streak), {
          failingSince,
          reason: streak.reason,
          stopped: undefined,
        });
      } else if (failingSince !== undefined && hasRecovered(streak, failingAfterMs, now)) {
        remember(id, recoveredEvent(id, failingSince, streak), {
          failingSince: undefined,
          reason: undefined,
          stopped: undefined,
        });
      }
    }
    for (const id of newlyStopped) {
      const { failingSince, stopped } = reported.destination(id);
      if (failingSince === undefined || stopped) newlyStopped.delete(id);
      else remember(id, undefined, { stopped: true });
    }
    for (const id of reported.destinations()) {
      const { disabledSince } = reported.destination(id);
      const destination = config.destination(id);
      if (!destination) found.push({ event: undefined, remembered: forget(id) });
      else if (disabledSince !== undefined && destination.enabled) {
        remember(id, enabledEvent(id, disabledSince), { disabledSince: undefined, failedSince: undefined });
      }
    }
    for (const [id, at] of disabled.since(now - maxChangeAgeMs)) {
      if (reported.destination(id).disabledSince !== undefined) disabled.forget(id);
      else {
        const disabledSince = new Date(at).toISOString();
        const since = beside.outages.failedSince(id);
        const failedSince = since === undefined ? undefined : new Date(since).toISOString();
        remember(id, disabledEvent(id, disabledSince, failedSince), { disabledSince, failedSince });
      }
    }
    for (const id of dead.destinations()) {
      const reportedUntil = Date.parse(reported.destination(id).deadUntil ?? '') || 0;
      const letters = dead.take(id, reportedUntil, now);
      if (!letters || now - reportedUntil < deadEveryMs) continue;
      remember(id, deadEvent(id, letters), deadLetters(letters, reported.destination(id)));
    }
    const reportedOffset = reported.config()?.offset ?? -1;
    // A topic that was created again begins at 0.
    if (reportedOffset <= changes.offset) configFrom = Math.max(configFrom, reportedOffset);
    for (const change of changes.after(configFrom)) {
      const event = change.at > now - maxChangeAgeMs ? configEvent(change) : undefined;
      const { offset } = change;
      found.push({ event, remembered: encodeReportedConfig(names.destinationsHealth, { offset }) });
    }
    return found.slice(0, maxEvents);
  };

  const writer = new ExclusiveWriter({
    kafka,
    id: names.destinationsHealth,
    signal,
    partitioned: { events: names.events },
    refresh: () => reported.refresh(),
  });

  const isWatched = (): boolean =>
    config.destinationsOf(builtInSource.id).length > 0 ||
    config.notifications().some(({ enabled }) => enabled);

  /** Writes what `decide` finds with all that the topic has; it may be nothing. */
  const report = (decide: () => readonly Due[]): Promise<void> =>
    writer.run(async ({ publisher, partitioners }) => {
      await reported.refresh();
      const all = decide();
      if (all.length === 0) return;
      const events = isWatched() ? all.flatMap(({ event }) => event ?? []) : [];
      await publisher.publish([
        ...events.map((event) => eventRecord(names.events, event, partitioners.events)),
        ...all.map(({ remembered }) => ({ ...remembered, partition: 0 })),
      ]);
      await reported.refresh();
      for (const { event, messageId } of events) log.info({ event, messageId }, 'operational event');
    });

  const isDue = (): boolean => {
    if (!isWatched()) {
      configFrom = changes.offset;
      dead.forget(Date.now() - maxAgeMs);
      for (const id of streaks.keys()) if (!config.destination(id)) streaks.delete(id);
    } else if (due().length > 0) return true;
    changes.forget(configFrom);
    return false;
  };

  const delayed = 'operational events delayed';
  const running = takeTurns({ everyMs, signal, isDue, act: () => report(due), log, delayed, onTurn });

  return {
    /** What was reported of destinations. */
    reported: { destination: reported.destination, destinations: reported.destinations },
    /** @throws TailraceError `superseded`, `kafka-unavailable`, `shutting-down` */
    report,
    async close() {
      closing.abort();
      for (const stop of unsubscribe) stop();
      await running;
      await writer.close();
      await Promise.all([reported.close(), changes.close()]);
    },
  };
}

function isSending(destination: Destination | undefined): boolean {
  return destination?.enabled === true && destination.paused !== true;
}

/** Dead letters without an hour between them are counted together. */
const deadApartMs = 60 * 60_000;

function deadLetters(
  { since, until, reasons }: DeadLetterCount,
  before: ReportedDestination,
): ReportedDestination {
  const continues = since - Date.parse(before.deadUntil ?? '') < deadApartMs;
  const { deadSince, dead: counted = {} } = continues ? before : {};
  const dead: Record<string, number> = { ...counted };
  for (const [reason, count] of Object.entries(reasons)) dead[reason] = (dead[reason] ?? 0) + count;
  return {
    deadSince: deadSince ?? new Date(since).toISOString(),
    deadUntil: new Date(until).toISOString(),
    dead,
  };
}
