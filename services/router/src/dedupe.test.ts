import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createDedupe } from './dedupe.ts';

describe('a repeat', () => {
  test('is an id that an earlier offset of the partition holds', () => {
    const dedupe = createDedupe();
    assert.equal(dedupe.isRepeat(0, 10, 'web', 'm-1'), false);
    assert.equal(dedupe.isRepeat(0, 11, 'web', 'm-1'), true);
    assert.equal(dedupe.isRepeat(0, 12, 'web', 'm-1'), true);
  });

  test('is not the same record, read again after a rebalance', () => {
    const dedupe = createDedupe();
    for (let reading = 0; reading < 3; reading++) {
      assert.equal(dedupe.isRepeat(0, 10, 'web', 'm-1'), false, 'the first');
      assert.equal(dedupe.isRepeat(0, 11, 'web', 'm-1'), true, 'its repeat');
    }
  });

  test('is not an id of a later offset, and becomes one for that offset', () => {
    const dedupe = createDedupe();
    assert.equal(dedupe.isRepeat(0, 11, 'web', 'm-1'), false);
    assert.equal(dedupe.isRepeat(0, 10, 'web', 'm-1'), false);
    assert.equal(dedupe.isRepeat(0, 11, 'web', 'm-1'), true);
  });

  test('is of the same source: two sources may use the same id', () => {
    const dedupe = createDedupe();
    assert.equal(dedupe.isRepeat(0, 10, 'web', 'm-1'), false);
    assert.equal(dedupe.isRepeat(0, 11, 'app', 'm-1'), false);
    assert.equal(dedupe.isRepeat(0, 12, 'we', 'bm-1'), false);
  });

  test('is of the same partition, because each partition has its own memory', () => {
    const dedupe = createDedupe();
    assert.equal(dedupe.isRepeat(0, 10, 'web', 'm-1'), false);
    assert.equal(dedupe.isRepeat(1, 11, 'web', 'm-1'), false);
  });
});

describe('the window', () => {
  const minuteMs = 60_000;

  test('holds ids for ten minutes, however many come', () => {
    let nowMs = 0;
    const dedupe = createDedupe({ leastIds: 10, mostIds: 1_000_000, now: () => nowMs });
    let offset = 0;
    for (; nowMs < 60 * minuteMs; nowMs += 1_000) {
      for (let i = 0; i < 3; i++) {
        assert.equal(dedupe.isRepeat(0, offset, 'web', String(offset)), false);
        offset += 1;
      }
      const tenMinutesAgo = offset - 3 * 600;
      if (tenMinutesAgo >= 0) assert.equal(dedupe.isRepeat(0, offset, 'web', String(tenMinutesAgo)), true);
    }
    assert.ok(dedupe.size < 3 * 600 * 1.6, `it forgets what is older: ${dedupe.size} ids`);
  });

  test('holds the least number of ids, however old they are', () => {
    let nowMs = 0;
    const dedupe = createDedupe({ leastIds: 1_000, now: () => nowMs });
    for (let offset = 0; offset < 10_000; offset++) {
      nowMs += minuteMs;
      assert.equal(dedupe.isRepeat(0, offset, 'web', String(offset)), false);
      if (offset >= 1_000) assert.equal(dedupe.isRepeat(0, offset, 'web', String(offset - 999)), true);
    }
    assert.ok(dedupe.size < 1_000 * 1.6, `it forgets what is more: ${dedupe.size} ids`);
  });

  test('gets shorter rather than hold more than the most', () => {
    const dedupe = createDedupe({ leastIds: 10, mostIds: 1_000, now: () => 0 });
    for (let offset = 0; offset < 10_000; offset++) dedupe.isRepeat(0, offset, 'web', String(offset));
    assert.ok(dedupe.size <= 1_125, `${dedupe.size} ids`);
    assert.equal(dedupe.isRepeat(0, 10_000, 'web', '9200'), true);
  });
});

test('agrees with a map that never forgets, for any order of reading, while the window holds', () => {
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
      const dedupe = createDedupe();
      const firstSeen = new Map<string, number>();
      for (const { partition, offset } of read) {
        const messageId = String(idAt[offset]);
        const key = `${partition}/${messageId}`;
        const first = firstSeen.get(key) ?? Infinity;
        firstSeen.set(key, Math.min(first, offset));
        assert.equal(dedupe.isRepeat(partition, offset, 'web', messageId), first < offset);
      }
      assert.equal(dedupe.size, firstSeen.size);
    }),
  );
});

test('keeps tens of thousands of ids apart while its tables grow', () => {
  const dedupe = createDedupe();
  const count = 40_000;
  for (let offset = 0; offset < count; offset++) {
    assert.equal(dedupe.isRepeat(0, offset, 'web', `m-${offset}`), false);
  }
  for (let offset = 0; offset < count; offset++) {
    assert.equal(dedupe.isRepeat(0, count + offset, 'web', `m-${offset}`), true);
  }
  assert.equal(dedupe.size, count);
});
