/**
 * Operational events: what happens to destinations and to the configuration, as track calls of the built-in source `tailrace`, so that
 * any destination can be connected to it. Nothing is written while no enabled destination is, and there is no enabled notification.
 *
 * An event is one transaction with the record that it was reported (reported.ts). The instances watch the same topics; the first one
 * that notices an event writes it, and the others find it reported.
 *
 * Events cause no events: attempts and dead letters of the built-in source are left out.
 */
import { builtInSource, type ConfigView } from '@tailrace/config';
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import { ExclusiveWriter } from '../records/exclusive-writer.ts';
import { takeTurns } from '../records/turns.ts';
import { openConfigChanges, type ConfigChanges } from './config-changes.ts';
import { eventRecord } from './event.ts';
import { Noticed, type Due, type NoticedOptions } from './noticed.ts';
import { openReported, type Reported } from './reported.ts';

export type { Due } from './noticed.ts';

interface Reader {
  accept(name: string, value: Buffer | null): void;
}

export interface OperationsOptions extends Omit<NoticedOptions, 'outages' | 'deadSpanMs'> {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly config: NoticedOptions['config'] & Pick<ConfigView, 'destinationsOf' | 'notifications'>;
  readonly log: Pick<KafkaLog, 'info' | 'warn'>;
  readonly pace?: OperationsPace | undefined;
  /** They get the other records of `destinations.health`. */
  readonly beside: {
    readonly told: Reader & {
      /** Called when those are read that the topic has at the start. */
      started(): void;
    };
    readonly outages: Reader & NoticedOptions['outages'];
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

/** Resolves once the topics `config` and `destinations.health` are read to their ends. */
export async function openOperations(options: OperationsOptions): Promise<Operations> {
  const { kafka, names, beside } = options;
  const { told, outages } = beside;
  const reported = await openReported(kafka, names.destinationsHealth, (name, value) => {
    told.accept(name, value);
    outages.accept(name, value);
  });
  told.started();
  try {
    return new Operations(options, reported, await openConfigChanges(kafka, names.config));
  } catch (error) {
    await reported.close();
    throw error;
  }
}

export class Operations {
  /** What was reported of destinations. */
  readonly reported: Pick<Reported, 'destination' | 'destinations'>;
  readonly #options: OperationsOptions;
  readonly #read: { readonly reported: Reported; readonly changes: ConfigChanges };
  readonly #noticed: Noticed;
  readonly #writer: ExclusiveWriter<'events'>;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: OperationsOptions, reported: Reported, changes: ConfigChanges) {
    const { kafka, names, log, beside, pace = {} } = options;
    const { everyMs = 1_000, deadSpanMs = 30_000, onTurn } = pace;
    const { signal } = this.#closing;
    this.reported = reported;
    this.#options = options;
    this.#read = { reported, changes };
    this.#noticed = new Noticed({ ...options, outages: beside.outages, deadSpanMs }, reported, changes);
    this.#writer = new ExclusiveWriter({
      kafka,
      id: names.destinationsHealth,
      signal,
      partitioned: { events: names.events },
      refresh: () => reported.refresh(),
    });
    const isDue = (): boolean => this.#isDue();
    const act = (): Promise<void> => this.report(() => this.#noticed.due());
    const delayed = 'operational events delayed';
    this.#running = takeTurns({ everyMs, signal, isDue, act, log, delayed, onTurn });
  }

  /**
   * Writes what `decide` finds with all that the topic has; it may be nothing.
   *
   * @throws TailraceError `superseded`, `kafka-unavailable`, `shutting-down`
   */
  report(decide: () => readonly Due[]): Promise<void> {
    const { names, log } = this.#options;
    const { reported } = this.#read;
    return this.#writer.run(async ({ publisher, partitioners }) => {
      await reported.refresh();
      const due = decide();
      if (due.length === 0) return;
      const events = this.#isWatched() ? due.flatMap(({ event }) => event ?? []) : [];
      await publisher.publish([
        ...events.map((event) => eventRecord(names.events, event, partitioners.events)),
        ...due.map(({ remembered }) => ({ ...remembered, partition: 0 })),
      ]);
      await reported.refresh();
      for (const { event, messageId } of events) log.info({ event, messageId }, 'operational event');
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#noticed.close();
    await this.#running;
    await this.#writer.close();
    await Promise.all([this.#read.reported.close(), this.#read.changes.close()]);
  }

  #isDue(): boolean {
    if (this.#isWatched()) return this.#noticed.due().length > 0;
    this.#noticed.skip();
    return false;
  }

  #isWatched(): boolean {
    const { config } = this.#options;
    return (
      config.destinationsOf(builtInSource.id).length > 0 ||
      config.notifications().some(({ enabled }) => enabled)
    );
  }
}
