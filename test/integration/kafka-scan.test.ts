/** Scans against a real broker: each record once, to the end at the start of the scan. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { ConsumedRecord, ScanOptions } from '@tailrace/kafka';
import { sharedBroker } from '../support/kafka/broker.ts';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { eventually } from '@tailrace/testing';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { uniquePrefix } from '../support/kafka/topics.ts';

let brokers: readonly string[];
let kafka: TestKafka;
before(async () => {
  ({ brokers } = await sharedBroker());
  kafka = openKafka(brokers);
});
after(() => kafka.close());

async function scanned(options: ScanOptions): Promise<ConsumedRecord[]> {
  const records: ConsumedRecord[] = [];
  for await (const together of await kafka.scan(options)) records.push(...together);
  return records;
}

function textsOf(records: readonly ConsumedRecord[]): (string | undefined)[] {
  return records.map(({ value }) => value?.toString());
}

/** Into these partitions in turn. */
async function publish(topic: string, values: readonly string[], partitions = [0]): Promise<void> {
  const publisher = kafka.publisher();
  const partitionOf = (nth: number): number | undefined => partitions[nth % partitions.length];
  await Promise.all(
    values.map((value, nth) => publisher.publish({ topic, partition: partitionOf(nth), key: 'k', value })),
  );
  await publisher.close();
}

function numbered(count: number, prefix = ''): string[] {
  return Array.from({ length: count }, (_, nth) => `${prefix}${nth}`);
}

test('everything up to the end that the topic had is read once, in the order of each partition', async () => {
  const topic = await kafka.createTopic({ partitions: 3 });
  const values = numbered(3_000);
  await publish(topic, values, [0, 1, 2]);
  const scan = await kafka.scan({ topic });
  await publish(topic, ['too late']);
  const records: ConsumedRecord[] = [];
  for await (const together of scan) records.push(...together);
  assert.deepEqual(textsOf(records).sort(), values.sort());
  for (const partition of [0, 1, 2]) {
    const offsets = records.filter((record) => record.partition === partition).map(({ offset }) => offset);
    assert.deepEqual(offsets, [...offsets.keys()]);
  }
  assert.deepEqual(scan.progress, { read: 3_000, total: 3_000 });
});

test('a scan can end where another one ended', async () => {
  const topic = await kafka.createTopic({ partitions: 2 });
  await publish(topic, numbered(50), [0, 1]);
  const first = await kafka.scan({ topic });
  await first.close();
  await publish(topic, numbered(50, 'later '), [0, 1]);
  assert.deepEqual(textsOf(await scanned({ topic, ends: first.ends })).sort(), numbered(50).sort());
});

test('a scan can begin with the first record of a time', async () => {
  const topic = await kafka.createTopic();
  await publish(topic, ['before']);
  const [before] = await scanned({ topic });
  const since = (before?.timestamp ?? 0) + 1;
  await eventually(
    () => Date.now(),
    (now) => now >= since,
  );
  assert.deepEqual(await scanned({ topic, since }), []);
  await publish(topic, ['after']);
  assert.deepEqual(textsOf(await scanned({ topic, since })), ['after']);
});

test('an empty topic, one that was emptied, and a missing one', async () => {
  const topic = await kafka.createTopic();
  assert.deepEqual(await scanned({ topic }), []);
  await publish(topic, ['gone']);
  await using admin = await connectAdmin(brokers);
  await admin.expire(topic, 0, 1);
  assert.deepEqual(await scanned({ topic }), []);
  await assert.rejects(kafka.scan({ topic: `${uniquePrefix()}missing` }), { code: 'topic-missing' });
});

test('offsets without a record at the end do not block a scan', async () => {
  const topic = await kafka.createTopic();
  await publish(topic, ['a', 'b']);
  await using admin = await connectAdmin(brokers);
  await admin.writeAborted(topic, ['never seen', 'nor this']);
  assert.deepEqual(textsOf(await scanned({ topic })), ['a', 'b']);
});

test('records that expire while the scan waits for its caller are skipped', async () => {
  const topic = await kafka.createTopic({ partitions: 2 });
  const large = numbered(3_000).map((value) => `${value} ${randomBytes(5_000).toString('hex')}`);
  await publish(topic, large, [0]);
  await publish(topic, ['kept'], [1]);
  const scan = await kafka.scan({ topic });
  const end = scan.ends.get(0) ?? 0;
  await using admin = await connectAdmin(brokers);
  await admin.expire(topic, 0, end);
  const seen: string[] = [];
  for await (const together of scan) seen.push(...together.map(({ value }) => value?.toString() ?? ''));
  assert.equal(seen.filter((value) => value === 'kept').length, 1);
  assert.equal(scan.progress.read, scan.progress.total);
});

test('fetching pauses while the caller does not iterate, and no record is missed', async () => {
  const topic = await kafka.createTopic({ partitions: 2 });
  const recordBytes = 20_000;
  const values = numbered(3_000).map((value) => `${value} ${randomBytes(recordBytes / 2).toString('hex')}`);
  await publish(topic, values, [0, 1]);
  const scan = await kafka.scan({ topic });
  const readBytes = (): number => scan.progress.read * recordBytes;
  await eventually(readBytes, (bytes) => bytes > 2 ** 19);
  const seen: string[] = [];
  for await (const together of scan) {
    const aheadBytes = readBytes() - seen.length * recordBytes;
    assert.ok(aheadBytes < 4 * 2 ** 20, `${aheadBytes} bytes read ahead`);
    seen.push(...together.map(({ value }) => value?.toString() ?? ''));
    await new Promise(setImmediate);
  }
  assert.deepEqual(seen.sort(), values.sort());
});

test('leaving the loop ends it', async () => {
  const topic = await kafka.createTopic();
  await publish(topic, numbered(10));
  const scan = await kafka.scan({ topic });
  for await (const together of scan) {
    assert.ok(together.length > 0);
    break;
  }
  for await (const together of scan) assert.fail(`read ${together.length} more`);
});
