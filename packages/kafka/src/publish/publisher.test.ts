/** The publisher on a simulated broker that fails as Kafka does: by partition, before or after it wrote, or without an answer. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { TailraceError, isTailraceError } from '@tailrace/errors';
import fc from 'fast-check';
import type { Producer } from 'kafkajs';
import type { WireMessage } from '../patches/writing/produce-request.ts';
import type { PartitionResult } from '../patches/writing/produce-response.ts';
import { BatchingPublisher, type PublisherOptions } from './publisher.ts';
import { Refusals } from '../refusals.ts';

/** The result of one partition of a request. */
type Fate = 'written' | 'refused' | 'written, and an error' | 'too large' | 'unanswered' | 'out of order';

/** The result of a whole request. */
type RequestFate = 'answered' | 'lost' | 'lost after it was written';

interface Faults {
  readonly partition: (topic: string, partition: number) => Fate;
  readonly request: (partitions: ReadonlySet<number | undefined>) => RequestFate;
  /** Until when an answer takes. */
  readonly answer?: () => Promise<unknown>;
  readonly disconnect?: () => Promise<undefined>;
}

const errors: Partial<Record<Fate, string>> = {
  refused: 'NOT_ENOUGH_REPLICAS',
  'written, and an error': 'REQUEST_TIMED_OUT',
  'too large': 'MESSAGE_TOO_LARGE',
  'out of order': 'OUT_OF_ORDER_SEQUENCE_NUMBER',
};

function openPublisher(
  faults: Faults,
  options: PublisherOptions = {},
  leaders: readonly number[] = [1, 1, 2, 2],
) {
  const logs = new Map<string, string[]>();
  const logOf = (topic: string, partition: number): string[] => {
    const key = `${topic}/${partition}`;
    let log = logs.get(key);
    if (!log) logs.set(key, (log = []));
    return log;
  };

  let openProducers = 0;
  const createProducer = (): Producer => {
    openProducers += 1;
    /** By partition, the next sequence number: that of the library, which resets it after an error, and that of Kafka. */
    const next = new Map<string, { library: number; kafka: number }>();
    /** The batches that Kafka recognises as repeats: partition, first sequence number and count. */
    const known = new Set<string>();
    const sendBatch = async ({
      topicMessages,
    }: {
      topicMessages: { topic: string; messages: WireMessage[] }[];
    }) => {
      await faults.answer?.();
      const messages = topicMessages.flatMap((topic) => topic.messages);
      const fate = faults.request(new Set(messages.map(({ partition }) => partition)));
      if (fate === 'lost') return Promise.reject(new TailraceError('kafka-unavailable'));
      const results: (PartitionResult & { topicName: string })[] = [];
      const sequences: [{ library: number }, number][] = [];
      for (const { topic, messages } of topicMessages) {
        for (const [partition = -1, part] of Map.groupBy(messages, ({ partition }) => partition)) {
          const values = part.map(({ value }) => String(value));
          const place = `${topic}/${partition}`;
          const sequence = next.get(place) ?? { library: 0, kafka: 0 };
          next.set(place, sequence);
          const batch = `${place} ${sequence.library} ${values.length}`;
          let what = faults.partition(topic, partition);
          const isNew = !known.has(batch);
          if (isNew && sequence.library !== sequence.kafka) what = 'out of order';
          if (what === 'written' || what === 'written, and an error') {
            if (isNew) {
              logOf(topic, partition).push(...values);
              sequence.kafka += values.length;
              known.add(batch);
            }
          }
          sequences.push([sequence, values.length]);
          if (what !== 'unanswered')
            results.push({ topicName: topic, topic, partition, error: errors[what] });
        }
      }
      if (fate === 'lost after it was written') return Promise.reject(new TailraceError('kafka-unavailable'));
      if (results.every(({ error }) => error === undefined)) {
        for (const [sequence, count] of sequences) sequence.library += count;
        return Promise.resolve(results);
      }
      return Promise.reject(Object.assign(new TailraceError('kafka-unavailable'), { results }));
    };
    const resolved = (): Promise<void> => Promise.resolve();
    const disconnect = async (): Promise<void> => {
      await faults.disconnect?.();
      openProducers -= 1;
    };
    return { connect: resolved, disconnect, sendBatch } as unknown as Producer;
  };

  const layout = { leaders };
  const publisher = new BatchingPublisher(
    {
      createProducer,
      layouts: { known: () => layout, renew: () => Promise.resolve(layout) },
      classify: (error) => error,
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      clock: new Refusals(),
    },
    options,
  );
  return { publisher, logs, openProducers: () => openProducers };
}

const healthy: Faults = { partition: () => 'written', request: () => 'answered' };

describe('a publisher', () => {
  test('11.1 writes every record and keeps the order of each partition, for any failures', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const fates = fc.array(
      fc.constantFrom<Fate>('written', 'refused', 'written, and an error', 'unanswered'),
      { maxLength: 30 },
    );
    const requests = fc.array(fc.constantFrom<RequestFate>('answered', 'lost', 'lost after it was written'), {
      maxLength: 10,
    });
    await fc.assert(
      fc.asyncProperty(
        fates,
        requests,
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.tuple(fc.nat(3), fc.constantFrom(-1, 1, 2)), { maxLength: 20 }),
        async (partitions, requestFates, count, moves) => {
          const left = { partitions: [...partitions], requests: [...requestFates] };
          const leaders = [1, 1, 2, 2];
          const { publisher, logs } = openPublisher(
            {
              partition: () => left.partitions.shift() ?? 'written',
              request: () => left.requests.shift() ?? 'answered',
            },
            {},
            leaders,
          );
          const published: Promise<void>[] = [];
          let settled = 0;
          for (let nth = 0; nth < count; nth += 1) {
            const [moved, leader] = moves[nth] ?? [];
            if (moved !== undefined && leader !== undefined) leaders[moved] = leader;
            const record = { topic: nth % 2 ? 'a' : 'b', partition: nth % 4, key: 'k', value: String(nth) };
            published.push(publisher.publish(record).finally(() => (settled += 1)));
            if (nth % 7 === 0) await setImmediate();
          }
          while (settled < count) {
            await setImmediate();
            t.mock.timers.tick(2_000);
          }
          await Promise.all(published);
          const values = [...logs.values()].flat();
          assert.deepEqual(new Set(values).size, count);
          for (const log of logs.values()) {
            const firsts = [...new Set(log.map(Number))];
            assert.deepEqual(
              firsts,
              [...firsts].sort((x, y) => x - y),
            );
          }
          // A record may be written twice only if a request was lost, or an answer left out a partition.
          if (requestFates.length === 0 && !partitions.includes('unanswered'))
            assert.equal(values.length, count);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('a failing partition delays no other partition, in the same request or later', async () => {
    let isStuck = true;
    const { publisher, logs } = openPublisher({
      ...healthy,
      partition: (topic, partition) => (isStuck && topic === 'a' && partition === 0 ? 'refused' : 'written'),
    });
    const stuck = [1, 2].map((nth) =>
      publisher.publish({ topic: 'a', partition: 0, key: 'k', value: `stuck ${nth}` }),
    );
    const publishOthers = (): Promise<unknown> =>
      Promise.all(
        [1, 2, 3].map((partition) => publisher.publish({ topic: 'a', partition, key: 'k', value: 'v' })),
      );
    await publishOthers();
    await publishOthers();
    stuck.push(publisher.publish({ topic: 'a', partition: 0, key: 'k', value: 'stuck 3' }));
    await publishOthers();
    assert.equal(logs.get('a/0'), undefined);
    isStuck = false;
    await Promise.all(stuck);
    assert.deepEqual(logs.get('a/0'), ['stuck 1', 'stuck 2', 'stuck 3']);
    await publisher.close();
  });

  test('partitions of which some have moved to another leader, while their records wait, still share requests', async () => {
    const leaders = [1, 1, 1];
    let requests = 0;
    const request = (): RequestFate => {
      requests += 1;
      return 'answered';
    };
    const { publisher, logs } = openPublisher({ ...healthy, request }, {}, leaders);
    const numbers = Array.from({ length: 60 }, (_, nth) => nth);
    const published = numbers.map((nth) => {
      if (nth === 30) leaders.splice(1, 2, 2, 2);
      return publisher.publish({ topic: 'a', partition: nth % 3, key: 'k', value: String(nth) });
    });
    await Promise.all(published);
    assert.equal(requests, 2, 'one for each leader');
    for (const partition of [0, 1, 2]) {
      const written = numbers.filter((nth) => nth % 3 === partition);
      assert.deepEqual(logs.get(`a/${partition}`), written.map(String));
    }
    await publisher.close();
  });

  test('a partition that failed shares requests again once it has recovered, though its records always wait', async () => {
    let fails = true;
    const { publisher, logs, openProducers } = openPublisher({
      partition: (_, partition) => (fails && partition === 0 ? 'refused' : 'written'),
      request: () => 'answered',
      answer: setImmediate,
    });
    const published: Promise<void>[] = [];
    const publishBoth = async (): Promise<void> => {
      for (const partition of [0, 1])
        published.push(publisher.publish({ topic: 'a', partition, key: 'k', value: 'v' }));
      await setImmediate();
    };
    while (openProducers() < 2) await publishBoth();
    fails = false;
    while (!logs.has('a/0')) await publishBoth();
    for (let nth = 0; nth < 200; nth += 1) await publishBoth();
    assert.equal(openProducers(), 1);
    await Promise.all(published);
    await publisher.close();
  });

  test('partitions that have moved do not wait for one whose leader is gone, also when they have recovered', async () => {
    const leaders = [1, 1, 1];
    const isGone = (): boolean => leaders[0] === 1;
    const { publisher, logs } = openPublisher(
      {
        partition: () => 'written',
        request: (partitions) => (partitions.has(0) && isGone() ? 'lost' : 'answered'),
        answer: setImmediate,
      },
      {},
      leaders,
    );
    const publish = (partition: number): Promise<void> =>
      publisher.publish({ topic: 'a', partition, key: 'k', value: 'v' });
    const failing = publish(0);
    const inItsRequest = Array.from({ length: 60_000 }, () => publish(1));
    await setImmediate();
    const behindIt = publish(2);
    leaders.splice(1, 2, 2, 2);
    await Promise.all([behindIt, ...inItsRequest]);
    assert.equal(logs.get('a/0'), undefined);
    leaders[0] = 2;
    await failing;
    await publisher.close();
  });

  test('a record that was rejected in flight takes no sender for the next one', async (t) => {
    const answered = Promise.withResolvers<undefined>();
    const fates: Fate[] = ['written, and an error', 'written, and an error'];
    const { publisher, openProducers } = openPublisher(
      {
        partition: () => fates.shift() ?? 'written',
        request: () => 'answered',
        answer: () => answered.promise,
      },
      { giveUpAfterMs: 400 },
    );
    const publish = (partition: number): Promise<void> =>
      publisher.publish({ topic: 'a', partition, key: 'k', value: 'v' });
    const early = publish(0);
    // So that it is not overdue.
    const clock = t.mock.method(performance, 'now', () => 1e15);
    const late = publish(1);
    clock.mock.restore();
    await assert.rejects(early);
    answered.resolve(undefined);
    await late;
    await publish(0);
    await publisher.close();
    assert.equal(openProducers(), 0);
  });

  test('rejects only the record that is too large for its topic', async () => {
    const { publisher, logs } = openPublisher({
      ...healthy,
      partition: (topic) => (topic === 'small' ? 'too large' : 'written'),
    });
    const tooLarge = publisher.publish({ topic: 'small', partition: 0, key: 'k', value: 'large' });
    const others = [0, 1, 2].map((partition) =>
      publisher.publish({ topic: 'a', partition, key: 'k', value: 'v' }),
    );
    await assert.rejects(tooLarge, (error) => isTailraceError(error, 'record-too-large'));
    await Promise.all(others);
    assert.deepEqual([...logs.keys()].sort(), ['a/0', 'a/1', 'a/2']);
  });

  test('accepts hundreds of thousands of pending records', async () => {
    let hangs = true;
    const { publisher } = openPublisher(
      { ...healthy, request: () => (hangs ? 'lost' : 'answered') },
      { giveUpAfterMs: 60_000 },
    );
    const published = Array.from({ length: 200_000 }, () =>
      publisher.publish({ topic: 'a', key: 'k', value: 'v' }),
    );
    hangs = false;
    await Promise.all(published);
    assert.equal(publisher.bufferedBytes, 0);
    await publisher.close();
  });

  test('acknowledges no record that Kafka dropped as a repeat of a rejected record', async () => {
    let times = 0;
    const isFirst = (): boolean => times++ < 1;
    const { publisher, logs, openProducers } = openPublisher(
      { ...healthy, partition: () => (isFirst() ? 'written, and an error' : 'written') },
      { giveUpAfterMs: 1 },
    );
    const [a, b] = ['a', 'b'].map((value) =>
      publisher.publish({ topic: 't', partition: 0, key: 'k', value }),
    );
    const given = await Promise.allSettled([a, b]);
    await publisher.publish({ topic: 't', partition: 0, key: 'k', value: 'c' }).catch(() => undefined);
    await publisher.close();
    const log = logs.get('t/0') ?? [];
    for (const [place, { status }] of given.entries()) {
      if (status === 'fulfilled') assert.ok(log.includes(['a', 'b'][place] ?? ''));
    }
    assert.equal(openProducers(), 0);
  });

  test('says when less than so many bytes wait for their acknowledgement', async () => {
    const { publisher } = openPublisher(healthy);
    await publisher.untilBelow(1, 60_000);
    const published = ['a', 'b', 'c'].map((key) =>
      publisher.publish({ topic: 't', key, value: 'v'.repeat(1_000) }),
    );
    const reached: string[] = [];
    const waiting = [
      publisher.untilBelow(1, 60_000).then(() => reached.push('none')),
      publisher.untilBelow(2_000, 60_000).then(() => reached.push('half')),
    ];
    assert.ok(publisher.bufferedBytes >= 3_000);
    await Promise.all([...published, ...waiting]);
    assert.deepEqual(reached, ['half', 'none']);
  });

  test('is closed when every producer is disconnected, also those of requests that failed', async () => {
    const disconnecting = Promise.withResolvers<undefined>();
    const fates: Fate[] = ['refused', 'refused'];
    const { publisher, openProducers } = openPublisher({
      ...healthy,
      partition: () => fates.shift() ?? 'written',
      disconnect: () => disconnecting.promise,
    });
    await publisher.publish({ topic: 't', partition: 0, key: 'k', value: 'v' });
    let closed = false;
    const closing = publisher.close().then(() => (closed = true));
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    assert.equal(closed, false);
    disconnecting.resolve(undefined);
    await closing;
    assert.equal(openProducers(), 0);
  });
});
