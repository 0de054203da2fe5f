/** Rebuilds from topics in memory; test/integration/router-killed.test.ts uses a real broker. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  readBack,
  type ConsumedRecord,
  type NewPartition,
  type Scan,
  type ScanOptions,
} from '@tailrace/kafka';
import { readCall, type TailraceEvent } from '@tailrace/events';
import { noRegistry } from '@tailrace/registry';
import { contentHashOf } from '@tailrace/routing';
import fc from 'fast-check';
import { MessageIds, type DeduplicationWindow, type IdUse } from './message-ids.ts';
import { quickMessageId, rebuild } from './rebuild.ts';

const minuteMs = 60_000;
const window: DeduplicationWindow = { windowMs: 10 * minuteMs, minIds: 10, maxIds: 1_000 };

interface Written {
  readonly messageId: string;
  readonly content?: number;
  /** Before now. */
  readonly agoMs?: number;
  readonly rejected?: boolean;
}

const callOf = (messageId: string, content: number): object => ({
  userId: 'u',
  messageId,
  properties: { content },
  type: 'page',
});

function eventOf(messageId: string, content: number): TailraceEvent {
  const reading = readCall(callOf(messageId, content), {
    receivedAt: Date.now(),
    fallbackMessageId: () => '',
  });
  assert.ok(reading.ok);
  return reading.event;
}

/** `events` with one partition of these records, and `events.rejected` with the rejected ones. */
function topicsOf(written: readonly Written[]) {
  const at = (agoMs = 0): number => Date.now() - agoMs;
  const record = (
    fields: Partial<ConsumedRecord> & Pick<ConsumedRecord, 'topic' | 'offset'>,
  ): ConsumedRecord => ({ partition: 0, timestamp: at(), key: null, value: null, ...readBack(), ...fields });
  const events = written.map(({ messageId, content = 0, agoMs }, offset) =>
    record({
      topic: 'events',
      offset,
      timestamp: at(agoMs),
      headers: { 'source-id': Buffer.from('web') },
      // In turns as ingest writes it, and as a direct producer does.
      value: Buffer.from(
        JSON.stringify(offset % 2 === 0 ? eventOf(messageId, content) : callOf(messageId, content)),
      ),
    }),
  );
  const rejected = written.flatMap(({ rejected, agoMs }, offset) => {
    const headers = { 'origin-topic': 'events', 'origin-partition': '0', 'origin-offset': String(offset) };
    const buffers = Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)] as const);
    const timestamp = at(agoMs) + 5;
    return rejected
      ? [record({ topic: 'rejected', offset, timestamp, headers: Object.fromEntries(buffers) })]
      : [];
  });
  const scanned: ScanOptions[] = [];
  const firstSince = (records: readonly ConsumedRecord[], time: number): number =>
    records.find(({ timestamp }) => timestamp >= time)?.offset ?? records.length;
  return {
    events,
    scanned,
    offsetsAt: (_topic: string, time: number) => Promise.resolve(new Map([[0, firstSince(events, time)]])),
    scan(options: ScanOptions): Promise<Scan> {
      scanned.push(options);
      const { topic, since = 0, starts, ends } = options;
      const all = topic === 'events' ? events : rejected;
      const found = all.filter(
        ({ offset, timestamp }) =>
          timestamp >= since && offset >= (starts?.get(0) ?? 0) && offset < (ends?.get(0) ?? Infinity),
      );
      return Promise.resolve({
        ends: new Map(),
        progress: { read: 0, total: found.length },
        close: () => Promise.resolve(),
        [Symbol.asyncIterator]: () =>
          [found][Symbol.iterator]() as unknown as AsyncIterator<ConsumedRecord[]>,
      });
    },
  };
}

async function rebuilt(
  written: readonly Written[],
  position: Partial<NewPartition> = {},
  limits: DeduplicationWindow = window,
) {
  const topics = topicsOf(written);
  const messageIds = new MessageIds(limits);
  const web = { id: 'web', writeKeys: ['wk'], enabled: true };
  await rebuild(
    {
      kafka: topics,
      names: { events: 'events', eventsRejected: 'rejected' },
      config: { source: () => web, sourceByWriteKey: () => web },
      frames: noRegistry,
      messageIds,
      window: limits,
      log: { info: () => undefined, warn: () => undefined },
    },
    [{ topic: 'events', partition: 0, next: written.length, finished: [], ...position }],
    new AbortController().signal,
  );
  const use = (messageId: string, content = 0, offset = 1e9): IdUse =>
    messageIds.use(
      { partition: 0, offset },
      'web',
      messageId,
      contentHashOf(undefined, eventOf(messageId, content)),
    );
  const knows = (messageId: string): boolean => use(messageId) === 'repeat';
  return { messageIds, knows, use, scanned: topics.scanned };
}

const numbered = (count: number, agoMs: (index: number) => number): Written[] =>
  Array.from({ length: count }, (_, index) => ({ messageId: `m-${index}`, agoMs: agoMs(index) }));

describe('the range that is read back', () => {
  test('is the window before the last finished record, where that has more than the minimum of records', async () => {
    // One a second, the last one now.
    const { knows } = await rebuilt(numbered(900, (index) => (900 - index) * 1_000));
    assert.equal(knows('m-899'), true);
    assert.equal(knows('m-301'), true);
  });

  test('is that window where the last finished record is hours old', async () => {
    const { knows } = await rebuilt(numbered(900, (index) => 5 * 3_600_000 + (900 - index) * 1_000));
    assert.equal(knows('m-301'), true);
  });

  test('is the minimum number of records, independent of their age', async () => {
    const { messageIds, knows } = await rebuilt(numbered(100, (index) => (100 - index) * 60 * minuteMs));
    assert.equal(knows('m-90'), true);
    assert.equal(messageIds.size, 10);
  });

  test('is at most the maximum number of records', async () => {
    const limits = { ...window, maxIds: 50 };
    const { scanned } = await rebuilt(
      numbered(900, () => 0),
      {},
      limits,
    );
    assert.equal(scanned.find(({ topic }) => topic === 'events')?.starts?.get(0), 850);
  });

  test('leaves out records that have yet to be received, except those that an earlier owner finished', async () => {
    const { knows } = await rebuilt(
      numbered(9, () => 0),
      { next: 4, finished: [{ from: 6, to: 8 }] },
    );
    assert.deepEqual(
      ['m-3', 'm-4', 'm-5', 'm-6', 'm-7', 'm-8'].map((messageId) => knows(messageId)),
      [true, false, false, true, true, false],
    );
  });

  test('3.5 leaves out rejected records, which may be sent again after a correction', async () => {
    const { knows } = await rebuilt([
      { messageId: 'm-0', agoMs: 7 * 3_600_000, rejected: true },
      { messageId: 'm-1', agoMs: 7 * 3_600_000 },
    ]);
    assert.deepEqual([knows('m-0'), knows('m-1')], [false, true]);
  });

  test('is not read where there is no record before the first one to receive', async () => {
    const { scanned } = await rebuilt(
      numbered(5, () => 0),
      { next: 0 },
    );
    assert.deepEqual(scanned, []);
  });
});

test('3.4 repeats and reused ids are recognised as if the partition had been read without interruption', async () => {
  const ids = fc.record({
    messageId: fc.nat({ max: 5 }).map(String),
    content: fc.nat({ max: 1 }),
    rejected: fc.boolean(),
  });
  const records = fc.array(ids, { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(records, fc.nat({ max: 20 }), async (written, crash) => {
      const next = Math.min(crash, written.length);
      const { use } = await rebuilt(written, { next }, { ...window, minIds: 100 });
      const seen = new Map<string, Set<number>>();
      for (const [offset, { messageId, content, rejected }] of written.entries()) {
        if (offset < next && rejected) continue;
        const contents = seen.get(messageId) ?? new Set();
        const expected = contents.has(content) ? 'repeat' : contents.size > 0 ? 'reused' : 'first';
        if (offset >= next) assert.equal(use(messageId, content, offset), expected);
        seen.set(messageId, contents.add(content));
      }
    }),
  );
});

describe('the id that is read without parsing', () => {
  const event = { type: 'track', messageId: 'm-ö', timestamp: '2026-11-21T07:29:33.479Z', event: 'e' };

  test('is that of an event that ingest wrote', () => {
    assert.equal(quickMessageId(JSON.stringify(event)), 'm-ö');
  });

  test('is undefined where a parser could find another id', () => {
    for (const json of [
      '',
      '{"messageId":"m","type":"track"}',
      '{"type":"track","messageId":"m","messageId":"n"}',
      '{"type":"track","messageId":"m","message\\u0049d":"n"}',
      '{"type":"track","messageId":"m\\"n"}',
      '{"type":"track","messageId":7}',
      JSON.stringify({ ...event, properties: { messageId: 'other' } }),
    ]) {
      assert.equal(quickMessageId(json), undefined, json);
    }
  });
});
