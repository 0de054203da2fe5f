/** The client library's consumer on the in-memory cluster: a member of a group, and its fetches. */
/* oxlint-disable no-restricted-globals, no-restricted-properties --
   A fetch waits for records as one of Kafka does, on the clock of the process, which a test may simulate. */
import { EventEmitter } from 'node:events';
import type { Assigner, Cluster, ConsumerRunConfig, EachBatchPayload } from 'kafkajs';
import { storedBytes } from './partition-log.ts';
import type { ConsumerOptions } from '../clients.ts';
import kafkajs from '../library.ts';
import type { MemberConsumer } from '../patches/reading/membership.ts';
import { FetchedBatch } from '../wire/fetched-batch.ts';
import type { MemoryBroker } from './broker.ts';
import type { GroupMember } from './consumer-group.ts';

const { events } = new kafkajs.Kafka({ brokers: ['memory:9092'] }).consumer({ groupId: 'events' });
const nodeId = '1';
/** How long a fetch waits for records. A change in the cluster ends it earlier. */
const maxWaitMs = 5_000;
let members = 0;

interface Assigned {
  readonly topic: string;
  readonly partition: number;
  /** The offset to fetch from next. */
  position: number;
}

export class MemoryConsumer implements GroupMember {
  readonly assigners: readonly Assigner[];
  topics: string[] = [];
  memberId = '';
  idle: Promise<unknown> = Promise.resolve();
  readonly #cluster: MemoryBroker;
  readonly #config: ConsumerOptions;
  readonly #emitter = new EventEmitter();
  readonly #assigned = new Map<string, Assigned>();
  readonly #paused = new Set<string>();
  #eachBatch: ConsumerRunConfig['eachBatch'];
  #isRunning = false;
  #isInGroup = false;
  #wake = (): void => undefined;

  constructor(cluster: MemoryBroker, config: ConsumerOptions) {
    this.#cluster = cluster;
    this.#config = config;
    const metadata = {
      findTopicPartitionMetadata: (topic: string) =>
        cluster.topic(topic).partitions.map(({ partition }) => ({ partitionId: partition })),
    } as unknown as Cluster;
    const { partitionAssigners = [kafkajs.PartitionAssigners.roundRobin], groupId } = config;
    this.assigners = partitionAssigners.map((create) =>
      create({ cluster: metadata, groupId } as Parameters<typeof create>[0]),
    );
  }

  /** The part of the library's interface that this package uses. */
  asConsumer(): MemberConsumer {
    const consumer: Pick<
      MemberConsumer,
      | 'connect'
      | 'subscribe'
      | 'run'
      | 'pause'
      | 'resume'
      | 'seek'
      | 'disconnect'
      | 'on'
      | 'events'
      | 'joinAgain'
      | 'heartbeatEveryMs'
    > = {
      events,
      on: ((event: string, listener: (event: unknown) => void) =>
        this.#emitter.on(event, listener)) as unknown as MemberConsumer['on'],
      connect: async () => {
        this.#cluster.checkReachable();
        return Promise.resolve();
      },
      subscribe: async (subscription) => {
        this.topics = 'topics' in subscription ? subscription.topics.map(String) : [];
        for (const topic of this.topics) this.#cluster.topic(topic);
        return Promise.resolve();
      },
      run: async ({ eachBatch } = {}) => {
        this.#eachBatch = eachBatch;
        this.#isRunning = true;
        this.memberId = `member-${(members += 1)}`;
        await this.#group.join(this);
        void this.#fetchUntilStopped();
      },
      pause: (paused) => {
        for (const key of keysOf(paused)) this.#paused.add(key);
      },
      resume: (resumed) => {
        for (const key of keysOf(resumed)) this.#paused.delete(key);
        this.#wake();
      },
      seek: ({ topic, partition, offset }) => {
        const assigned = this.#assigned.get(`${topic}/${partition}`);
        if (assigned) assigned.position = Number(offset);
        this.#wake();
      },
      disconnect: async () => {
        this.#isRunning = false;
        this.#wake();
        await this.idle;
        this.#group.leave(this);
        this.#emit(events.STOP, {});
      },
      heartbeatEveryMs: (usualMs) => usualMs,
      joinAgain: () => {
        void this.#group.rebalance();
      },
    };
    return Object.defineProperties(consumer as MemberConsumer, {
      isMember: { get: () => this.#isInGroup },
      keepsAssignment: { get: () => this.#isInGroup },
    });
  }

  get #group() {
    return this.#cluster.group(this.#config.groupId);
  }

  announceRebalance(): void {
    this.#emit(events.REBALANCING, {});
  }

  announceJoin(): void {
    this.#emit(events.REQUEST, { apiName: 'JoinGroup', broker: nodeId, duration: 0 });
  }

  /** Begins with the committed offsets; listeners of the event may seek. */
  assign(memberAssignment: Readonly<Record<string, readonly number[]>>, groupProtocol: string): void {
    this.#assigned.clear();
    for (const [topic, partitions] of Object.entries(memberAssignment)) {
      for (const partition of partitions) {
        const key = `${topic}/${partition}`;
        const position = this.#group.offsets.get(key)?.offset ?? 0;
        this.#assigned.set(key, { topic, partition, position });
      }
    }
    this.#isInGroup = true;
    this.#emit(events.GROUP_JOIN, { memberId: this.memberId, memberAssignment, groupProtocol });
    this.#wake();
  }

  async #fetchUntilStopped(): Promise<void> {
    const unsubscribe = this.#cluster.onChange(() => {
      this.#wake();
    });
    while (this.#isRunning) {
      this.#emit(events.FETCH_START, { nodeId });
      const startedAt = performance.now();
      const batches = this.#fetch();
      if (batches.length === 0) await this.#change();
      else await new Promise((resolve) => setImmediate(resolve));
      if (!this.#cluster.isStopped) {
        const duration = performance.now() - startedAt;
        this.#emit(events.REQUEST, { apiName: 'Fetch', broker: nodeId, duration });
      }
      const take = this.#config.fetching?.take;
      if (take && batches.length > 0) await (this.idle = this.#pass(batches, take));
      else for (const batch of batches) await (this.idle = this.#process(batch));
    }
    unsubscribe();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, maxWaitMs).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #fetch(): FetchedBatch[] {
    if (!this.#isInGroup || this.#cluster.isStopped) return [];
    const { maxBytesPerPartition = 1_048_576 } = this.#config;
    return [...this.#assigned].flatMap(([key, assigned]) => {
      const { topic, partition } = assigned;
      const log = this.#cluster.partition(topic, partition);
      if (!log || this.#paused.has(key)) return [];
      // Expired, or beyond the end: the library begins again with the first record.
      if (assigned.position < log.low || assigned.position > log.high) assigned.position = log.low;
      const { position: fetchedFrom } = assigned;
      const end = log.high;
      this.#config.fetching?.onAnswer?.({ topic, partition, fetchedFrom, end, isAtEnd: fetchedFrom >= end });
      const messages = log.read(assigned.position, maxBytesPerPartition);
      if (messages.length === 0) return [];
      const data = {
        partition,
        highWatermark: String(log.high),
        messages,
        abortedTransactions: [],
        bytes: storedBytes(messages),
      };
      return new FetchedBatch(topic, String(assigned.position), data);
    });
  }

  async #pass(
    batches: readonly FetchedBatch[],
    take: (batches: readonly FetchedBatch[]) => Promise<void>,
  ): Promise<void> {
    await take(batches);
    for (const batch of batches) {
      const assigned = this.#assigned.get(`${batch.topic}/${batch.partition}`);
      // A seek meanwhile has precedence.
      if (assigned?.position === Number(batch.fetchedOffset)) assigned.position = batch.lastOffset() + 1;
    }
  }

  async #process(batch: FetchedBatch): Promise<void> {
    const { topic, partition, fetchedOffset } = batch;
    const key = `${topic}/${partition}`;
    const assigned = this.#assigned.get(key);
    const isOutdated = Number(fetchedOffset) !== assigned?.position || this.#paused.has(key);
    if (isOutdated || !this.#isInGroup || !this.#isRunning) return;
    const lastOffset = batch.lastOffset();
    this.#emit(events.START_BATCH_PROCESS, {
      topic,
      partition,
    });
    const payload: Pick<EachBatchPayload, 'resolveOffset' | 'commitOffsetsIfNecessary'> = {
      resolveOffset: () => {
        // A seek during the batch has precedence.
        if (assigned.position === Number(fetchedOffset)) assigned.position = lastOffset + 1;
      },
      commitOffsetsIfNecessary: async (offsets) => {
        const committed = (offsets?.topics ?? []).flatMap(({ topic, partitions }) =>
          partitions.map(({ partition, offset, ...rest }) => {
            const { metadata = '' } = rest as { metadata?: string };
            return [`${topic}/${partition}`, { offset: Number(offset), metadata }] as const;
          }),
        );
        const { offsetCommitMs } = this.#cluster;
        if (offsetCommitMs > 0) await new Promise((resolve) => setTimeout(resolve, offsetCommitMs));
        await this.#cluster.committingOffsets;
        this.#group.commit(this, new Map(committed));
      },
    };
    await this.#eachBatch?.({ ...payload, batch } as unknown as EachBatchPayload);
  }

  #emit(event: string, payload: object): void {
    this.#emitter.emit(event, { payload });
  }
}

function keysOf(partitions: readonly { topic: string; partitions?: number[] }[]): string[] {
  return partitions.flatMap(({ topic, partitions: numbers = [] }) =>
    numbers.map((number) => `${topic}/${number}`),
  );
}
