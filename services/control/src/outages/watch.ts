/** Watches the destinations with `disableAfter`, warns of those that will be disabled, and disables them. README.md has the states. */
import type { ConfigEditor } from '@tailrace/config';
import { formatInstant } from '@tailrace/events';
import { readIfAvailable, type History } from '@tailrace/history';
import type { Counter, Log, Metrics } from '@tailrace/service';
import { within } from '../http/current.ts';
import { disablingEvent } from '../operations/event.ts';
import type { Due, Operations } from '../operations/index.ts';
import { takeTurns } from '../records/turns.ts';
import { disablesAt, stepOf, watchedOf, type Outage, type Step } from './outage.ts';
import { encodeOutage, type StoredOutages } from './stored.ts';

export interface OutageOptions {
  /** The topic `destinations.health`. */
  readonly topic: string;
  readonly config: Pick<ConfigEditor, 'destination' | 'destinations' | 'version' | 'refresh' | 'change'>;
  readonly history: Pick<History, 'read' | 'refresh'>;
  readonly operations: Pick<Operations, 'report'>;
  readonly stored: StoredOutages;
  readonly report: { readonly log: Pick<Log, 'info' | 'warn'>; readonly metrics: Metrics };
  readonly pace?: OutagePace | undefined;
}

export interface OutagePace {
  /** Default 30 s. */
  readonly everyMs?: number;
  /** Called each time that was looked. */
  readonly onTurn?: () => void;
}

interface Found {
  readonly id: string;
  readonly step: Step;
  readonly afterMs: number;
}

/** Steps of one transaction. */
const stepsTogether = 100;
const upToDateWithinMs = 10_000;

export class OutageWatch {
  readonly #options: OutageOptions;
  readonly #disabledTotal: Counter<'tailrace_destinations_disabled_total'>;
  /** Outages that have no record. */
  readonly #begun = new Map<string, Outage>();
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: OutageOptions) {
    const { report, pace: { everyMs = 30_000, onTurn } = {} } = options;
    const { log, metrics } = report;
    this.#options = options;
    this.#disabledTotal = metrics.counter('tailrace_destinations_disabled_total');
    const { signal } = this.#closing;
    const isDue = (): boolean => this.#look().length > 0;
    const act = (): Promise<void> => this.#act();
    const delayed = 'disabling of failing destinations delayed';
    this.#running = takeTurns({ everyMs, signal, isDue, act, log, delayed, onTurn });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  #look(): readonly Found[] {
    const { config, stored, history } = this.#options;
    const configured = config.destinations().filter(({ disableAfter }) => disableAfter !== undefined);
    const ids = [
      ...new Set([...configured.map(({ id }) => id), ...stored.destinations(), ...this.#begun.keys()]),
    ];
    const attempts = ids.length > 0 && readIfAvailable(history, (queries) => queries.latestAttempts(ids));
    if (!attempts) return [];
    const found = ids.flatMap((id): Found[] => {
      const watched = watchedOf(config, id);
      const step = stepOf(stored.find(id) ?? this.#begun.get(id), watched, attempts.get(id));
      return step ? [{ id, step, afterMs: watched?.afterMs ?? 0 }] : [];
    });
    return found.slice(0, stepsTogether);
  }

  async #act(): Promise<void> {
    const { config, history, operations, stored } = this.#options;
    // Another instance may have read more: the latest success.
    if (!(await within(Promise.all([history.refresh(), config.refresh()]), upToDateWithinMs))) return;
    const found = this.#look();
    for (const { id, step } of found) {
      if (step.kind === 'begin') this.#begun.set(id, step.outage);
      else if (step.kind === 'over' || stored.find(id)) this.#begun.delete(id);
    }
    const due = found.flatMap(({ id, step }) =>
      step.kind === 'disable' ? [{ id, outage: step.outage }] : [],
    );
    if (due.length > 0) await this.#disable(due);
    if (found.every((one) => this.#written(one).length === 0)) return;
    await operations.report(() => this.#look().flatMap((one) => this.#written(one)));
  }

  /** An entry that was changed since its outage began stays as it is. */
  async #disable(due: readonly { readonly id: string; readonly outage: Outage }[]): Promise<void> {
    const { topic, config, report } = this.#options;
    const { result } = await config.change((current) => {
      const same = due.flatMap(({ id, outage }) => {
        const entry = current.destination(id);
        const isSame = current.version('destination', id) === outage.version && entry?.enabled;
        return isSame ? [{ id, outage, entry: { ...entry, enabled: false } }] : [];
      });
      return {
        writes: same.map(({ id, entry }) => ({ kind: 'destination', id, entry })),
        also: same.map(({ id, outage }) => encodeOutage(topic, id, outage)),
        result: same,
      };
    });
    for (const { id: destinationId, outage } of result) {
      this.#disabledTotal.inc();
      const { since, reason } = outage;
      report.log.info({ destinationId, failingSince: formatInstant(since), reason }, 'destination disabled');
    }
  }

  /** What a step writes; nothing where the outage has no record yet, or had none. */
  #written({ id, step, afterMs }: Found): readonly Due[] {
    const { topic, stored } = this.#options;
    if (step.kind === 'over') return stored.find(id) ? [{ remembered: encodeOutage(topic, id) }] : [];
    const { kind, outage } = step;
    if (kind === 'begin' || kind === 'disable') return [];
    const event =
      kind === 'warn' && disablingEvent(id, { ...outage, disablesAt: disablesAt(outage, afterMs) });
    return [{ remembered: encodeOutage(topic, id, outage), ...(event && { event }) }];
  }
}
