/** What happens to destinations and to the configuration, from when it is noticed until it is reported. */
import { builtInSource, type ConfigView, type Destination } from '@tailrace/config';
import type { History } from '@tailrace/history';
import type { OutgoingRecord } from '@tailrace/kafka';
import { isAboutReceiver } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import type { ConfigChanges } from './config-changes.ts';
import { createDeadLetterCounts, type DeadLetterCount } from './dead-letters.ts';
import { watchDisabled } from './disabled.ts';
import {
  configEvent,
  deadEvent,
  disabledEvent,
  enabledEvent,
  failingEvent,
  recoveredEvent,
  transformFailingEvent,
  type OperationalEvent,
} from './event.ts';
import { hasRecovered, isFailing, withAttempt, type Streak } from './receiver-health.ts';
import { encodeReported, encodeReportedConfig, type Reported, type ReportedDestination } from './reported.ts';
import { TransformFailureCounts } from './transform-failures.ts';

export interface NoticedOptions {
  readonly names: Pick<TopicNames, 'destinationsHealth'>;
  readonly config: Pick<ConfigView, 'destination' | 'destinations' | 'onChange'>;
  readonly history: Pick<History, 'onAttempt' | 'onDeadLetter'>;
  readonly outages: {
    /** Since when its attempts had only failed, in milliseconds since the epoch, where `disableAfter` disabled it. */
    failedSince(destinationId: string): number | undefined;
  };
  /** For how long the attempts of a destination must only fail. */
  readonly failingAfterMs: number;
  /** Dead letters are counted in spans of this length, and reported when a span is over. */
  readonly deadSpanMs: number;
}

/** A record of `destinations.health`, and the event that it remembers. */
export interface Due {
  readonly event?: OperationalEvent | undefined;
  readonly remembered: OutgoingRecord;
}

/** `update` is what is to be remembered of the destination beside what was reported; undefined forgets it. */
interface Finding {
  readonly id: string;
  readonly event?: OperationalEvent;
  readonly update: ReportedDestination | undefined;
}

/** Older records are read again where the history is rebuilt. */
const maxAgeMs = 15 * 60_000;
const maxChangeAgeMs = 3_600_000;
/** Dead letters of a destination are reported at most this often. */
const deadEveryMs = 10 * 60_000;
/** Events of one transaction. */
const maxEvents = 100;

export class Noticed {
  readonly #options: NoticedOptions;
  readonly #reported: Reported;
  readonly #changes: ConfigChanges;
  readonly #streaks = new Map<string, Streak>();
  readonly #dead: ReturnType<typeof createDeadLetterCounts>;
  readonly #transforms = new TransformFailureCounts();
  readonly #disabled: ReturnType<typeof watchDisabled>;
  /** Destinations that are or were paused or disabled, until that is remembered of those that fail. */
  readonly #newlyStopped: Set<string>;
  readonly #unsubscribe: readonly (() => void)[];

  constructor(options: NoticedOptions, reported: Reported, changes: ConfigChanges) {
    const { config, history, deadSpanMs } = options;
    this.#options = options;
    this.#reported = reported;
    this.#changes = changes;
    this.#dead = createDeadLetterCounts(deadSpanMs);
    this.#disabled = watchDisabled(config);
    this.#newlyStopped = new Set(config.destinations().flatMap((one) => (isSending(one) ? [] : [one.id])));
    // Changes from before the first start are not reported.
    changes.forget(Math.min(reported.config()?.offset ?? changes.offset, changes.offset));
    this.#unsubscribe = [
      this.#disabled.close,
      config.onChange(({ kind, id }) => {
        if (kind !== 'destination' || isSending(config.destination(id))) return;
        this.#streaks.delete(id);
        this.#newlyStopped.add(id);
      }),
      history.onAttempt((attempt) => {
        const { sourceId, destinationId, startedAt } = attempt;
        const at = Date.parse(startedAt);
        if (sourceId === builtInSource.id || !(at > Date.now() - maxAgeMs)) return;
        this.#transforms.attempted(destinationId, at);
        if (isSending(config.destination(destinationId)) && isAboutReceiver(attempt)) {
          this.#streaks.set(destinationId, withAttempt(this.#streaks.get(destinationId), attempt, at));
        }
      }),
      history.onDeadLetter((letter) => {
        const { destinationId = '', diedAt } = letter;
        if (!(diedAt > Date.now() - maxAgeMs) || !config.destination(destinationId)) return;
        this.#dead.add(letter);
        this.#transforms.failed(letter);
      }),
    ];
  }

  /** What is to be reported now, of at most `maxEvents` events. */
  due(): readonly Due[] {
    const topic = this.#options.names.destinationsHealth;
    const now = Date.now();
    // Of a destination with two events, the second record replaces the first, so it has what both report.
    const updated = new Map<string, ReportedDestination>();
    const findings = [
      ...this.#receivers(now),
      ...this.#entries(now),
      ...this.#deadLetters(now),
      ...this.#failingTransforms(),
    ];
    const found = findings.map(({ id, event, update }): Due => {
      const remembered = update ? { ...(updated.get(id) ?? this.#reported.destination(id)), ...update } : {};
      updated.set(id, remembered);
      return { event, remembered: encodeReported(topic, id, remembered) };
    });
    const reportedOffset = this.#reported.config()?.offset ?? -1;
    // A topic that was created again begins at 0.
    if (reportedOffset <= this.#changes.offset) this.#changes.forget(reportedOffset);
    const changes = this.#changes.all().map((change): Due => {
      const event = change.at > now - maxChangeAgeMs ? configEvent(change) : undefined;
      return { event, remembered: encodeReportedConfig(topic, { offset: change.offset }) };
    });
    return [...found, ...changes].slice(0, maxEvents);
  }

  /** Forgets what is not to be reported later, while nobody wants to know. */
  skip(): void {
    this.#changes.forget(this.#changes.offset);
    this.#dead.forget(Date.now() - maxAgeMs);
    for (const id of this.#streaks.keys()) {
      if (!this.#options.config.destination(id)) this.#streaks.delete(id);
    }
  }

  close(): void {
    for (const stop of this.#unsubscribe) stop();
  }

  *#receivers(now: number): Generator<Finding> {
    const { config, failingAfterMs } = this.#options;
    for (const [id, streak] of this.#streaks) {
      const { failingSince, stopped } = this.#reported.destination(id);
      const { reason } = streak;
      if (!config.destination(id)) this.#streaks.delete(id);
      else if ((failingSince === undefined || stopped) && isFailing(streak, failingAfterMs)) {
        const update = { failingSince: new Date(streak.since).toISOString(), reason, stopped: undefined };
        yield { id, event: failingEvent(id, streak), update };
      } else if (failingSince !== undefined && hasRecovered(streak, failingAfterMs, now)) {
        const update = { failingSince: undefined, reason: undefined, stopped: undefined };
        yield { id, event: recoveredEvent(id, failingSince, streak), update };
      }
    }
    for (const id of this.#newlyStopped) {
      const { failingSince, stopped } = this.#reported.destination(id);
      if (failingSince === undefined || stopped) this.#newlyStopped.delete(id);
      else yield { id, update: { stopped: true } };
    }
  }

  *#entries(now: number): Generator<Finding> {
    for (const id of this.#reported.destinations()) {
      const { disabledSince } = this.#reported.destination(id);
      const destination = this.#options.config.destination(id);
      if (!destination) yield { id, update: undefined };
      else if (disabledSince !== undefined && destination.enabled) {
        const update = { disabledSince: undefined, failedSince: undefined };
        yield { id, event: enabledEvent(id, disabledSince), update };
      }
    }
    for (const [id, at] of this.#disabled.since(now - maxChangeAgeMs)) {
      if (this.#reported.destination(id).disabledSince !== undefined) this.#disabled.forget(id);
      else {
        const disabledSince = new Date(at).toISOString();
        const since = this.#options.outages.failedSince(id);
        const failedSince = since === undefined ? undefined : new Date(since).toISOString();
        const event = disabledEvent(id, disabledSince, failedSince);
        yield { id, event, update: { disabledSince, failedSince } };
      }
    }
  }

  *#deadLetters(now: number): Generator<Finding> {
    for (const id of this.#dead.destinations()) {
      const reported = this.#reported.destination(id);
      const reportedUntil = Date.parse(reported.deadUntil ?? '') || 0;
      const letters = this.#dead.take(id, reportedUntil, now);
      if (!letters || now - reportedUntil < deadEveryMs) continue;
      yield { id, event: deadEvent(id, letters), update: withLetters(reported, letters) };
    }
  }

  *#failingTransforms(): Generator<Finding> {
    for (const [id, failures] of this.#transforms.failing()) {
      const { transformFailedSince: before = '' } = this.#reported.destination(id);
      if (!this.#options.config.destination(id)) this.#transforms.forget(id);
      // Another instance may have begun to count a little earlier or later.
      else if (!(Math.abs(failures.since - Date.parse(before)) < maxAgeMs)) {
        const transformFailedSince = new Date(failures.since).toISOString();
        yield { id, event: transformFailingEvent(id, failures), update: { transformFailedSince } };
      }
    }
  }
}

function isSending(destination: Destination | undefined): boolean {
  return destination?.enabled === true && destination.paused !== true;
}

/** Dead letters without an hour between them are counted together. */
const deadApartMs = 60 * 60_000;

function withLetters(
  before: ReportedDestination,
  { since, until, reasons }: DeadLetterCount,
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
