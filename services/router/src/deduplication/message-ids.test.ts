import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createMessageIds } from './message-ids.ts';

describe('a repeat', () => {
  test('is an id that an earlier offset of the partition has', () => {
    const ids = createMessageIds();
    assert.equal(ids.isRepeat(0, 10, 'web', 'm-1'), false);
    assert.equal(ids.isRepeat(0, 11, 'web', 'm-1'), true);
    assert.equal(ids.isRepeat(0, 12, 'web', 'm-1'), true);
  });

  test('is not the same record, read again after a rebalance', () => {
    const ids = createMessageIds();
    for (let reading = 0; reading < 3; reading++) {
      assert.equal(ids.isRepeat(0, 10, 'web', 'm-1'), false, 'the first');
      assert.equal(ids.isRepeat(0, 11, 'web', 'm-1'), true, 'its repeat');
    }
  });

  test('is not an id of a later offset, which becomes the repeat', () => {
    const ids = createMessageIds();
    assert.equal(ids.isRepeat(0, 11, 'web', 'm-1'), false);
    assert.equal(ids.isRepeat(0, 10, 'web', 'm-1'), false);
    assert.equal(ids.isRepeat(0, 11, 'web', 'm-1'), true);
  });

  test('has the same source: two sources may use the same id', () => {
    const ids = createMessageIds();
    assert.equal(ids.isRepeat(0, 10, 'web', 'm-1'), false);
    assert.equal(ids.isRepeat(0, 11, 'app', 'm-1'), false);
    assert.equal(ids.isRepeat(0, 12, 'we', 'bm-1'), false);
  });

  test('is in the same partition, because the ids of each partition are separate', () => {
    const ids = createMessageIds();
    assert.equal(ids.isRepeat(0, 10, 'web', 'm-1'), false);
    assert.equal(ids.isRepeat(1, 11, 'web', 'm-1'), false);
  });
});

describe('the window', () => {
  const minuteMs = 60_000;

  test('keeps ids for ten minutes, independent of their number', () => {
    let nowMs = 0;
    const ids = createMessageIds({ minIds: 10, maxIds: 1_000_000, now: () => nowMs });
    let offset = 0;
    for (; nowMs < 60 * minuteMs; nowMs += 1_000) {
      for (let i = 0; i < 3; i++) {
        assert.equal(ids.isRepeat(0, offset, 'web', String(offset)), false);
        offset += 1;
      }
      const tenMinutesAgo = offset - 3 * 600;
      if (tenMinutesAgo >= 0) assert.equal(ids.isRepeat(0, offset, 'web', String(tenMinutesAgo)), true);
    }
    assert.ok(ids.size < 3 * 600 * 1.6, `older ids are dropped: ${ids.size} ids`);
  });

  test('keeps the minimum number of ids, independent of their age', () => {
    let nowMs = 0;
    const ids = createMessageIds({ minIds: 1_000, now: () => nowMs });
    for (let offset = 0; offset < 10_000; offset++) {
      nowMs += minuteMs;
      assert.equal(ids.isRepeat(0, offset, 'web', String(offset)), false);
      if (offset >= 1_000) assert.equal(ids.isRepeat(0, offset, 'web', String(offset - 999)), true);
    }
    assert.ok(ids.size < 1_000 * 1.6, `ids above the minimum are dropped: ${ids.size} ids`);
  });

  test('becomes shorter above the maximum number of ids', () => {
    const ids = createMessageIds({ minIds: 10, maxIds: 1_000, now: () => 0 });
    for (let offset = 0; offset < 10_000; offset++) ids.isRepeat(0, offset, 'web', String(offset));
    assert.ok(ids.size <= 1_125, `${ids.size} ids`);
    assert.equal(ids.isRepeat(0, 10_000, 'web', '9200'), true);
  });
});

test('repeats are those of an unlimited map, for any order of reading within the window', () => {
  const readings = fc.array(
    fc.record({
      partition: fc.nat({ max: 1 }),
      // The id follows from the offset, as it does in a topic; a few ids make many repeats.
      offset: fc.nat({ max: 60 }),
    }),
    { maxLength: 300 },
  );
  fc.assert(
    fc.property(readings, fc.array(fc.nat({ max: 20 }), { minLength: 61, maxLength: 61 }), (read, idAt) => {
      const ids = createMessageIds();
      const firstSeen = new Map<string, number>();
      for (const { partition, offset } of read) {
        const messageId = String(idAt[offset]);
        const key = `${partition}/${messageId}`;
        const first = firstSeen.get(key) ?? Infinity;
        firstSeen.set(key, Math.min(first, offset));
        assert.equal(ids.isRepeat(partition, offset, 'web', messageId), first < offset);
      }
      assert.equal(ids.size, firstSeen.size);
    }),
  );
});

test('tens of thousands of ids stay distinct while the tables grow', () => {
  const ids = createMessageIds();
  const count = 40_000;
  for (let offset = 0; offset < count; offset++) {
    assert.equal(ids.isRepeat(0, offset, 'web', `m-${offset}`), false);
  }
  for (let offset = 0; offset < count; offset++) {
    assert.equal(ids.isRepeat(0, count + offset, 'web', `m-${offset}`), true);
  }
  assert.equal(ids.size, count);
});
