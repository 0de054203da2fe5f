/** Valid and invalid batches of producers: readable records are routed, and unreadable batches do not stop others. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { TopicNames } from '@tailrace/topology';
import lz4 from 'lz4-napi';
import { runPython } from '../support/clients.ts';
import type { ServiceProcess } from '../support/processes/process.ts';
import { produceRaw, type RawRecord } from '../support/kafka/raw-producer.ts';
import { startWatchedRouterProcess } from '../support/processes/router.ts';
import { headerOf, type WatchedTopic } from '../support/kafka/topics.ts';

let brokers: readonly string[];
let names: TopicNames;
let router: ServiceProcess;
let deliveries: WatchedTopic;
let rejected: WatchedTopic;
const opened = new AsyncDisposableStack();

before(async () => {
  const started = opened.use(await startWatchedRouterProcess(3));
  ({ brokers, names, service: router, deliveries, rejected } = started);
});
after(() => opened.disposeAsync());

const call = (userId: string, more = ''): RawRecord => ({
  key: userId,
  value: `{"type":"track","event":"e","userId":"${userId}"${more}}`,
  headers: [['source-id', 'web']],
});

const produce = (
  partition: number,
  records: readonly RawRecord[],
  codec = 0,
  compress?: (records: Buffer) => Buffer,
) => produceRaw(brokers[0] ?? '', names.events, partition, { records, codec, ...(compress && { compress }) });

const hasDeliveryOf = (userId: string) => (records: readonly { key: Buffer | null }[]) =>
  records.some(({ key }) => key?.toString() === `crm/${userId}`);

const producer = path.join(import.meta.dirname, '../support/kafka/producers/produce.py');

const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

for (const library of ['librdkafka', 'kafka-python']) {
  test(`records that ${library} writes with any codec are routed`, async () => {
    await runPython(producer, [library, codecs.join(), brokers.join(','), names.events, '300']);
    for (const codec of codecs) {
      const of = `crm/${library}-${codec}-`;
      const isDone = (records: readonly { key: Buffer | null }[]): boolean =>
        new Set(records.map(({ key }) => key?.toString()).filter((key) => key?.startsWith(of))).size === 300;
      await deliveries.waitFor(isDone);
    }
  });
}

/** Kafka checks only the beginning of what it decompresses, so the broker accepts each of these. */
const wrongChecksum = (records: Buffer): Buffer => {
  const frame = lz4.compressFrameSync(records, { contentChecksum: true });
  frame[frame.length - 1] = (frame.at(-1) ?? 0) ^ 1;
  return frame;
};

describe('a batch that cannot be read', () => {
  const zeros = Buffer.alloc(250 * 2 ** 20);
  const cases: readonly (readonly [string, RegExp, () => Promise<void>])[] = [
    [
      'lz4 with a wrong checksum',
      /cannot be decoded/,
      () => produce(0, [call('a'), call('b')], 3, wrongChecksum),
    ],
    [
      '250 MB of zeros in gzip',
      /more than 32 MiB/,
      () => produce(0, [{ ...call('a'), value: zeros }], 1, (all) => gzipSync(all)),
    ],
    [
      '250 MB of zeros in zstd',
      /more than 32 MiB/,
      () => produce(0, [{ ...call('a'), value: zeros }], 4, (all) => zstdCompressSync(all)),
    ],
    [
      'a million empty records',
      /more than 32 MiB/,
      () =>
        produce(
          0,
          Array.from({ length: 400_000 }, () => ({})),
          4,
          (all) => zstdCompressSync(all),
        ),
    ],
  ];

  for (const [what, detail, write] of cases) {
    test(`${what}: the batch is rejected as one record, and other records are routed`, async () => {
      const mark = what.replaceAll(/\W/g, '-');
      await produce(0, [call(`before-${mark}`)]);
      const earlier = rejected.items.length;
      await write();
      await Promise.all([produce(0, [call(`behind-${mark}`)]), produce(1, [call(`beside-${mark}`)])]);
      for (const place of ['before', 'behind', 'beside'])
        await deliveries.waitFor(hasDeliveryOf(`${place}-${mark}`));
      const records = await rejected.waitFor((all) => all.length > earlier);
      const record = records[earlier];
      assert.ok(record);
      assert.deepEqual([record.key, record.value], [null, null]);
      assert.equal(headerOf(record, 'error-code'), 'unreadable-batch');
      assert.match(headerOf(record, 'error-message') ?? '', detail);
      assert.deepEqual(
        [headerOf(record, 'origin-topic'), headerOf(record, 'origin-partition')],
        [names.events, '0'],
      );
      const [first, last] = ['origin-offset', 'origin-last-offset'].map((name) =>
        Number(headerOf(record, name)),
      );
      assert.ok(first !== undefined && last !== undefined && last >= first);
      await router.log.waitFor((lines) =>
        lines.some(({ msg, lastOffset }) => msg === 'unreadable batch skipped' && lastOffset === last),
      );
      const status = readFileSync(`/proc/${String(router.pid)}/status`, 'utf8');
      const peakKb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]);
      assert.ok(peakKb < 450 * 1024, `the router has taken ${peakKb} kB`);
    });
  }

  test('gzip with trailing bytes is read', async () => {
    await produce(2, [call('trailing')], 1, (all) => Buffer.concat([gzipSync(all), Buffer.from('behind')]));
    await deliveries.waitFor(hasDeliveryOf('trailing'));
  });
});

test('a rejected record keeps all its headers: null, repeated, in order, with any names', async () => {
  const headers = [
    ['x', null],
    ['source-id', 'web'],
    ['x', 'again'],
    ['__proto__', 'p'],
    ['1', 'one'],
    ['error-code', 'mine'],
    ['', ''],
  ] as const;
  const earlier = rejected.items.length;
  await produce(0, [{ key: 'k', value: 'no JSON', headers }]);
  const record = (await rejected.waitFor((all) => all.length > earlier))[earlier];
  assert.ok(record);
  assert.deepEqual(
    record.headerList.slice(0, headers.length).map(([name, value]) => [name, value && String(value)]),
    headers,
  );
  assert.deepEqual(
    record.headerList.slice(headers.length).map(([name]) => name),
    ['error-code', 'error-message', 'origin-topic', 'origin-partition', 'origin-offset'],
  );
  assert.equal(headerOf(record, 'error-code'), 'malformed-json');
});

test('a bad record with a key of 900 KB does not delay others', async () => {
  await produce(0, [{ key: 'k'.repeat(900_000), value: 'no JSON' }]);
  await produce(0, [call('behind-the-long-key')]);
  await deliveries.waitFor(hasDeliveryOf('behind-the-long-key'));
});
