/**
 * An idempotent producer with acks=all that batches by back-pressure (sender.ts). A partition that fails delays its own
 * records only. Partitions with the same leader share a sender; a partition that fails moves to a sender of its own until it
 * has recovered.
 */
import { TailraceError, isTailraceError } from '@tailrace/errors';
import type { Producer } from 'kafkajs';
import type { KafkaLog } from '../log.ts';
import { headersLength, type OutgoingRecord } from '../record.ts';
import type { Refusals } from '../refusals.ts';
import { topicMissing } from './answer.ts';
import { RecordSender, type SenderDependencies } from './sender.ts';
import type { TopicLayout, TopicLayouts } from './layouts.ts';
import { partitionOfKey } from './murmur2.ts';
import {
  isOpen,
  type FailedPartitions,
  type Pending,
  type Sender,
  type SendersPartitions,
  type Target,
} from './pending.ts';

export interface PublisherOptions {
  /** How long a record may wait for others where that pays. 0 (the default) sends at the end of the turn of the event loop. */
  readonly lingerMs?: number;
  /**
   * Smaller requests are not compressed (default: 64 KB). Compressing costs 50 µs for each partition, regardless of its size, on both sides.
   */
  readonly compressFromBytes?: number;
  /**
   * A record that is not acknowledged in this time is rejected with `kafka-unavailable`. It may have been written. By
   * default it is retried forever.
   */
  readonly giveUpAfterMs?: number;
  /** While this number of bytes is pending, publish() rejects with `overloaded`. Default: no limit. */
  readonly maxBufferedBytes?: number;
}

export interface Publisher {
  /**
   * Resolves once all in-sync replicas have the record.
   *
   * @throws TailraceError `overloaded`, `record-too-large`, `shutting-down`; with `giveUpAfterMs` also `kafka-unavailable`,
   *   `topic-missing` and `partition-missing`, which are retried without it
   */
  publish(record: OutgoingRecord): Promise<void>;
  /** The bytes of records that are not acknowledged yet. */
  readonly bufferedBytes: number;
  /** Resolves once `bufferedBytes` is below `bytes`, at the latest after `timeoutMs`. */
  untilBelow(bytes: number, timeoutMs: number): Promise<void>;
  /** Drains for at most `timeoutMs` (default 10 s), then rejects the remaining records with `shutting-down`. */
  close(options?: { timeoutMs?: number }): Promise<void>;
}

export interface PublisherDependencies {
  readonly createProducer: () => Producer;
  readonly layouts: TopicLayouts;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  /** Refusals of records for their time. */
  readonly clock: Refusals;
}

const recordOverheadBytes = 64;
const compressFromBytes = 64 * 1024;
/** Records without a key in a row that go to one partition while it has pending ones: a large batch compresses better. */
const withoutKeyTogether = 100;
const layoutPauseMs = { first: 100, most: 2_000 };

export class BatchingPublisher implements Publisher {
  readonly #deps: PublisherDependencies;
  readonly #options: Required<PublisherOptions>;
  /** By leader. */
  readonly #senders = new Map<number, Sender>();
  /** The senders of partitions that failed. */
  readonly #isolatedSenders = new Set<Sender>();
  readonly #targets = new Map<string, Target[]>();
  /** By topic, the records that wait for the topic's layout. */
  readonly #waiting = new Map<string, Pending[]>();
  readonly #disconnecting = new Set<Promise<void>>();
  /** The turn of partitions for records without a key. It begins anywhere, so that not all processes choose the same partition. */
  #turn = Math.floor(Math.random() * 2 ** 16);
  #recordsWithoutKey = 0;
  #bufferedBytes = 0;
  #bufferedRecords = 0;
  #closing = false;
  #sweeper: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;
  readonly #waitingForRoom = new Set<{ readonly bytes: number; readonly end: () => void }>();

  constructor(dependencies: PublisherDependencies, options: PublisherOptions = {}) {
    this.#deps = dependencies;
    this.#options = {
      lingerMs: 0,
      compressFromBytes,
      giveUpAfterMs: Infinity,
      maxBufferedBytes: Infinity,
      ...options,
    };
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** The records that are not acknowledged yet. */
  get bufferedRecords(): number {
    return this.#bufferedRecords;
  }

  publish(record: OutgoingRecord): Promise<void> {
    if (this.#closing) return Promise.reject(new TailraceError('shutting-down'));
    if (this.#bufferedBytes >= this.#options.maxBufferedBytes) {
      return Promise.reject(new TailraceError('overloaded'));
    }
    return new Promise((resolve, reject) => {
      const bytes = sizeOf(record);
      this.#bufferedBytes += bytes;
      this.#bufferedRecords += 1;
      const pending: Pending = {
        record,
        bytes,
        since: performance.now(),
        resolve,
        reject,
        settled: false,
        target: undefined,
      };
      const layout = this.#deps.layouts.known(record.topic);
      if (!layout || !this.#enqueue(pending, layout)) this.#waitForLayout(pending);
      if (Number.isFinite(this.#options.giveUpAfterMs)) this.#rejectOverdueWhileBusy();
    });
  }

  async untilBelow(bytes: number, timeoutMs: number): Promise<void> {
    if (this.#bufferedBytes < bytes) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waitingForRoom.delete(waiting);
        resolve();
      };
      const waiting = { bytes, end };
      const timer = setTimeout(end, timeoutMs);
      this.#waitingForRoom.add(waiting);
    });
  }

  async close({ timeoutMs = 10_000 } = {}): Promise<void> {
    this.#closing = true;
    if (!this.#idle) {
      const timer = setTimeout(
        () => this.#rejectWhere(() => true, new TailraceError('shutting-down')),
        timeoutMs,
      );
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      clearTimeout(timer);
    }
    clearInterval(this.#sweeper);
    for (const sender of this.#allSenders()) sender.close();
    await Promise.all(this.#disconnecting);
  }

  get #idle(): boolean {
    return this.#bufferedBytes === 0;
  }

  #allSenders(): Sender[] {
    return [...this.#senders.values(), ...this.#isolatedSenders];
  }

  /** Returns false if the topic does not have the partition. */
  #enqueue(pending: Pending, { leaders }: TopicLayout): boolean {
    const { topic, key, partition: named } = pending.record;
    if (leaders.length === 0 || (named !== undefined && !(named in leaders))) return false;
    const partition =
      named ??
      (key === null ? this.#partitionWithoutKey(topic, leaders.length) : partitionOfKey(key, leaders.length));
    const target = this.#targetOf(topic, partition);
    // A partition stays in its sender until all its records are written, which keeps them in order.
    target.leader = leaders[partition] ?? -1;
    target.sender ??= this.#senderOf(target.leader);
    target.pending += 1;
    pending.target = target;
    target.sender.add(pending);
    return true;
  }

  #partitionWithoutKey(topic: string, partitions: number): number {
    const pending = this.#targets.get(topic)?.[this.#turn % partitions]?.pending ?? 0;
    this.#recordsWithoutKey += 1;
    if (pending === 0 || this.#recordsWithoutKey % withoutKeyTogether === 0) this.#turn += 1;
    return this.#turn % partitions;
  }

  #targetOf(topic: string, partition: number): Target {
    let targets = this.#targets.get(topic);
    if (!targets) this.#targets.set(topic, (targets = []));
    return (targets[partition] ??= { topic, partition, leader: -1, pending: 0, sender: undefined });
  }

  #senderOf(leader: number): Sender {
    let sender = this.#senders.get(leader);
    if (!sender) this.#senders.set(leader, (sender = this.#openSender({ leader }, this.#options.lingerMs)));
    return sender;
  }

  #openSender(of: SendersPartitions, lingerMs: number): Sender {
    const { createProducer, classify, log, layouts, clock } = this.#deps;
    const dependencies: SenderDependencies = {
      createProducer,
      classify,
      log,
      layouts,
      clock,
      settings: {
        lingerMs,
        compressFromBytes: this.#options.compressFromBytes,
        rejectsMissing: Number.isFinite(this.#options.giveUpAfterMs),
      },
      owner: {
        settle: (pending, error) => this.#settle(pending, error),
        isolate: (failed) => this.#isolate(failed),
        moveToLeaders: (pending) => {
          this.#moveToLeaders(pending);
          this.#closeIfDone(sender);
        },
        discard: (producer) => {
          if (producer) this.#discard(producer);
        },
      },
    };
    const sender = new RecordSender(dependencies, of);
    return sender;
  }

  #isolate(failed: FailedPartitions): void {
    const sender = this.#openSender(failed, 0);
    this.#isolatedSenders.add(sender);
    for (const { target } of sender.pending.filter(isOpen)) if (target) target.sender = sender;
  }

  #moveToLeaders(moved: readonly Pending[]): void {
    const open = moved.filter(isOpen);
    for (const target of new Set(open.map((pending) => pending.target))) {
      if (!target) continue;
      // It may be out of date: it was set when the last record was added.
      target.leader = this.#deps.layouts.known(target.topic)?.leaders[target.partition] ?? target.leader;
      target.sender = this.#senderOf(target.leader);
    }
    for (const pending of open) pending.target?.sender?.add(pending);
  }

  #discard(producer: Promise<Producer>): void {
    const disconnecting = producer
      .then((connected) => connected.disconnect())
      .catch(() => undefined)
      .finally(() => this.#disconnecting.delete(disconnecting));
    this.#disconnecting.add(disconnecting);
  }

  #waitForLayout(pending: Pending): void {
    const { topic } = pending.record;
    const waiting = this.#waiting.get(topic);
    if (waiting) {
      waiting.push(pending);
      return;
    }
    this.#waiting.set(topic, [pending]);
    void this.#lookUpLayout(topic);
  }

  /** Looks up the layout of a topic until no record waits for it. Records of other topics do not wait. */
  async #lookUpLayout(topic: string): Promise<void> {
    const { layouts, log } = this.#deps;
    let pauseMs = layoutPauseMs.first;
    for (;;) {
      let failure: unknown;
      const layout = await layouts.renew(topic).catch((error: unknown) => {
        failure = error;
        return undefined;
      });
      const waiting = (this.#waiting.get(topic) ?? []).filter(isOpen);
      const left = layout ? waiting.filter((pending) => !this.#enqueue(pending, layout)) : waiting;
      if (left.length === 0) {
        this.#waiting.delete(topic);
        return;
      }
      this.#waiting.set(topic, left);
      if (layout) failure = partitionMissing(topic, layout.leaders.length);
      if (!isTailraceError(failure) || this.#isFinal(failure)) {
        this.#waiting.delete(topic);
        for (const pending of left) this.#settle(pending, namingTopic(failure, topic));
        return;
      }
      log.warn(
        { err: failure, records: left.length, topic, pauseMs },
        'topic or partition unavailable, retrying',
      );
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseMs = Math.min(pauseMs * 2, layoutPauseMs.most);
    }
  }

  /** With a time limit, a missing topic or partition is not waited for. */
  #isFinal({ code }: TailraceError): boolean {
    const isMissing = code === 'topic-missing' || code === 'partition-missing';
    return isMissing && Number.isFinite(this.#options.giveUpAfterMs);
  }

  #settle(pending: Pending, error?: unknown): void {
    if (pending.settled) return;
    pending.settled = true;
    this.#bufferedBytes -= pending.bytes;
    this.#bufferedRecords -= 1;
    if (pending.target) this.#leave(pending.target);
    if (error === undefined) pending.resolve();
    else pending.reject(error);
    if (this.#waitingForRoom.size > 0) this.#giveRoom();
    if (this.#idle) this.#onIdle?.();
  }

  #giveRoom(): void {
    for (const waiting of this.#waitingForRoom) {
      if (this.#bufferedBytes < waiting.bytes) waiting.end();
    }
  }

  /** Once a partition has no pending records, its next record chooses the sender again. */
  #leave(target: Target): void {
    target.pending -= 1;
    if (target.pending > 0 || !target.sender) return;
    const { sender } = target;
    target.sender = undefined;
    this.#closeIfDone(sender);
  }

  #closeIfDone(sender: Sender): void {
    if (!this.#isolatedSenders.has(sender) || sender.pending.some(isOpen)) return;
    this.#isolatedSenders.delete(sender);
    sender.close();
  }

  /** Rejects records that have waited too long, also in flight: the caller must not wait for a broker that hangs. */
  #rejectOverdueWhileBusy(): void {
    this.#sweeper ??= setInterval(() => {
      const overdue = performance.now() - this.#options.giveUpAfterMs;
      this.#rejectWhere(({ since }) => since <= overdue, new TailraceError('kafka-unavailable'));
      if (!this.#idle) return;
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }, 250).unref();
  }

  #rejectWhere(applies: (pending: Pending) => boolean, error: TailraceError): void {
    const settleMatching = (pending: readonly Pending[]): void => {
      for (const one of pending) if (applies(one)) this.#settle(one, error);
    };
    for (const waiting of this.#waiting.values()) settleMatching(waiting);
    for (const sender of this.#allSenders()) {
      settleMatching(sender.pending);
      sender.removeSettled();
    }
  }
}

function sizeOf({ key, value, headers }: OutgoingRecord): number {
  return recordOverheadBytes + (key?.length ?? 0) + (value?.length ?? 0) + headersLength(headers);
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
