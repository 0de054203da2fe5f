/**
 * An idempotent, acks=all producer that batches by natural back-pressure (lane.ts), and in which a partition that
 * fails holds up nothing but itself. Records for partitions that one broker leads share a lane; where a partition
 * fails, it goes to a lane of its own until all its records are written.
 */
import { TailraceError, isTailraceError } from '@tailrace/errors';
import type { Producer } from 'kafkajs';
import type { KafkaLog } from '../log.ts';
import { headerEntries, type OutgoingRecord } from '../record.ts';
import {
  PublishLane,
  topicMissing,
  type Failed,
  type LaneDependencies,
  type Pending,
  type Place,
} from './lane.ts';
import type { TopicLayout, TopicLayouts } from './layouts.ts';
import { partitionOfKey } from './murmur2.ts';

export interface PublisherOptions {
  /** How long a record may wait for company; 0 (the default) sends at the end of the current event loop turn. */
  readonly lingerMs?: number;
  /**
   * A record that is not acknowledged in this time is rejected with `kafka-unavailable`; it may still have been
   * written. By default it is tried for ever.
   */
  readonly giveUpAfterMs?: number;
  /** Beyond this many bytes waiting, publish() rejects with `overloaded`; by default only the caller bounds it. */
  readonly maxBufferedBytes?: number;
}

export interface Publisher {
  /**
   * Resolves once all in-sync replicas have the record.
   *
   * @throws TailraceError `overloaded`, `record-too-large`, `shutting-down`; with `giveUpAfterMs` also
   *   `kafka-unavailable`, `topic-missing` and `partition-missing`, without it these are waited out
   */
  publish(record: OutgoingRecord): Promise<void>;
  /** Bytes of records not yet acknowledged. */
  readonly bufferedBytes: number;
  /** Drains, for at most `timeoutMs` (default 10 s); what is left is rejected with `shutting-down`. */
  close(options?: { timeoutMs?: number }): Promise<void>;
}

export interface PublisherDependencies {
  readonly createProducer: () => Producer;
  readonly layouts: TopicLayouts;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
}

const recordOverheadBytes = 64;
const locatePauseMs = { first: 100, most: 2_000 };

export class BatchingPublisher implements Publisher {
  readonly #deps: PublisherDependencies;
  readonly #options: Required<PublisherOptions>;
  /** By the broker that leads. */
  readonly #lanes = new Map<number, PublishLane>();
  /** Those of partitions that failed. */
  readonly #lanesApart = new Set<PublishLane>();
  readonly #places = new Map<string, Place[]>();
  /** By topic, what waits until it is known where it goes. */
  readonly #unplaced = new Map<string, Pending[]>();
  #withoutKey = 0;
  #bufferedBytes = 0;
  #closing = false;
  #sweeper: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;

  constructor(dependencies: PublisherDependencies, options: PublisherOptions = {}) {
    this.#deps = dependencies;
    this.#options = { lingerMs: 0, giveUpAfterMs: Infinity, maxBufferedBytes: Infinity, ...options };
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  publish(record: OutgoingRecord): Promise<void> {
    if (this.#closing) return Promise.reject(new TailraceError('shutting-down'));
    if (this.#bufferedBytes >= this.#options.maxBufferedBytes) {
      return Promise.reject(new TailraceError('overloaded'));
    }
    return new Promise((resolve, reject) => {
      const bytes = sizeOf(record);
      this.#bufferedBytes += bytes;
      const pending: Pending = {
        ...{ record, bytes, since: performance.now(), resolve, reject },
        ...{ settled: false, place: undefined },
      };
      const layout = this.#deps.layouts.known(record.topic);
      if (!layout || !this.#enqueue(pending, layout)) this.#locateLater(pending);
      if (Number.isFinite(this.#options.giveUpAfterMs)) this.#sweepWhileBusy();
    });
  }

  async close({ timeoutMs = 10_000 } = {}): Promise<void> {
    this.#closing = true;
    if (!this.#idle) {
      const timer = setTimeout(() => {
        this.#rejectWhere(() => true, new TailraceError('shutting-down'));
      }, timeoutMs);
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      clearTimeout(timer);
    }
    clearInterval(this.#sweeper);
    await Promise.all(this.#allLanes().map((lane) => lane.close()));
  }

  get #idle(): boolean {
    return this.#bufferedBytes === 0;
  }

  #allLanes(): PublishLane[] {
    return [...this.#lanes.values(), ...this.#lanesApart];
  }

  /** False where the topic has no such partition. */
  #enqueue(pending: Pending, { leaders }: TopicLayout): boolean {
    const { topic, key, partition: named } = pending.record;
    if (leaders.length === 0 || (named !== undefined && !(named in leaders))) return false;
    const partition =
      named ?? (key === null ? this.#withoutKey++ % leaders.length : partitionOfKey(key, leaders.length));
    const place = this.#placeOf(topic, partition);
    // A lane keeps a partition until all its records are written, which keeps them in order.
    place.leader = leaders[partition] ?? -1;
    place.lane ??= this.#laneOf(place.leader);
    place.pending += 1;
    pending.place = place;
    place.lane.add(pending);
    return true;
  }

  #placeOf(topic: string, partition: number): Place {
    let places = this.#places.get(topic);
    if (!places) this.#places.set(topic, (places = []));
    return (places[partition] ??= { topic, partition, leader: -1, pending: 0, lane: undefined });
  }

  #laneOf(leader: number): PublishLane {
    let lane = this.#lanes.get(leader);
    if (!lane) this.#lanes.set(leader, (lane = this.#openLane(this.#options.lingerMs)));
    return lane;
  }

  #openLane(lingerMs: number, failed?: Failed): PublishLane {
    const { createProducer, classify, log, layouts } = this.#deps;
    const dependencies: LaneDependencies = {
      ...{ createProducer, classify, log, layouts, lingerMs },
      rejectsMissing: Number.isFinite(this.#options.giveUpAfterMs),
      settle: (pending, error) => {
        this.#settle(pending, error);
      },
      isolate: (failed) => {
        this.#isolate(failed);
      },
    };
    return new PublishLane(dependencies, failed);
  }

  #isolate(failed: Failed): void {
    const lane = this.#openLane(0, failed);
    this.#lanesApart.add(lane);
    for (const { place } of lane.pending) if (place) place.lane = lane;
  }

  #locateLater(pending: Pending): void {
    const { topic } = pending.record;
    const waiting = this.#unplaced.get(topic);
    if (waiting) {
      waiting.push(pending);
      return;
    }
    this.#unplaced.set(topic, [pending]);
    void this.#locate(topic);
  }

  /** Finds out where the records of a topic go, for as long as some wait for that; records of other topics do not. */
  async #locate(topic: string): Promise<void> {
    const { layouts, log } = this.#deps;
    let pauseMs = locatePauseMs.first;
    for (;;) {
      let failure: unknown;
      const layout = await layouts.renew(topic).catch((error: unknown) => {
        failure = error;
        return undefined;
      });
      const waiting = (this.#unplaced.get(topic) ?? []).filter(({ settled }) => !settled);
      const left = layout ? waiting.filter((pending) => !this.#enqueue(pending, layout)) : waiting;
      if (left.length === 0) {
        this.#unplaced.delete(topic);
        return;
      }
      this.#unplaced.set(topic, left);
      if (layout) failure = partitionMissing(topic, layout.leaders.length);
      if (!isTailraceError(failure) || this.#isFinal(failure)) {
        this.#unplaced.delete(topic);
        for (const pending of left) this.#settle(pending, namingTopic(failure, topic));
        return;
      }
      log.warn(
        { err: failure, records: left.length, topic, pauseMs },
        'cannot write to the topic yet; retrying',
      );
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseMs = Math.min(pauseMs * 2, locatePauseMs.most);
    }
  }

  /** What is not waited for where a caller waits. */
  #isFinal({ code }: TailraceError): boolean {
    const isMissing = code === 'topic-missing' || code === 'partition-missing';
    return isMissing && Number.isFinite(this.#options.giveUpAfterMs);
  }

  #settle(pending: Pending, error?: unknown): void {
    if (pending.settled) return;
    pending.settled = true;
    this.#bufferedBytes -= pending.bytes;
    if (pending.place) this.#leave(pending.place);
    if (error === undefined) pending.resolve();
    else pending.reject(error);
    if (this.#idle) this.#onIdle?.();
  }

  /** The next record of a partition of which none waits chooses its lane again. */
  #leave(place: Place): void {
    place.pending -= 1;
    if (place.pending > 0 || !place.lane) return;
    const { lane } = place;
    place.lane = undefined;
    if (!this.#lanesApart.has(lane) || lane.pending.some(({ settled }) => !settled)) return;
    this.#lanesApart.delete(lane);
    void lane.close();
  }

  /** Rejects what has waited too long, also what is in flight: the caller must not wait for a broker that hangs. */
  #sweepWhileBusy(): void {
    this.#sweeper ??= setInterval(() => {
      const overdue = performance.now() - this.#options.giveUpAfterMs;
      this.#rejectWhere(({ since }) => since <= overdue, new TailraceError('kafka-unavailable'));
      if (!this.#idle) return;
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }, 250).unref();
  }

  #rejectWhere(applies: (pending: Pending) => boolean, error: TailraceError): void {
    const settleThose = (pending: readonly Pending[]): void => {
      for (const one of pending) if (applies(one)) this.#settle(one, error);
    };
    for (const waiting of this.#unplaced.values()) settleThose(waiting);
    for (const lane of this.#allLanes()) {
      settleThose(lane.pending);
      lane.forgetSettled();
    }
  }
}

function sizeOf({ key, value, headers }: OutgoingRecord): number {
  let bytes = recordOverheadBytes + (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, header] of headerEntries(headers)) bytes += name.length + (header?.length ?? 0);
  return bytes;
}

function partitionMissing(topic: string, partitions: number): TailraceError {
  return new TailraceError(
    'partition-missing',
    `A record is for a partition that ${topic} does not have: it has ${partitions}. ` +
      'Run `npx tailrace doctor`, which names the topics whose partition counts differ.',
  );
}

function namingTopic(failure: unknown, topic: string): unknown {
  return isTailraceError(failure, 'topic-missing') ? topicMissing(topic, failure) : failure;
}
