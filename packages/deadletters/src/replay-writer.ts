/**
 * The writer of `deliveries.replay`. The whole system has one at a time: a process that opens it fences that of every other process.
 * The replays of a process share it. They publish in turn, and none publishes what another has published since it was opened; what
 * was published before, each reads from the topic.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { ExclusivePublisher, ExclusiveRecord, Kafka } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import type { DeadLetter } from './dead-letter.ts';
import { ReplayedLetters, type LetterPlace } from './replayed-letters.ts';

/** A record of the replay topic. */
export interface Replayed {
  readonly record: ExclusiveRecord;
  /** The dead letter that it was made from: no other replay of the process publishes it too. */
  readonly letter?: LetterPlace | undefined;
}

export interface Passes<T> {
  /** Reads what is due, and publishes it. */
  readonly pass: (session: WriterSession) => Promise<T>;
  /** Milliseconds since the latest publication. */
  readonly idleMs: () => number;
  readonly signal: AbortSignal;
  /** The result where the signal was aborted during an outage. */
  readonly stopped: () => T;
}

const maxIdleMs = 60_000;
const retryPauseMs = 1_000;

export class ReplayWriter {
  readonly #kafka: Pick<Kafka, 'exclusivePublisher'>;
  readonly #topic: string;
  #session: WriterSession | undefined;

  constructor(
    kafka: Pick<Kafka, 'exclusivePublisher'>,
    { deliveriesReplay }: Pick<TopicNames, 'deliveriesReplay'>,
  ) {
    this.#kafka = kafka;
    this.#topic = deliveriesReplay;
  }

  /**
   * Runs a replay with the open writer, or opens it. The replay runs again while Kafka is unavailable, until it has published
   * nothing for a minute.
   *
   * @throws TailraceError as the replay
   */
  async run<T>({ pass, idleMs, signal, stopped }: Passes<T>): Promise<T> {
    for (;;) {
      try {
        if (!this.#session?.isUsable) this.#session = new WriterSession(this.#kafka, this.#topic);
        return await this.#session.use(pass);
      } catch (error) {
        if (!isTailraceError(error, 'kafka-unavailable') || idleMs() > maxIdleMs) throw error;
        if (signal.aborted) return stopped();
        await wait(retryPauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}

/** From opening the writer until the last replay has left it, or until a publication failed, after which none is made. */
export class WriterSession {
  readonly #publisher: Promise<ExclusivePublisher>;
  readonly #published = new ReplayedLetters();
  /** Settles when the latest publication has ended. */
  #last: Promise<unknown> = Promise.resolve();
  #replays = 0;
  #failure: Error | undefined;
  #isClosed = false;

  constructor(kafka: Pick<Kafka, 'exclusivePublisher'>, topic: string) {
    this.#publisher = kafka.exclusivePublisher(topic);
  }

  get isUsable(): boolean {
    return !this.#isClosed && this.#failure === undefined;
  }

  async use<T>(replay: (session: WriterSession) => Promise<T>): Promise<T> {
    this.#replays += 1;
    try {
      await this.#publisher.catch(this.#fail);
      return await replay(this);
    } finally {
      this.#replays -= 1;
      if (this.#replays === 0) await this.#close();
    }
  }

  /** Whether a replay has published the dead letter since the session began. */
  has({ record }: DeadLetter): boolean {
    return this.#published.has(record);
  }

  /**
   * Publishes all or none, without what is made from a dead letter that another replay has published, and returns the number.
   *
   * @throws TailraceError as `ExclusivePublisher`
   */
  async publish(batch: readonly Replayed[]): Promise<number> {
    const publication = this.#last.then(async () => {
      if (this.#failure !== undefined) throw this.#failure;
      const due = batch.filter(({ letter }) => !letter || !this.#published.has(letter));
      if (due.length === 0) return 0;
      const publisher = await this.#publisher;
      await publisher.publish(due.map(({ record }) => record)).catch(this.#fail);
      for (const { letter } of due) if (letter) this.#published.addLetter(letter);
      return due.length;
    });
    this.#last = publication.catch(() => undefined);
    return publication;
  }

  readonly #fail = (error: Error): never => {
    this.#failure = error;
    throw error;
  };

  async #close(): Promise<void> {
    this.#isClosed = true;
    const publisher = await this.#publisher.catch(() => undefined);
    await publisher?.close();
  }
}
