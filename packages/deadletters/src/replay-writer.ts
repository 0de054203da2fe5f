/**
 * The writer of `deliveries.replay`. The whole system has one at a time: a process that opens it fences that of every other process.
 * The replays of a process share it. They publish in turn, and none publishes what another has published since it was opened; what
 * was published before, each reads from the topic.
 */
import type { ExclusivePublisher, Kafka } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import type { DeadLetter } from './dead-letter.ts';
import { ReplayedLetters } from './replayed-letters.ts';
import { replayRecord } from './replay-record.ts';

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

  /** Runs a replay with the open writer, or opens it. */
  async use<T>(replay: (session: WriterSession) => Promise<T>): Promise<T> {
    if (!this.#session?.isUsable) this.#session = new WriterSession(this.#kafka, this.#topic);
    return this.#session.use(replay);
  }
}

/** From opening the writer until the last replay has left it, or until a publication failed, after which none is made. */
export class WriterSession {
  readonly #topic: string;
  readonly #publisher: Promise<ExclusivePublisher>;
  readonly #published = new ReplayedLetters();
  /** Settles when the latest publication has ended. */
  #last: Promise<unknown> = Promise.resolve();
  #replays = 0;
  #failure: Error | undefined;
  #isClosed = false;

  constructor(kafka: Pick<Kafka, 'exclusivePublisher'>, topic: string) {
    this.#topic = topic;
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
   * Publishes those of the dead letters that no other replay has published, all or none, and returns their number. `by` is as for
   * `replayRecord`.
   *
   * @throws TailraceError as `ExclusivePublisher`
   */
  async publish(letters: readonly DeadLetter[], by: string | undefined): Promise<number> {
    const publication = this.#last.then(async () => {
      if (this.#failure !== undefined) throw this.#failure;
      const due = letters.filter((letter) => !this.has(letter));
      if (due.length === 0) return 0;
      const publisher = await this.#publisher;
      const records = due.map(({ record }) => replayRecord(record, this.#topic, true, by));
      await publisher.publish(records).catch(this.#fail);
      for (const { record } of due) this.#published.addLetter(record);
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
