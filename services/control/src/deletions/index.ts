/**
 * Deletion requests: every enabled destination of every affected source receives one `delete` event for each user. Before that the
 * users are marked as deleted and leave the audiences (marks.ts).
 *
 * A portion of a request is one Kafka transaction: its marks and `delete` events, and its progress in `deletions`. A crash
 * cannot separate them. One instance writes at a time (records/exclusive-writer.ts). The instance that received a request sends it;
 * another instance continues it once it has stalled for some seconds.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ConfigView } from '@tailrace/config';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import { allSources } from '@tailrace/suppressions';
import type { TopicNames } from '@tailrace/topology';
import type { AudienceKey } from '../audiences/index.ts';
import { entryNotFound } from '../http/errors.ts';
import type { SuppressionStore } from '../suppressions/store.ts';
import { ExclusiveWriter, type WriterSession } from '../records/exclusive-writer.ts';
import { hasOld, liftRequest, removeOld } from './lift.ts';
import { newRequest } from './new-request.ts';
import { portionOf } from './portion.ts';
import { contentOf, encodeRequest, type DeletionRequest } from './request.ts';
import { isWritten, openDeletionView, type DeletionView } from './view.ts';

export { progressOf, sentBySource } from './progress.ts';
export { eventGroupOf, totalOf, type DeletionRequest } from './request.ts';
export { isWritten } from './view.ts';

export interface DeletionsOptions {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly config: Pick<ConfigView, 'source' | 'sources' | 'destinationsOf' | 'refresh'>;
  readonly suppressions: SuppressionStore;
  /** All audiences, also those of deleted sources. */
  readonly audiences: () => readonly AudienceKey[];
  readonly log: Pick<KafkaLog, 'info' | 'warn'>;
  /** A request without progress for this long is continued by another instance. Default 5 s. */
  readonly takeOverAfterMs?: number;
  /** Maximum of marks and events in one transaction. Default 500. */
  readonly portion?: number;
}

type DeletionSession = WriterSession<'events' | 'audiences'>;

export interface WantedDeletion {
  /** Generated where absent. */
  readonly id?: string | undefined;
  readonly userIds: readonly string[];
  /** All sources where absent. */
  readonly sources?: readonly string[] | undefined;
}

const retryPauseMs = 300;
const pollMs = 1_000;
const removeEveryMs = 3_600_000;

export async function openDeletions(options: DeletionsOptions): Promise<Deletions> {
  const view = await openDeletionView(options.kafka, options.names.deletions);
  return new Deletions(options, view);
}

export class Deletions {
  readonly #options: DeletionsOptions;
  readonly #view: DeletionView;
  readonly #writer: ExclusiveWriter<'events' | 'audiences'>;
  readonly #closing = new AbortController();
  /** Ids of unfinished requests that this instance sends. */
  readonly #own = new Set<string>();
  readonly #sending: Promise<void>;
  #wake: (() => void) | undefined;
  #removeAt = 0;

  constructor(options: DeletionsOptions, view: DeletionView) {
    this.#options = options;
    this.#view = view;
    const { kafka, names, suppressions } = options;
    this.#writer = new ExclusiveWriter({
      kafka,
      id: names.deletions,
      signal: this.#closing.signal,
      partitioned: { events: names.events, audiences: names.audiences },
      refresh: () => Promise.all([view.refresh(), suppressions.refresh()]),
    });
    this.#sending = this.#sendUnfinished();
  }

  get(id: string): DeletionRequest | undefined {
    return this.#view.get(id);
  }

  /** Resolves once everything that the topic contains is known. @throws TailraceError `kafka-unavailable` */
  refresh(): Promise<void> {
    return this.#view.refresh();
  }

  /** Newest first. */
  list(): DeletionRequest[] {
    return this.#view.all();
  }

  /** Those in force that cover the user, newest first. @throws TailraceError `kafka-unavailable` */
  async listOf(userId: string): Promise<DeletionRequest[]> {
    const { config, suppressions } = this.#options;
    await suppressions.refresh();
    const scopes = [allSources, ...config.sources().map(({ id }) => id)];
    const marks = scopes.flatMap((scope) => suppressions.users.deleted(scope, userId)?.requests ?? []);
    const ids = new Set(marks.map(({ id }) => id));
    return this.list().filter(({ id, userIds }) => ids.has(id) || userIds?.includes(userId));
  }

  /**
   * Resolves once the request is in Kafka, with its first records.
   *
   * @throws TailraceError `conflict` where the id belongs to a request with other content; `invalid-request` for an unknown
   *   source; `too-many-suppressions`; `kafka-unavailable`: then the same request may be sent again under the same id
   */
  async create({
    id = randomUUID(),
    userIds,
    sources,
  }: WantedDeletion): Promise<{ readonly request: DeletionRequest; readonly isNew: boolean }> {
    const content = contentOf(userIds, sources);
    await this.#view.refresh();
    const existing = this.#existing(id, content);
    if (existing) return { request: existing, isNew: false };
    return this.write(async (session) => {
      const existing = this.#existing(id, content);
      if (existing) return { request: existing, isNew: false };
      const { config, suppressions, audiences } = this.#options;
      await config.refresh();
      const wanted = { id, content, userIds: [...new Set(userIds)], sources, ends: await this.#ends() };
      const request = newRequest(wanted, config, audiences());
      suppressions.requireCapacity(request.users * (request.scopes?.length ?? 0));
      return { request: await this.#send(session, request), isNew: true };
    });
  }

  /**
   * Lifts the deletion: what the users did before may be sent again. Nothing that has ended is brought back.
   *
   * @throws TailraceError `not-found`; `conflict` while the request is being sent; `kafka-unavailable`: then the same request may
   *   be sent again
   */
  async lift(id: string): Promise<DeletionRequest> {
    return this.write(async ({ publisher }) => {
      const { names, suppressions } = this.#options;
      const request = this.#view.get(id);
      if (!request) throw entryNotFound('deletion request', id);
      if (!isWritten(request)) {
        throw new TailraceError(
          'conflict',
          'The deletion request is still being sent. Lift it once it is sent.',
        );
      }
      if (request.liftedAt !== undefined) return request;
      await liftRequest({ publisher, names, store: suppressions }, id);
      const liftedAt = new Date().toISOString();
      const lifted = { ...request, liftedAt, updatedAt: liftedAt };
      await publisher.publish([{ ...encodeRequest(names.deletions, lifted), partition: 0 }]);
      this.#view.accept(lifted);
      return lifted;
    });
  }

  /**
   * Runs `work` as the only writer of `deletions` and `suppressions`. Repeats it after a failure of Kafka, for as long as a client
   * waits.
   */
  write<T>(work: (session: DeletionSession) => Promise<T>): Promise<T> {
    return this.#writer.runWhileClientWaits(work);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake?.();
    await this.#sending;
    await this.#writer.close();
    await this.#view.close();
  }

  async #ends(): Promise<number[]> {
    const { kafka, names } = this.#options;
    const found = await kafka.ends(names.events);
    return Array.from({ length: found.size }, (_, partition) => found.get(partition) ?? 0);
  }

  /** @throws TailraceError `conflict` */
  #existing(id: string, content: string): DeletionRequest | undefined {
    const request = this.#view.get(id);
    if (!request || request.content === content) return request;
    throw new TailraceError(
      'conflict',
      `The request ${JSON.stringify(id)} exists with other users or sources. Use another requestId.`,
    );
  }

  /** Writes the next portion, and returns the request after it. */
  async #send(
    { publisher, partitioners }: DeletionSession,
    request: DeletionRequest,
  ): Promise<DeletionRequest> {
    const { names, suppressions, portion: maxRecords = 500 } = this.#options;
    // Marks of an earlier request of the same user are kept.
    await suppressions.refresh();
    const { users } = suppressions;
    const { records, next } = portionOf(request, { names, partitioners, users, maxRecords });
    await publisher.publish(records);
    this.#view.accept(next);
    if (isWritten(next)) this.#own.delete(next.id);
    else this.#own.add(next.id);
    this.#wake?.();
    return next;
  }

  /** Once an hour. Another instance may be faster, so a failure is repeated an hour later. */
  async #removeOld(): Promise<void> {
    if (performance.now() < this.#removeAt) return;
    this.#removeAt = performance.now() + removeEveryMs;
    const { names, suppressions: store, log } = this.#options;
    const view = this.#view;
    if (!hasOld({ store, view }, Date.now())) return;
    await this.#writer.run(async ({ publisher }) => {
      const removed = await removeOld({ publisher, names, store, view }, Date.now());
      log.info(removed, 'old deletion requests and marks of deleted users removed');
    });
  }

  /** Sends the rest of unfinished requests, including stalled requests of other instances, until closed. */
  async #sendUnfinished(): Promise<void> {
    const { log } = this.#options;
    while (!this.#closing.signal.aborted) {
      const id = this.#nextUnfinished();
      try {
        if (id === undefined) {
          await this.#removeOld();
          await this.#waitForRequests();
          continue;
        }
        if (!this.#own.has(id)) log.info({ request: id }, 'resuming stalled deletion request');
        await this.#writer.run(async (session) => {
          const request = this.#view.get(id);
          if (request && !isWritten(request)) await this.#send(session, request);
        });
      } catch (error) {
        if (!isTailraceError(error)) throw error;
        // Another instance may have continued the request. If not, it is found again as stalled.
        if (id !== undefined) this.#own.delete(id);
        if (error.code !== 'superseded') log.warn({ err: error, request: id }, 'deletion request delayed');
        await this.#pause(retryPauseMs);
      }
    }
  }

  #nextUnfinished(): string | undefined {
    const { takeOverAfterMs = 5_000 } = this.#options;
    const due = this.#view
      .unfinished()
      .find(({ request, since }) => this.#own.has(request.id) || performance.now() - since > takeOverAfterMs);
    return due?.request.id;
  }

  /** Waits for the next poll, or until a request is written here. */
  async #waitForRequests(): Promise<void> {
    const waiting = new AbortController();
    this.#wake = () => waiting.abort();
    await wait(pollMs, undefined, { signal: waiting.signal, ref: false }).catch(() => undefined);
    this.#wake = undefined;
  }

  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }
}
