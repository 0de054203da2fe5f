import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TrackedRecord } from '@tailrace/kafka';
import fc from 'fast-check';
import { noRegistry } from '@tailrace/registry';
import { mostHeld, publishedAheadBytes, SourceTurns } from './source-turns.ts';

interface Call {
  readonly source: string;
  readonly nth: number;
  readonly value?: Buffer;
}

/** How a record names its source. */
type Form = 'source-id' | 'write-key' | 'call';
const forms: readonly Form[] = ['source-id', 'write-key', 'call'];

function keyInCall({ value }: TrackedRecord): string | undefined {
  return value?.[0] === 0x7b ? (JSON.parse(value.toString()) as { writeKey: string }).writeKey : undefined;
}

/** Each call that is processed adds `bytesOfCall` to what waits for Kafka, until `acknowledge`. */
function openTurns(
  bytesOfCall: (call: Call) => number = () => 1_024,
  isKnown: (source: string) => boolean = () => true,
) {
  const records: TrackedRecord[] = [];
  const processed: string[] = [];
  const full: boolean[] = [];
  const held = new Set<string>();
  let bufferedBytes = 0;
  let waitingBytes = 0;
  let isStuck = false;
  let room = Promise.withResolvers<undefined>();
  const turns = new SourceTurns({
    config: {
      source: (id) => (isKnown(id) ? { id, writeKeys: [`wk_${id}`], enabled: true } : undefined),
      sourceByWriteKey: (key) => {
        const id = key.slice('wk_'.length);
        return isKnown(id) ? { id, writeKeys: [key], enabled: true } : undefined;
      },
    },
    frames: noRegistry,
    publisher: {
      get bufferedBytes() {
        return bufferedBytes;
      },
      async untilBelow(bytes) {
        while (bufferedBytes >= bytes && !isStuck) await room.promise;
      },
    },
    process(record) {
      const { headers, offset } = record;
      records.push(record);
      const key = headers['write-key']?.toString() ?? keyInCall(record) ?? '';
      const source = headers['source-id']?.toString() ?? key.slice('wk_'.length);
      processed.push(`${source}${offset}`);
      const bytes = bytesOfCall({ source, nth: offset });
      if (source === 'transformed') waitingBytes += bytes;
      else bufferedBytes += bytes;
    },
    held: {
      get isHolding() {
        return held.size > 0;
      },
      get waitingBytes() {
        return waitingBytes;
      },
      holds: (source) => held.has(source),
    },
    onFull: (isFull) => full.push(isFull),
  });
  return {
    turns,
    records,
    processed,
    full,
    held,
    receive: ({ source, nth, value = Buffer.alloc(100) }: Call, form: Form = 'source-id'): void => {
      const work = { topic: 'events', partition: 0, offset: nth, timestamp: 0 };
      const named = Buffer.from(JSON.stringify({ writeKey: `wk_${source}` }));
      const header = Buffer.from(form === 'write-key' ? `wk_${source}` : source);
      const content =
        form === 'call'
          ? { headers: {}, headerList: [], key: null, value: named }
          : { headers: { [form]: header }, headerList: [[form, header]], key: null, value };
      turns.receive({ ...work, ...content, work } as unknown as TrackedRecord);
    },
    /** Kafka acknowledges nothing for so long that waiting for it ends. */
    beStuck: (): void => {
      isStuck = true;
      room.resolve(undefined);
    },
    /** Kafka acknowledges everything that was published, until nothing is held. */
    acknowledge: async (held: number): Promise<void> => {
      const all = processed.length + held;
      while (processed.length < all) {
        bufferedBytes = 0;
        room.resolve(undefined);
        room = Promise.withResolvers();
        await nextTurn();
      }
    },
  };
}

const ahead = publishedAheadBytes / 1_024;

test('a record is processed when it is received, while little waits for Kafka', () => {
  const { processed, receive } = openTurns();
  for (let nth = 0; nth < ahead + 10; nth += 1) receive({ source: 'a', nth });
  assert.equal(processed.length, ahead);
});

test('sources take turns by what they publish, however many records or destinations they have', async () => {
  const { processed, receive, acknowledge } = openTurns(({ source }) =>
    source === 'wide' ? 100_000 : 1_024,
  );
  for (let nth = 0; nth < ahead + 1_000; nth += 1) receive({ source: 'flood', nth });
  for (let nth = 0; nth < 20; nth += 1) receive({ source: 'wide', nth });
  for (let nth = 0; nth < 50; nth += 1) receive({ source: 'small', nth });
  await acknowledge(1_070);
  const inTurn = processed.slice(ahead);
  const until = inTurn.slice(0, inTurn.indexOf('small49'));
  assert.ok(until.filter((name) => name.startsWith('flood')).length <= 55, until.join());
  assert.ok(until.filter((name) => name.startsWith('wide')).length <= 2, until.join());
});

test('what waits for a transform counts as published in the turns of its source', async () => {
  const { processed, receive, acknowledge } = openTurns();
  for (let nth = 0; nth < ahead; nth += 1) receive({ source: 'flood', nth });
  for (let nth = 0; nth < 500; nth += 1) receive({ source: 'transformed', nth });
  for (let nth = 0; nth < 50; nth += 1) receive({ source: 'small', nth });
  await acknowledge(550);
  const until = processed.slice(ahead, processed.indexOf('small49'));
  assert.ok(until.filter((name) => name.startsWith('transformed')).length <= 55, until.join());
});

test('the records of a source stay in order, in whichever way they name it', async () => {
  const calls = fc.array(fc.tuple(fc.nat(4), fc.constantFrom(...forms)), { minLength: 1, maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(calls, fc.integer({ min: 1, max: publishedAheadBytes }), async (calls, bytes) => {
      const { processed, receive, acknowledge } = openTurns(() => bytes);
      for (const [nth, [source, form]] of calls.entries()) {
        receive({ source: `s${source}-`, nth }, form);
      }
      await acknowledge(calls.length - processed.length);
      assert.equal(new Set(processed).size, calls.length);
      for (const ofSource of Map.groupBy(processed, (name) => name.split('-')[0]).values()) {
        const offsets = ofSource.map((name) => Number(name.split('-')[1]));
        assert.deepEqual(
          offsets,
          offsets.toSorted((a, b) => a - b),
        );
      }
    }),
  );
});

test('reading pauses while 40,000 records or 32 MB are held, until half of them have had their turn', async () => {
  for (const value of [Buffer.alloc(0), Buffer.alloc(64 * 1_024)]) {
    const { full, receive, processed, acknowledge } = openTurns();
    const most = Math.min(mostHeld.records, mostHeld.bytes / value.length);
    for (let nth = 0; nth < ahead + most - 1; nth += 1) receive({ source: 'flood', nth, value });
    assert.deepEqual(full, []);
    receive({ source: 'flood', nth: ahead + most, value });
    assert.deepEqual(full, [true]);
    await acknowledge(most / 2 - 1);
    const left = ahead + most - processed.length;
    assert.deepEqual(full, left >= most / 2 ? [true] : [true, false]);
    await acknowledge(left);
    assert.deepEqual(full, [true, false]);
  }
});

test('nothing is processed while it could not be committed', async () => {
  const { turns, processed, receive, acknowledge } = openTurns();
  turns.hold(true);
  for (let nth = 0; nth < 5; nth += 1) receive({ source: 'a', nth });
  await nextTurn();
  assert.deepEqual(processed, []);
  turns.hold(false);
  await acknowledge(5);
  assert.deepEqual(processed, ['a0', 'a1', 'a2', 'a3', 'a4']);
});

test('a held source has no turns until it is released, and others have theirs', async () => {
  const { turns, held, processed, receive } = openTurns();
  held.add('a');
  for (let nth = 0; nth < 3; nth += 1) {
    receive({ source: 'a', nth });
    receive({ source: 'b', nth });
  }
  await nextTurn();
  assert.deepEqual(processed, ['b0', 'b1', 'b2']);
  held.clear();
  turns.release();
  await nextTurn();
  assert.deepEqual(processed.slice(3), ['a0', 'a1', 'a2']);
});

test('records pass a partition of Kafka that is stuck', async () => {
  const { processed, receive, beStuck } = openTurns();
  for (let nth = 0; nth < ahead + 100; nth += 1) receive({ source: 'a', nth });
  await nextTurn();
  assert.equal(processed.length, ahead);
  beStuck();
  while (processed.length < ahead + 100) await nextTurn();
});

test('sources that do not exist share one turn, whatever names a producer makes up', async () => {
  const { processed, receive, acknowledge } = openTurns(
    () => 1_024,
    (source) => source === 'a',
  );
  for (let nth = 0; nth < ahead + 1_000; nth += 1) receive({ source: `made-up-${nth}-`, nth });
  for (let nth = 0; nth < 50; nth += 1) receive({ source: 'a', nth });
  await acknowledge(1_050);
  const inTurn = processed.slice(ahead, processed.indexOf('a49'));
  assert.ok(inTurn.filter((name) => name.startsWith('made-up')).length <= 55, inTurn.join());
});

test('the records of a source stay in order where it becomes known while some of them are held', async () => {
  for (const [form, later] of forms.flatMap((form) => forms.map((later) => [form, later] as const))) {
    let isKnown = false;
    const { processed, receive, acknowledge } = openTurns(
      () => 1_024,
      (source) => isKnown || source === 'flood',
    );
    for (let nth = 0; nth < ahead; nth += 1) receive({ source: 'flood', nth });
    for (let nth = 0; nth < 50; nth += 1) receive({ source: 'new', nth }, form);
    isKnown = true;
    for (let nth = 50; nth < 100; nth += 1) receive({ source: 'new', nth }, later);
    await acknowledge(100);
    const expected = Array.from({ length: 100 }, (_, nth) => `new${nth}`);
    assert.deepEqual(processed.slice(ahead), expected);
  }
});

test('a held record keeps its own bytes only, not those that were fetched with it', async () => {
  const { receive, records, processed, acknowledge } = openTurns();
  for (let nth = 0; nth < ahead; nth += 1) receive({ source: 'flood', nth });
  const fetched = Buffer.alloc(2 ** 20, 'x');
  receive({ source: 'a', nth: 0, value: fetched.subarray(1_000, 1_010) });
  assert.equal(processed.length, ahead);
  await acknowledge(1);
  const { value } = records.at(-1) ?? {};
  assert.ok(value);
  assert.equal(value.toString(), 'x'.repeat(10));
  assert.ok(value.buffer.byteLength < 100);
});
