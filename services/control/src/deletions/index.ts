/**
 * Deletion requests: every enabled destination of every affected source is told, once, that a user is to be forgotten.
 *
 * A portion of a request is one Kafka transaction: its `delete` events in `events`, and in `deletions` how far it is. So
 * whatever crashes, what is booked was sent and what was sent is booked. One process writes at a time, and reads
 * `deletions` to its end after it has shut out the others, before it writes. Whoever took a request sends it; another
 * goes on with it when it has not moved for some seconds.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ConfigView } from '@tailrace/config';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { ExclusivePublisher, ExclusiveRecord, Kafka, KafkaLog, Partitioner } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';
import {
  contentOf,
  deleteRecord,
  encodeRequest,
  totalOf,
  type AffectedSource,
  type DeletionRequest,
  type UnaffectedSource,
} from './request.ts';
import { openDeletionView, type DeletionView } from './view.ts';

export { progressOf, type OutcomeLookup, type SourceProgress } from './progress.ts';
export { totalOf, type DeletionRequest } from './request.ts';

export interface DeletionsOptions {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly config: Pick<ConfigView, 'source' | 'sources' | 'destinationsOf' | 'refresh'>;
  readonly log: Pick<KafkaLog, 'info' | 'warn'>;
  /** A request that has not moved for so long is taken over. Default 5 s. */
  readonly takeOverAfterMs?: number;
  /** Events in one transaction at most. Default 500. */
  readonly portion?: number;
}

export interface Wanted {
  /** Made where absent. */
  readonly id?: string | undefined;
  readonly userIds: readonly string[];
  /** All, where absent. */
  readonly sources?: readonly string[] | undefined;
}

export interface Deletions {
  /**
   * Resolves once the request is in Kafka, with its first events.
   *
   * @throws TailraceError `conflict` where the id is that of another request; `invalid-request` where a source is not
   *   there; `kafka-unavailable`: then the same request, under the same id, may be made again
   */
  create(wanted: Wanted): Promise<{ readonly request: DeletionRequest; readonly isNew: boolean }>;
  get(id: string): DeletionRequest | undefined;
  /** The newest first. */
  list(): DeletionRequest[];
  close(): Promise<void>;
}

const largestPortionBytes = 512 * 1024;
/** As for audiences: readers of `events` wait at a transaction whose process was killed. */
const transactionTimeoutMs = 10_000;
/** For whoever waits for an answer. */
const patienceMs = 25_000;
const retryPauseMs = 300;
const giveWayMs = { first: 500, most: 6_000 };
const lookEveryMs = 1_000;

export async function openDeletions(options: DeletionsOptions): Promise<Deletions> {
  const view = await openDeletionView(options.kafka, options.names.deletions);
  return new DeletionKeeper(options, view);
}

/** While it is held nobody else writes. */
interface Hold {
  readonly publisher: ExclusivePublisher;
  /** Of `events`. */
  readonly partitioner: Partitioner;
}

class DeletionKeeper implements Deletions {
  readonly #options: DeletionsOptions;
  readonly #view: DeletionView;
  readonly #closing = new AbortController();
  /** Ids of requests that are to be sent from here. */
  readonly #own = new Set<string>();
  #hold: Hold | undefined;
  /** The last of those that use the publisher, one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #working: Promise<void>;
  #wake: (() => void) | undefined;
  /** In a row. */
  #timesShutOut = 0;

  constructor(options: DeletionsOptions, view: DeletionView) {
    this.#options = options;
    this.#view = view;
    this.#working = this.#work();
  }

  get(id: string): DeletionRequest | undefined {
    return this.#view.get(id);
  }

  list(): DeletionRequest[] {
    return this.#view.all();
  }

  async create({ id = randomUUID(), userIds, sources }: Wanted): ReturnType<Deletions['create']> {
    const content = contentOf(userIds, sources);
    const existing = (): DeletionRequest | undefined => {
      const request = this.#view.get(id);
      if (!request || request.content === content) return request;
      throw new TailraceError('conflict', `The request ${JSON.stringify(id)} was made before, for others.`);
    };
    const before = performance.now();
    for (;;) {
      try {
        await this.#view.refresh();
        const request = existing();
        if (request) return { request, isNew: false };
        return await this.#inTurn(async (hold) => {
          const request = existing();
          if (request) return { request, isNew: false };
          const begun = await this.#begin(id, content, [...new Set(userIds)], sources);
          return { request: await this.#send(hold, begun), isNew: true };
        });
      } catch (error) {
        const mayPass = isTailraceError(error, 'superseded') || isTailraceError(error, 'kafka-unavailable');
        if (!mayPass || this.#closing.signal.aborted) throw error;
        if (performance.now() - before > patienceMs) {
          throw new TailraceError('kafka-unavailable', undefined, { cause: error });
        }
        if (error.code !== 'superseded') await this.#pause(retryPauseMs);
      }
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake?.();
    await this.#working;
    await this.#turn;
    await this.#letGo();
    await this.#view.close();
  }

  async #begin(
    id: string,
    content: string,
    userIds: readonly string[],
    wanted: readonly string[] | undefined,
  ): Promise<DeletionRequest> {
    const { config } = this.#options;
    await config.refresh();
    const missing = (wanted ?? []).filter((sourceId) => !config.source(sourceId));
    if (missing.length > 0) {
      const rule = `has ids of no source: ${missing.join(', ')}`;
      throw new TailraceError('invalid-request', `sources ${rule}.`, {
        problems: [{ field: 'sources', rule }],
      });
    }
    const sources: AffectedSource[] = [];
    const unaffected: UnaffectedSource[] = [];
    for (const sourceId of new Set(wanted ?? config.sources().map(({ id }) => id))) {
      const destinations = config.destinationsOf(sourceId).map(({ id }) => id);
      const isDisabled = config.source(sourceId)?.enabled !== true;
      if (!isDisabled && destinations.length > 0) sources.push({ sourceId, destinations });
      else unaffected.push({ sourceId, reason: isDisabled ? 'disabled' : 'no-destination' });
    }
    const now = new Date().toISOString();
    const users = userIds.length;
    return { id, createdAt: now, updatedAt: now, users, content, sources, unaffected, sent: 0, userIds };
  }

  /** Writes the next portion, and resolves with the request as it then is. */
  async #send({ publisher, partitioner }: Hold, request: DeletionRequest): Promise<DeletionRequest> {
    const { names, portion = 500 } = this.#options;
    const total = totalOf(request);
    const records: ExclusiveRecord[] = [];
    let bytes = 0;
    let { sent } = request;
    for (; sent < total && records.length < portion && bytes < largestPortionBytes; sent += 1) {
      const record = deleteRecord(names.events, request, sent);
      bytes += record.value?.length ?? 0;
      records.push({ ...record, partition: partitioner.partitionOf(record.key?.toString() ?? '') });
    }
    const { userIds, ...rest } = request;
    const next: DeletionRequest = {
      ...rest,
      sent,
      updatedAt: new Date().toISOString(),
      ...(sent < total && { userIds }),
    };
    await publisher.publish([...records, { ...encodeRequest(names.deletions, next), partition: 0 }]);
    this.#view.accept(next);
    if (sent < total) this.#own.add(next.id);
    else this.#own.delete(next.id);
    this.#wake?.();
    return next;
  }

  /** Sends what is left of requests, those of others too once they stand still. */
  async #work(): Promise<void> {
    const { takeOverAfterMs = 5_000, log } = this.#options;
    while (!this.#closing.signal.aborted) {
      const due = this.#view
        .unfinished()
        .find(
          ({ request, since }) => this.#own.has(request.id) || performance.now() - since > takeOverAfterMs,
        );
      if (!due) {
        await this.#newWork();
        continue;
      }
      const { id } = due.request;
      try {
        if (!this.#own.has(id))
          log.info({ request: id }, 'going on with a deletion request that stood still');
        await this.#inTurn(async (hold) => {
          const request = this.#view.get(id);
          if (request && request.sent < totalOf(request)) await this.#send(hold, request);
        });
      } catch (error) {
        if (!isTailraceError(error)) throw error;
        // Somebody else may have gone on with it; if not, it will be seen to stand still.
        this.#own.delete(id);
        if (error.code !== 'superseded')
          log.warn({ err: error, request: id }, 'a deletion request has to wait');
        await this.#pause(retryPauseMs);
      }
    }
  }

  /** Runs `work` with the publisher, when those before it are done. What has failed is opened anew the next time. */
  async #inTurn<T>(work: (hold: Hold) => Promise<T>): Promise<T> {
    const run = this.#turn.then(async () => {
      if (this.#closing.signal.aborted) throw new TailraceError('shutting-down');
      try {
        this.#hold ??= await this.#takeHold();
        const result = await work(this.#hold);
        this.#timesShutOut = 0;
        return result;
      } catch (error) {
        await this.#letGo();
        if (isTailraceError(error, 'superseded')) await this.#giveWay();
        throw error;
      }
    });
    this.#turn = run.catch(() => undefined);
    return run;
  }

  /**
   * Whoever shut this one out needs some time to do its work, and would have to begin again if it were shut out in turn.
   * All that wait here wait with it, and then do theirs in one go.
   */
  async #giveWay(): Promise<void> {
    this.#timesShutOut += 1;
    await this.#pause(Math.random() * Math.min(giveWayMs.first * 2 ** this.#timesShutOut, giveWayMs.most));
  }

  /** From here on nobody else writes, and the view has all that was written. */
  async #takeHold(): Promise<Hold> {
    const { kafka, names } = this.#options;
    const publisher = await kafka.exclusivePublisher(names.deletions, { transactionTimeoutMs });
    try {
      await this.#view.refresh();
      return { publisher, partitioner: await kafka.partitioner(names.events) };
    } catch (error) {
      await publisher.close();
      throw error;
    }
  }

  async #letGo(): Promise<void> {
    const hold = this.#hold;
    this.#hold = undefined;
    await hold?.publisher.close();
  }

  async #newWork(): Promise<void> {
    const waiting = new AbortController();
    this.#wake = () => {
      waiting.abort();
    };
    await wait(lookEveryMs, undefined, { signal: waiting.signal, ref: false }).catch(() => undefined);
    this.#wake = undefined;
  }

  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }
}
