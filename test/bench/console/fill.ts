/**
 * Fills a cluster for the bench of the console: the configuration, and the topics that the history reads. Records have the time at which
 * they would have been written. The publisher of the project writes the current time, so the raw producer of the tests writes them.
 */
import { zstdCompressSync } from 'node:zlib';
import { applyConfiguration, type Destination, type Source } from '@tailrace/config';
import { readBack, type Kafka } from '@tailrace/kafka';
import { topicSpecs, type TopicNames } from '@tailrace/topology';
import { produceRaw, type RawRecord } from '../../support/kafka/raw-producer.ts';
import { recordsOf, retryDelayMs, sizes } from '../history/records.ts';
import { say } from '../processes/bench.ts';
import { untilTaken } from '../processes/kafka.ts';

const partitions = 6;
const recordsPerBatch = 500;
/** The number of the codec. */
const zstd = 4;
const reportedRecords = 500_000;

/** The settings of control for these topics. */
export const topicSettings = {
  TAILRACE_PARTITIONS: String(partitions),
  TAILRACE_RETRY_SCHEDULE: `${retryDelayMs}ms`,
};

/** Topics, sources, and destinations with three sources each. */
export async function configure(kafka: Kafka, names: TopicNames): Promise<void> {
  await kafka.ensureTopics(topicSpecs(names, { partitions, retryScheduleMs: [retryDelayMs] }));
  const sources = Array.from({ length: sizes.sources }, (_, n): Source => {
    return { id: `source-${n}`, writeKeys: [`wk_bench_${n}`], enabled: true };
  });
  const destinations = Array.from({ length: sizes.destinations }, (_, n): Destination => {
    const connected = [0, 1, 2].map((step) => `source-${(n + step) % sizes.sources}`);
    const settings = { webhooks: [{ url: `https://destination-${n}.example.com/hooks/tailrace` }] };
    return { id: `destination-${n}`, type: 'Webhooks', enabled: n % 10 !== 9, sources: connected, settings };
  });
  await untilTaken(() => applyConfiguration(kafka, names.config, { sources, destinations }));
}

/** @param broker the only one */
export async function writeHistory(
  broker: string,
  names: TopicNames,
  deliveries: number,
  now: number,
): Promise<void> {
  let records: RawRecord[] = [];
  let [topic, wanted, nth, written] = ['', 0 as number | undefined, 0, 0];
  const send = async (): Promise<void> => {
    const [first] = records;
    if (!first) return;
    const batch = { records, codec: zstd, compress: zstdCompressSync, timestamp: first.timestamp ?? now };
    await produceRaw(broker, topic, wanted ?? nth++ % partitions, batch);
    written += records.length;
    if (written % reportedRecords < records.length) say(`${written} records written`);
    records = [];
  };
  for (const [record, timestamp] of recordsOf(names, deliveries, now)) {
    if (record.topic !== topic || records.length === recordsPerBatch) await send();
    ({ topic, partition: wanted } = record);
    const { key, value, headers } = record;
    records.push({ key, value, headers: readBack(headers).headerList, timestamp });
  }
  await send();
}
