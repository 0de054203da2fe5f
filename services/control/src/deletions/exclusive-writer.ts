/**
 * Serializes the writers of deletion requests. Opening the exclusive publisher fences the writer of every other instance; the
 * view is then read to the end, so that a write is based on everything that was written before.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { ExclusivePublisher, Kafka, Partitioner } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';
import type { DeletionView } from './view.ts';

/** Valid until another instance opens its publisher. */
export interface WriterSession {
  readonly publisher: ExclusivePublisher;
  /** Of `events`. */
  readonly partitioner: Partitioner;
}

/** A transaction of a killed process blocks consumers of `events` until it times out. */
const transactionTimeoutMs = 10_000;
/** Random pause after being fenced, doubled for each time in a row. */
const backOffMs = { first: 500, max: 6_000 };

export class ExclusiveWriter {
  readonly #kafka: Pick<Kafka, 'exclusivePublisher' | 'partitioner'>;
  readonly #names: Pick<TopicNames, 'deletions' | 'events'>;
  readonly #view: Pick<DeletionView, 'refresh'>;
  readonly #signal: AbortSignal;
  #session: WriterSession | undefined;
  /** Settles when the latest write has ended. */
  #last: Promise<unknown> = Promise.resolve();
  #timesFencedInARow = 0;

  /** @param signal refuses later writes with `shutting-down` */
  constructor(
    kafka: Pick<Kafka, 'exclusivePublisher' | 'partitioner'>,
    names: Pick<TopicNames, 'deletions' | 'events'>,
    view: Pick<DeletionView, 'refresh'>,
    signal: AbortSignal,
  ) {
    this.#kafka = kafka;
    this.#names = names;
    this.#view = view;
    this.#signal = signal;
  }

  /**
   * Runs `work` after the writes before it. After a failure the next write opens a new session.
   *
   * @throws TailraceError `superseded` where another instance fenced this one; `kafka-unavailable`; `shutting-down`
   */
  async run<T>(work: (session: WriterSession) => Promise<T>): Promise<T> {
    const run = this.#last.then(async () => {
      if (this.#signal.aborted) throw new TailraceError('shutting-down');
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

  /** Waits for the writes in progress. */
  async close(): Promise<void> {
    await this.#last;
    await this.#closeSession();
  }

  async #openSession(): Promise<WriterSession> {
    const publisher = await this.#kafka.exclusivePublisher(this.#names.deletions, { transactionTimeoutMs });
    try {
      await this.#view.refresh();
      return { publisher, partitioner: await this.#kafka.partitioner(this.#names.events) };
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
    await wait(Math.random() * maxPauseMs, undefined, { signal: this.#signal }).catch(() => undefined);
  }
}
