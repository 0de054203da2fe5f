/** The cluster that the contract suite runs against: connections, state that tests read, and faults that they cause. */
import type { Kafka } from '../../kafka.ts';
import type { Consumption } from '../../consume/consumption.ts';
import type { ConsumeOptions } from '../../consume/options.ts';
import type { DueRecord } from '../../consume/partition/tracked-record.ts';
import type { KafkaLog } from '../../log.ts';
import type { KafkaObserver } from '../../observer.ts';
import type { ConsumedRecord } from '../../record.ts';
import type { UnreadableBatch } from '../../unreadable.ts';

export interface ContractCluster {
  connect(log?: KafkaLog, observer?: KafkaObserver): Kafka;
  /** A name that no topic has. */
  newName(): string;
  committed(groupId: string, topic: string): Promise<number[]>;
  commit(groupId: string, topic: string, partition: number, offset: number): Promise<void>;
  memberIds(groupId: string): Promise<string[]>;
  expire(topic: string, partition: number, offset: number): Promise<void>;
  /** Writes a record with this timestamp to partition 0. */
  writeAt(topic: string, timestamp: number): Promise<void>;
  writeAborted(topic: string, values: readonly string[]): Promise<void>;
  writeUnreadable(topic: string): Promise<void>;
  stop(): void;
  start(): void;
  pauseAcknowledgements(): void;
  resumeAcknowledgements(): void;
  loseProduceAnswers: number;
  loseCommitAnswers: number;
}

export type OpenCluster = () => Promise<ContractCluster & AsyncDisposable>;

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: object;
}

/** A connection of one test, with its log. */
export interface TestConnection extends Kafka, AsyncDisposable {
  readonly cluster: ContractCluster;
  readonly lines: readonly LogLine[];
  readonly unreadable: readonly UnreadableBatch[];
  createTopic(options?: { partitions?: number; config?: Record<string, string> }): Promise<string>;
  /** Publishes the values under one key, or to one partition. */
  write(topic: string, values: readonly string[], partition?: number): Promise<void>;
  /** All visible records, as a follower reads them. */
  readAll(topic: string): Promise<ConsumedRecord[]>;
}

export function connect(cluster: ContractCluster): TestConnection {
  const lines: LogLine[] = [];
  const unreadable: UnreadableBatch[] = [];
  const write = (level: LogLine['level']) => (fields: object, message: string) => {
    lines.push({ level, message, fields });
  };
  const log = {
    debug: () => undefined,
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
  const kafka = cluster.connect(log, { onUnreadable: (batch) => unreadable.push(batch) });
  return {
    ...kafka,
    cluster,
    lines,
    unreadable,
    async createTopic({ partitions = 1, config = {} } = {}) {
      const name = cluster.newName();
      await kafka.ensureTopics([{ name, partitions, config }]);
      return name;
    },
    async write(topic, values, partition) {
      const publisher = kafka.publisher();
      await Promise.all(values.map((value) => publisher.publish({ topic, key: 'k', value, partition })));
      await publisher.close();
    },
    async readAll(topic) {
      const records: ConsumedRecord[] = [];
      const follower = await kafka.follow({ topic, onRecord: (record) => records.push(record) });
      await follower.close();
      return records;
    },
    [Symbol.asyncDispose]: () => kafka.close(),
  };
}

export interface TestMember extends AsyncDisposable {
  readonly consumption: Consumption;
  readonly records: DueRecord[];
  readonly offsets: number[];
}

/** Joins a group and collects its records. With `finish` it finishes each. */
export async function join(
  kafka: Kafka,
  { finish, ...options }: Omit<ConsumeOptions, 'onRecord'> & { readonly finish?: boolean },
): Promise<TestMember> {
  const records: DueRecord[] = [];
  const consumption = await kafka.consume({
    commitIntervalMs: 20,
    ...options,
    onRecord(record) {
      records.push(record);
      if (finish === true) record.done();
    },
  });
  return {
    consumption,
    records,
    get offsets() {
      return records.map(({ offset }) => offset);
    },
    [Symbol.asyncDispose]: () => consumption.close(),
  };
}

export function texts(records: readonly { readonly value: Buffer | null }[]): string[] {
  return records.map(({ value }) => String(value));
}

export function numbers(count: number, prefix = ''): string[] {
  return Array.from({ length: count }, (_, nth) => `${prefix}${nth}`);
}
