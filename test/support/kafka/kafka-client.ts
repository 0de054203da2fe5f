/** A connection to Kafka for a test, with its log and its own topics. */
import {
  connectKafka,
  type ConsumeOptions,
  type Consumption,
  type DueRecord,
  type Kafka,
} from '@tailrace/kafka';
import { collect, type Collected } from '@tailrace/testing';
import { uniquePrefix } from './topics.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: object;
}

export interface TestKafka extends Kafka, AsyncDisposable {
  /** Its log without debug lines. */
  readonly log: Collected<LogLine>;
  /** Creates a unique topic, and resolves with its name. */
  createTopic(options?: {
    readonly partitions?: number;
    readonly config?: Readonly<Record<string, string>>;
  }): Promise<string>;
}

export function openKafka(brokers: readonly string[]): TestKafka {
  const log = collect<LogLine>('the log', ({ level, message }) => `${level}: ${message}`);
  const write =
    (level: LogLine['level']) =>
    (fields: object, message: string): void => {
      log.add({ level, message, fields });
    };
  const kafka = connectKafka(
    { brokers, clientId: 'tailrace-test' },
    { debug: () => undefined, info: write('info'), warn: write('warn'), error: write('error') },
  );
  return {
    ...kafka,
    log,
    async createTopic({ partitions = 1, config = {} } = {}) {
      const name = `${uniquePrefix()}topic`;
      await kafka.ensureTopics([{ name, partitions, config }]);
      return name;
    },
    [Symbol.asyncDispose]: () => kafka.close(),
  };
}

/** A member of a group, and the records it was given. */
export interface TestMember extends Consumption, AsyncDisposable {
  readonly records: Collected<DueRecord>;
}

/** Joins a group; `onRecord`, where given, is called for each record after it is among `records`. */
export async function joinGroup(
  kafka: Kafka,
  options: Omit<ConsumeOptions, 'onRecord'> & Partial<Pick<ConsumeOptions, 'onRecord'>>,
): Promise<TestMember> {
  const records = collect<DueRecord>(
    `a member of ${options.groupId}`,
    ({ partition, offset }) => `${partition}:${offset}`,
  );
  const consumption = await kafka.consume({
    ...options,
    onRecord(record) {
      records.add(record);
      options.onRecord?.(record);
    },
  });
  const close = (closing?: { drainTimeoutMs?: number }): Promise<void> => consumption.close(closing);
  return {
    records,
    topics: consumption.topics,
    lags: () => consumption.lags(),
    get totals() {
      return consumption.totals;
    },
    get uncommittedMs() {
      return consumption.uncommittedMs;
    },
    get healthy() {
      return consumption.healthy;
    },
    get partitions() {
      return consumption.partitions;
    },
    partition: (topic, partition) => consumption.partition(topic, partition),
    check: () => consumption.check(),
    unfinished: (topic, partitions, spans) => consumption.unfinished(topic, partitions, spans),
    owned: (topic, partition) => consumption.owned(topic, partition),
    pause: () => {
      consumption.pause();
    },
    resume: () => {
      consumption.resume();
    },
    stopReceiving: () => {
      consumption.stopReceiving();
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}
