/** The state of the in-memory cluster, and the faults that a test can cause. */
import { randomUUID } from 'node:crypto';
import { limitMs, realTimers } from '@tailrace/testing';
import type { ConsumedRecord } from '../record.ts';
import { ConsumerGroup } from './consumer-group.ts';
import { connectionError, protocolError } from './errors.ts';
import { PartitionLog } from './partition-log.ts';

export interface MemoryTopic {
  readonly partitions: PartitionLog[];
  readonly config: Readonly<Record<string, string>>;
}

/** Requests of the administration that a test can refuse. */
export type RefusableRequest = 'createTopics' | 'readEnds';

export class MemoryBroker {
  readonly id = randomUUID();
  readonly topics = new Map<string, MemoryTopic>();
  /** By transactional id, how many producers have opened it. Only the latest may write. */
  readonly producerEpochs = new Map<string, number>();
  /**
   * How many answers to produce requests to lose from now on. The records are written. The client library repeats a
   * request up to five times, which the broker recognises.
   */
  loseProduceAnswers = 0;
  /** The same for requests that commit a transaction; these are not repeated. */
  loseCommitAnswers = 0;
  /** Whether produce requests are refused for the time of their records. */
  refusesClock = false;
  /** The types of errors with which the next requests are refused, one each. */
  readonly refusals: Readonly<Record<RefusableRequest, string[]>> = { createTopics: [], readEnds: [] };
  /** Topics whose partitions have no leader. */
  readonly leaderless = new Set<string>();
  /** By topic, how many of its partitions metadata show. A broker learns late of those that were added. */
  readonly knownPartitions = new Map<string, number>();
  /** How long the broker takes for a commit of offsets. */
  offsetCommitMs = 0;
  readonly #groups = new Map<string, ConsumerGroup>();
  readonly #listeners = new Set<() => void>();
  #isStopped = false;
  #acknowledgements: PromiseWithResolvers<void> | undefined;
  #writes: (PromiseWithResolvers<void> & { readonly topic: string }) | undefined;
  #offsetCommits: PromiseWithResolvers<void> | undefined;

  /** Returns false if it exists. */
  createTopic(
    name: string,
    { partitions = 1, config = {} }: { partitions?: number; config?: Record<string, string> } = {},
  ): boolean {
    if (this.topics.has(name)) return false;
    const logs = Array.from({ length: partitions }, (_, partition) => new PartitionLog(name, partition));
    this.topics.set(name, { partitions: logs, config });
    return true;
  }

  /** Adds partitions up to `count`. Groups that read the topic rebalance immediately. */
  async addPartitions(name: string, count: number): Promise<void> {
    const { partitions } = this.topic(name);
    while (partitions.length < count) partitions.push(new PartitionLog(name, partitions.length));
    const readers = [...this.#groups.values()].filter((group) => group.reads(name));
    await Promise.all(readers.map((group) => group.rebalance()));
  }

  /** The visible records of a topic, partition after partition. */
  records(topic: string): ConsumedRecord[] {
    return this.topic(topic).partitions.flatMap(({ records }) => records);
  }

  /** The committed offset of each partition; -1 where there is none. */
  committed(groupId: string, topic: string): Promise<number[]> {
    const { offsets } = this.group(groupId);
    return Promise.resolve(
      this.topic(topic).partitions.map(({ partition }) => offsets.get(`${topic}/${partition}`)?.offset ?? -1),
    );
  }

  commit(groupId: string, topic: string, partition: number, offset: number): Promise<void> {
    this.group(groupId).offsets.set(`${topic}/${partition}`, { offset, metadata: '' });
    return Promise.resolve();
  }

  /** The groups that have members. */
  get activeGroups(): string[] {
    return [...this.#groups].flatMap(([id, { memberIds }]) => (memberIds.length > 0 ? [id] : []));
  }

  memberIds(groupId: string): Promise<string[]> {
    return Promise.resolve(this.group(groupId).memberIds);
  }

  /** Removes all members from a group, as after missed heartbeats. They are not told. */
  removeMembers(groupId: string): void {
    this.group(groupId).removeAll();
  }

  /** Removes the records below `offset`, as retention does. */
  expire(topic: string, partition: number, offset: number): Promise<void> {
    this.partition(topic, partition)?.expire(offset);
    return Promise.resolve();
  }

  /** Writes a record with this timestamp to partition 0. */
  writeAt(topic: string, timestamp: number): Promise<void> {
    this.partition(topic, 0)?.append({ key: null, value: null }, timestamp);
    this.notify();
    return Promise.resolve();
  }

  /** Writes records to partition 0 in a transaction that is then aborted: they take offsets, and are not consumed. */
  writeAborted(topic: string, values: readonly string[]): Promise<void> {
    this.partition(topic, 0)?.appendInvisible(values.length + 1);
    this.notify();
    return Promise.resolve();
  }

  /** Writes a batch of one record to partition 0 that cannot be decoded. */
  writeUnreadable(topic: string): Promise<void> {
    this.partition(topic, 0)?.appendUnreadable();
    this.notify();
    return Promise.resolve();
  }

  /** Acknowledges no produce request until `resumeAcknowledgements()`. Records are written nevertheless. */
  pauseAcknowledgements(): void {
    this.#acknowledgements ??= Promise.withResolvers();
  }

  resumeAcknowledgements(): void {
    this.#acknowledgements?.resolve();
    this.#acknowledgements = undefined;
  }

  /** Resolves when produce requests are acknowledged. */
  get acknowledging(): Promise<void> | undefined {
    return this.#acknowledgements?.promise;
  }

  /** Writes nothing to a topic, and does not answer requests to write to it, until `resumeWrites()`. */
  pauseWrites(topic: string): void {
    this.#writes ??= { topic, ...Promise.withResolvers() };
  }

  resumeWrites(): void {
    this.#writes?.resolve();
    this.#writes = undefined;
  }

  /** Resolves when a request with these topics may be written. */
  writing(topics: readonly string[]): Promise<void> | undefined {
    return this.#writes && topics.includes(this.#writes.topic) ? this.#writes.promise : undefined;
  }

  /** Executes no commit of offsets until `resumeOffsetCommits()`. */
  pauseOffsetCommits(): void {
    this.#offsetCommits ??= Promise.withResolvers();
  }

  resumeOffsetCommits(): void {
    this.#offsetCommits?.resolve();
    this.#offsetCommits = undefined;
  }

  /** Resolves when commits of offsets are executed. */
  get committingOffsets(): Promise<void> | undefined {
    return this.#offsetCommits?.promise;
  }

  /** Begins an outage: requests fail and fetches bring nothing until `start()`. */
  stop(): void {
    this.#isStopped = true;
  }

  start(): void {
    this.#isStopped = false;
    this.notify();
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** @throws Error as the client library throws it while no broker can be reached */
  checkReachable(): void {
    if (this.#isStopped) throw connectionError();
  }

  /** @throws Error `UNKNOWN_TOPIC_OR_PARTITION` as the client library throws it */
  topic(name: string): MemoryTopic {
    const topic = this.topics.get(name);
    if (!topic) throw protocolError('UNKNOWN_TOPIC_OR_PARTITION');
    return topic;
  }

  partition(topic: string, partition: number): PartitionLog | undefined {
    return this.topics.get(topic)?.partitions[partition];
  }

  group(groupId: string): ConsumerGroup {
    let group = this.#groups.get(groupId);
    if (!group)
      this.#groups.set(
        groupId,
        (group = new ConsumerGroup({
          checkReachable: () => {
            this.checkReachable();
          },
          onCommit: () => {
            this.notify();
          },
        })),
      );
    return group;
  }

  /** Reports a change: ends the waiting of all fetches and of `until`. */
  notify(): void {
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves when `holds` returns true. It is called now, and after each change in the cluster: a write, a commit of
   * offsets, the end of an outage. Rejects after the limit of all tests.
   */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const end = (): void => {
        realTimers.clearTimeout(timer);
        unsubscribe();
      };
      const unsubscribe = this.onChange(() => {
        if (!holds()) return;
        end();
        resolve();
      });
      const timer = realTimers.setTimeout(() => {
        end();
        reject(new Error(`not within ${limitMs} ms: ${String(holds)}`));
      }, limitMs);
    });
  }
}
