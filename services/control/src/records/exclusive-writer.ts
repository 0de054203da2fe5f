/**
 * Serializes writers, within an instance and across instances. Opening the exclusive publisher fences the writer of every other
 * instance; the views are then read to the end, so that a write is based on everything that was written before.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { ExclusivePublisher, Kafka, Partitioner } from '@tailrace/kafka';

/** Valid until another instance opens its publisher. */
export interface WriterSession<Name extends string = never> {
  readonly publisher: ExclusivePublisher;
  readonly partitioners: Readonly<Record<Name, Partitioner>>;
}

export interface ExclusiveWriterOptions<Name extends string> {
  readonly kafka: Pick<Kafka, 'exclusivePublisher' | 'partitioner'>;
  /** The id of the exclusive publisher. */
  readonly id: string;
  /** Topics whose partitions the writes choose by key. */
  readonly partitioned: Readonly<Record<Name, string>>;
  /** Reads what the writes are based on to its end. */
  readonly refresh: () => Promise<unknown>;
  /** Refuses later writes with `shutting-down`. */
  readonly signal: AbortSignal;
}

/** A transaction of a killed process blocks consumers of `events` until it times out. */
const transactionTimeoutMs = 10_000;
/** How long a write is repeated while a client waits for it. */
const clientWaitsMs = 25_000;
const retryPauseMs = 300;
/** Random pause after being fenced, doubled for each time in a row. */
const backOffMs = { first: 500, max: 6_000 };

export class ExclusiveWriter<Name extends string> {
  readonly #options: ExclusiveWriterOptions<Name>;
  #session: WriterSession<Name> | undefined;
  /** Settles when the latest write has ended. */
  #last: Promise<unknown> = Promise.resolve();
  #timesFencedInARow = 0;

  constructor(options: ExclusiveWriterOptions<Name>) {
    this.#options = options;
  }

  /**
   * Runs `work` after the writes before it. After a failure the next write opens a new session.
   *
   * @throws TailraceError `superseded` where another instance fenced this one; `kafka-unavailable`; `shutting-down`
   */
  async run<T>(work: (session: WriterSession<Name>) => Promise<T>): Promise<T> {
    const run = this.#last.then(async () => {
      if (this.#options.signal.aborted) throw new TailraceError('shutting-down');
      try {
        this.#session ??= await this.#openSession();
        const result = await work(this.#session);
        this.#timesFencedInARow = 0;
        return result;
      } catch (error) {
        await this.#closeSession();
        if (isTailraceError(error, 'superseded')) await this.#backOff();
        throw error;
      }
    });
    this.#last = run.catch(() => undefined);
    return run;
  }

  /**
   * As `run`, and repeats `work` after a failure of Kafka for as long as a client waits. An earlier run may have written its records.
   *
   * @throws TailraceError as `work`; `kafka-unavailable`; `shutting-down`
   */
  async runWhileClientWaits<T>(work: (session: WriterSession<Name>) => Promise<T>): Promise<T> {
    const { signal } = this.#options;
    const startedAt = performance.now();
    for (;;) {
      try {
        return await this.run(work);
      } catch (error) {
        const mayRetry = isTailraceError(error, 'superseded') || isTailraceError(error, 'kafka-unavailable');
        if (!mayRetry || signal.aborted) throw error;
        if (performance.now() - startedAt > clientWaitsMs) {
          throw new TailraceError('kafka-unavailable', undefined, { cause: error });
        }
        if (error.code !== 'superseded')
          await wait(retryPauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Waits for the writes in progress. */
  async close(): Promise<void> {
    await this.#last;
    await this.#closeSession();
  }

  async #openSession(): Promise<WriterSession<Name>> {
    const { kafka, id, partitioned, refresh } = this.#options;
    const publisher = await kafka.exclusivePublisher(id, { transactionTimeoutMs });
    try {
      await refresh();
      const found = await Promise.all(
        Object.entries<string>(partitioned).map(async ([name, topic]) => [
          name,
          await kafka.partitioner(topic),
        ]),
      );
      return { publisher, partitioners: Object.fromEntries(found) as Record<Name, Partitioner> };
    } catch (error) {
      await publisher.close();
      throw error;
    }
  }

  async #closeSession(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.publisher.close();
  }

  /** Gives the other instance time to finish; fencing it in turn would make it start again. Later writes wait too. */
  async #backOff(): Promise<void> {
    this.#timesFencedInARow += 1;
    const maxPauseMs = Math.min(backOffMs.first * 2 ** this.#timesFencedInARow, backOffMs.max);
    await wait(Math.random() * maxPauseMs, undefined, { signal: this.#options.signal }).catch(
      () => undefined,
    );
  }
}
