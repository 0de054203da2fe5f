/**
 * Deletion requests: every enabled destination of every affected source receives one `delete` event for each user.
 *
 * A portion of a request is one Kafka transaction: its `delete` events in `events`, and its progress in `deletions`. A crash
 * cannot separate the two. One instance writes at a time (exclusive-writer.ts). The instance that received a request sends it;
 * another instance continues it once it has stalled for some seconds.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ConfigView } from '@tailrace/config';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { ExclusiveRecord, Kafka, KafkaLog } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';
import { ExclusiveWriter, type WriterSession } from './exclusive-writer.ts';
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
  /** A request without progress for this long is continued by another instance. Default 5 s. */
  readonly takeOverAfterMs?: number;
  /** Maximum of events in one transaction. Default 500. */
  readonly portion?: number;
}

export interface WantedDeletion {
  /** Generated where absent. */
  readonly id?: string | undefined;
  readonly userIds: readonly string[];
  /** All sources where absent. */
  readonly sources?: readonly string[] | undefined;
}

export interface Deletions {
  /**
   * Resolves once the request is in Kafka, with its first events.
   *
   * @throws TailraceError `conflict` where the id belongs to a request with other content; `invalid-request` for an unknown
   *   source; `kafka-unavailable`: then the same request may be sent again under the same id
   */
  create(wanted: WantedDeletion): Promise<{ readonly request: DeletionRequest; readonly isNew: boolean }>;
  get(id: string): DeletionRequest | undefined;
  /** Newest first. */
  list(): DeletionRequest[];
  close(): Promise<void>;
}

const maxPortionBytes = 512 * 1024;
/** How long a creation is retried: the client waits for it. */
const createTimeoutMs = 25_000;
const retryPauseMs = 300;
const pollMs = 1_000;

export async function openDeletions(options: DeletionsOptions): Promise<Deletions> {
  const view = await openDeletionView(options.kafka, options.names.deletions);
  return new DeletionManager(options, view);
}

class DeletionManager implements Deletions {
  readonly #options: DeletionsOptions;
  readonly #view: DeletionView;
  readonly #writer: ExclusiveWriter;
  readonly #closing = new AbortController();
  /** Ids of unfinished requests that this instance sends. */
  readonly #own = new Set<string>();
  readonly #sending: Promise<void>;
  #wake: (() => void) | undefined;

  constructor(options: DeletionsOptions, view: DeletionView) {
    this.#options = options;
    this.#view = view;
    this.#writer = new ExclusiveWriter(options.kafka, options.names, view, this.#closing.signal);
    this.#sending = this.#sendUnfinished();
  }

  get(id: string): DeletionRequest | undefined {
    return this.#view.get(id);
  }

  list(): DeletionRequest[] {
    return this.#view.all();
  }

  async create({ id = randomUUID(), userIds, sources }: WantedDeletion): ReturnType<Deletions['create']> {
    const content = contentOf(userIds, sources);
    const startedAt = performance.now();
    for (;;) {
      try {
        await this.#view.refresh();
        const existing = this.#existing(id, content);
        if (existing) return { request: existing, isNew: false };
        return await this.#writer.run(async (session) => {
          const existing = this.#existing(id, content);
          if (existing) return { request: existing, isNew: false };
          const request = await this.#newRequest(id, content, [...new Set(userIds)], sources);
          return { request: await this.#send(session, request), isNew: true };
        });
      } catch (error) {
        const mayRetry = isTailraceError(error, 'superseded') || isTailraceError(error, 'kafka-unavailable');
        if (!mayRetry || this.#closing.signal.aborted) throw error;
        if (performance.now() - startedAt > createTimeoutMs) {
          throw new TailraceError('kafka-unavailable', undefined, { cause: error });
        }
        if (error.code !== 'superseded') await this.#pause(retryPauseMs);
      }
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake?.();
    await this.#sending;
    await this.#writer.close();
    await this.#view.close();
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

  /** @throws TailraceError `invalid-request` for an unknown source */
  async #newRequest(
    id: string,
    content: string,
    userIds: readonly string[],
    wanted: readonly string[] | undefined,
  ): Promise<DeletionRequest> {
    const { config } = this.#options;
    await config.refresh();
    const missing = (wanted ?? []).filter((sourceId) => !config.source(sourceId));
    if (missing.length > 0) {
      const rule = `has unknown sources: ${missing.join(', ')}`;
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

  /** Writes the next portion, and returns the request after it. */
  async #send({ publisher, partitioner }: WriterSession, request: DeletionRequest): Promise<DeletionRequest> {
    const { names, portion = 500 } = this.#options;
    const total = totalOf(request);
    const records: ExclusiveRecord[] = [];
    let bytes = 0;
    let { sent } = request;
    for (; sent < total && records.length < portion && bytes < maxPortionBytes; sent += 1) {
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

  /** Sends the rest of unfinished requests, including stalled requests of other instances, until closed. */
  async #sendUnfinished(): Promise<void> {
    const { log } = this.#options;
    while (!this.#closing.signal.aborted) {
      const id = this.#nextUnfinished();
      if (id === undefined) {
        await this.#waitForRequests();
        continue;
      }
      try {
        if (!this.#own.has(id)) log.info({ request: id }, 'resuming stalled deletion request');
        await this.#writer.run(async (session) => {
          const request = this.#view.get(id);
          if (request && request.sent < totalOf(request)) await this.#send(session, request);
        });
      } catch (error) {
        if (!isTailraceError(error)) throw error;
        // Another instance may have continued the request. If not, it is found again as stalled.
        this.#own.delete(id);
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
    this.#wake = () => {
      waiting.abort();
    };
    await wait(pollMs, undefined, { signal: waiting.signal, ref: false }).catch(() => undefined);
    this.#wake = undefined;
  }

  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }
}
