/** A partition that is read backward, until the page is full or the deadline is over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConsumedRecord } from '@tailrace/kafka';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { readBackward } from './backward.ts';

const page = { topic: 'log', partition: 0, limit: 50 };

test('a page ends at the deadline with the slices that were read, and the next one continues there', async () => {
  const cluster = new MemoryCluster();
  cluster.createTopic('log');
  await using kafka = cluster.connect();
  const publisher = kafka.publisher();
  await Promise.all(
    Array.from({ length: 3_000 }, () => publisher.publish({ topic: 'log', key: null, value: '{}' })),
  );
  const deadline = new AbortController();
  // In the second slice.
  const read = ({ offset }: ConsumedRecord): number | undefined => {
    if (offset === 1_000) deadline.abort();
    return offset % 500 === 0 ? offset : undefined;
  };
  const first = await readBackward(kafka, { ...page, signal: deadline.signal }, read);
  assert.deepEqual([first.found, first.before], [[2_500], 2_500]);
  const { signal } = new AbortController();
  const second = await readBackward(kafka, { ...page, before: first.before, signal }, read);
  assert.deepEqual([second.found, second.before], [[2_000, 1_500, 1_000, 500, 0], undefined]);
});

test('a read to which Kafka does not answer fails at the deadline', async () => {
  const never = <T>(): Promise<T> => new Promise(() => undefined);
  const offsets = () => Promise.resolve(new Map([[0, { low: 0, high: 10 }]]));
  for (const kafka of [
    { offsets: never<Awaited<ReturnType<typeof offsets>>>, scan: never },
    { offsets, scan: never },
  ]) {
    const deadline = new AbortController();
    const reading = readBackward(kafka, { ...page, signal: deadline.signal }, () => undefined);
    deadline.abort();
    await assert.rejects(reading, { code: 'kafka-unavailable' });
  }
});
