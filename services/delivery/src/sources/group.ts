/**
 * The consumer group of the service, which is one source of deliveries. It is made before the parts that look at its
 * partitions, and joins when the part exists that receives its records. Until then it owns no partition.
 */
import { TailraceError } from '@tailrace/errors';
import type { Consumption, Kafka, OwnedPartition, PartitionLimits, PartitionState } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import type { Pipeline } from '../pipeline.ts';
import type { Ownership } from '../settle/due-times.ts';
import type { Settle } from '../settle/settle.ts';
import type { HeaderTimes } from '../stages/due/header-times.ts';
import type { Lanes } from '../stages/lane/lanes.ts';
import type { Ledger } from './recall/ledger.ts';
import type { Recalls } from './recall/recalls.ts';

export interface ConsumerGroupOptions {
  readonly groupId: string;
  /** See `topicsToConsume`. */
  readonly topics: readonly string[];
  readonly names: TopicNames;
  readonly scheduleMs: readonly number[];
  readonly commitsLateAfterMs: number;
}

/** The parts that the group gives its records to, and tells what happens to its partitions. */
export interface GroupReceiver {
  readonly times: HeaderTimes;
  readonly ledger: Pick<Ledger, 'refresh'>;
  readonly recalls: Pick<Recalls, 'receive' | 'rebalanced'>;
  readonly pipeline: Pick<Pipeline, 'receive' | 'jobOf'>;
  readonly settle: Pick<Settle, 'writeMalformed'>;
  readonly lanes: Pick<Lanes, 'pause' | 'resume'>;
  readonly ownership: Pick<Ownership, 'joined'>;
}

export class ConsumerGroup {
  readonly #kafka: Pick<Kafka, 'consume'>;
  readonly #options: ConsumerGroupOptions;
  #consumption: Consumption | undefined;

  constructor(kafka: Pick<Kafka, 'consume'>, options: ConsumerGroupOptions) {
    this.#kafka = kafka;
    this.#options = options;
  }

  async join({
    times,
    ledger,
    recalls,
    pipeline,
    settle,
    lanes,
    ownership,
  }: GroupReceiver): Promise<Consumption> {
    const { groupId, topics, names, commitsLateAfterMs } = this.#options;
    this.#consumption = await this.#kafka.consume({
      groupId,
      topics,
      commitsLateAfterMs,
      coPartitioned: true,
      limits: partitionLimits(names),
      delayMs: (topic) => names.retryTierDelayMs(topic),
      idleTopics: idleTopics(this.#options),
      // The deliveries that earlier owners have recalled must be known before the retry topics are read.
      prepare: () => ledger.refresh(),
      onRebalance: (rebalancing) => {
        if (!rebalancing) ownership.joined();
        recalls.rebalanced(rebalancing ? 'begun' : 'joined');
      },
      // What was started while it is held could not be committed.
      onHold: (held) => {
        if (held) lanes.pause();
        else lanes.resume();
      },
      onRecord: (record) => {
        const delivery = times.read(record);
        if (typeof delivery === 'string') {
          settle.writeMalformed(record, delivery);
          return;
        }
        if (delivery.dueAt !== undefined) record.waitsUntil(delivery.dueAt);
        const job = pipeline.jobOf(record.work, delivery);
        // A record that a recall has read too enters the pipeline once.
        if (!recalls.receive(job)) pipeline.receive(job);
      },
    });
    return this.#consumption;
  }

  /** The partitions that this replica owns. */
  get partitions(): readonly PartitionState[] {
    return this.#consumption?.partitions ?? [];
  }

  partition(topic: string, partition: number): PartitionState | undefined {
    return this.#consumption?.partition(topic, partition);
  }

  owned(topic: string, partition: number): OwnedPartition | undefined {
    return this.#consumption?.owned(topic, partition);
  }

  /** @throws TailraceError `kafka-unavailable` */
  unfinished(...part: Parameters<Consumption['unfinished']>): ReturnType<Consumption['unfinished']> {
    if (!this.#consumption) throw new TailraceError('kafka-unavailable', 'The group is not joined yet.');
    return this.#consumption.unfinished(...part);
  }

  /** Stops reading replays where the background has too much to do, or everything, until it may continue. */
  updatePressure(traffic: 'live' | 'background', high: boolean): void {
    const topics = traffic === 'background' ? [this.#options.names.deliveriesReplay] : undefined;
    if (high) this.#consumption?.pause(topics);
    else this.#consumption?.resume(topics);
  }
}

/**
 * Returns how much unfinished work of one partition is held in memory. Most records of a retry topic are not due yet, so
 * it needs only as many as are due while the next fetch is in flight.
 */
function partitionLimits(names: TopicNames): (topic: string) => PartitionLimits {
  // Lanes pause reading long before this limit, which bounds the records that wait for an acknowledgement from Kafka.
  const live: PartitionLimits = { records: 4_000, bytes: 4 * 2 ** 20 };
  const tier: PartitionLimits = { records: 500, bytes: 2 ** 20 };
  return (topic) => (names.retryTierDelayMs(topic) === undefined ? live : tier);
}

/**
 * Returns all topics but `deliveries`, and how often they are fetched while they are idle. No record of a retry topic is
 * due before most of its delay is over, so a few times a second, and a few times in the shortest delay, are enough.
 */
function idleTopics({ names, topics, scheduleMs }: ConsumerGroupOptions) {
  return {
    topics: topics.filter((topic) => topic !== names.deliveries),
    everyMs: Math.min(250, ...scheduleMs.map((delayMs) => delayMs / 5)),
  };
}
