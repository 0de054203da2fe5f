import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readSettings } from '@tailrace/service';
import { settings } from '../settings.ts';
import { MessageIds, type IdUse } from './message-ids.ts';

/** Says how the event at an offset of partition 0 uses its id. */
const useIn =
  (ids: MessageIds) =>
  (offset: number, messageId: string, content = 'content'): IdUse =>
    ids.use({ partition: 0, offset }, 'web', messageId, content);

describe('a repeat', () => {
  test('3.2 is an id that an earlier offset of the partition has', () => {
    const use = useIn(new MessageIds());
    assert.equal(use(10, 'm-1'), 'first');
    assert.equal(use(11, 'm-1'), 'repeat');
    assert.equal(use(12, 'm-1'), 'repeat');
  });

  test('is not the same record, read again after a rebalance', () => {
    const use = useIn(new MessageIds());
    for (let reading = 0; reading < 3; reading++) {
      assert.equal(use(10, 'm-1'), 'first');
      assert.equal(use(11, 'm-1'), 'repeat');
    }
  });

  test('is not an id of a later offset, which becomes the repeat', () => {
    const use = useIn(new MessageIds());
    assert.equal(use(11, 'm-1'), 'first');
    assert.equal(use(10, 'm-1'), 'first');
    assert.equal(use(11, 'm-1'), 'repeat');
  });

  test('has the same source: two sources may use the same id', () => {
    const ids = new MessageIds();
    const use = (offset: number, sourceId: string, messageId: string): IdUse =>
      ids.use({ partition: 0, offset }, sourceId, messageId, 'content');
    assert.equal(use(10, 'web', 'm-1'), 'first');
    assert.equal(use(11, 'app', 'm-1'), 'first');
    assert.equal(use(12, 'we', 'bm-1'), 'first');
  });

  test('is in the same partition, because the ids of each partition are separate', () => {
    const ids = new MessageIds();
    for (const partition of [0, 1]) {
      assert.equal(ids.use({ partition, offset: 10 }, 'web', 'm-1', 'content'), 'first');
    }
  });
});

describe('an id with other content', () => {
  test('3.7 is reused, and its repeats are recognised beside those of the first', () => {
    const use = useIn(new MessageIds());
    assert.equal(use(10, 'm-1', 'forged'), 'first');
    assert.equal(use(11, 'm-1', 'genuine'), 'reused');
    assert.equal(use(12, 'm-1', 'third'), 'reused');
    for (const content of ['forged', 'genuine', 'third']) assert.equal(use(13, 'm-1', content), 'repeat');
  });

  test('is reused whenever its record is read again', () => {
    const use = useIn(new MessageIds());
    for (let reading = 0; reading < 3; reading++) {
      assert.equal(use(10, 'm-1', 'forged'), 'first');
      assert.equal(use(11, 'm-1', 'genuine'), 'reused');
    }
  });

  test('has an entry of its own: thousands of contents of one id take what thousands of ids take', () => {
    const limits = { minIds: 10, maxIds: 1_000, now: () => 0 };
    const ids = new MessageIds(limits);
    const use = useIn(ids);
    for (let offset = 0; offset < 10_000; offset++) {
      assert.equal(use(offset, 'm-1', String(offset)), offset === 0 ? 'first' : 'reused');
      assert.ok(ids.size <= 1_125, `${ids.size} entries`);
    }
    assert.equal(use(10_000, 'm-1', '9200'), 'repeat');
  });

  test('keeps its first content known, which would else be dropped before it', () => {
    let nowMs = 0;
    const ids = new MessageIds({ minIds: 10, now: () => nowMs });
    const use = useIn(ids);
    assert.equal(use(0, 'm-1', 'forged'), 'first');
    for (let offset = 1; offset < 1_000; offset++, nowMs += 1_000) {
      if (offset === 500) assert.equal(use(offset, 'm-1', 'genuine'), 'reused');
      else use(offset, String(offset));
    }
    assert.equal(use(1_000, 'm-1', 'genuine'), 'repeat');
  });
});

describe('the window', () => {
  const minuteMs = 60_000;

  test('3.3 is ten minutes, and from 100,000 to 500,000 ids of each partition, by default', () => {
    const { window } = readSettings({ KAFKA_BROKERS: 'localhost:9092' }, settings);
    assert.deepEqual(window, { windowMs: 10 * minuteMs, minIds: 100_000, maxIds: 500_000 });
  });

  test('3.3 keeps ids for ten minutes, independent of their number', () => {
    let nowMs = 0;
    const ids = new MessageIds({ minIds: 10, maxIds: 1_000_000, now: () => nowMs });
    const use = useIn(ids);
    let offset = 0;
    for (; nowMs < 60 * minuteMs; nowMs += 1_000) {
      for (let i = 0; i < 3; i++) {
        assert.equal(use(offset, String(offset)), 'first');
        offset += 1;
      }
      const tenMinutesAgo = offset - 3 * 600;
      if (tenMinutesAgo >= 0) assert.equal(use(offset, String(tenMinutesAgo)), 'repeat');
    }
    assert.ok(ids.size < 3 * 600 * 1.6, `older ids are dropped: ${ids.size} ids`);
  });

  test('3.3 keeps the minimum number of ids, independent of their age', () => {
    let nowMs = 0;
    const ids = new MessageIds({ minIds: 1_000, now: () => nowMs });
    const use = useIn(ids);
    for (let offset = 0; offset < 10_000; offset++) {
      nowMs += minuteMs;
      assert.equal(use(offset, String(offset)), 'first');
      if (offset >= 1_000) assert.equal(use(offset, String(offset - 999)), 'repeat');
    }
    assert.ok(ids.size < 1_000 * 1.6, `ids above the minimum are dropped: ${ids.size} ids`);
  });

  test('3.3 becomes shorter above the maximum number of ids', () => {
    const ids = new MessageIds({ minIds: 10, maxIds: 1_000, now: () => 0 });
    const use = useIn(ids);
    for (let offset = 0; offset < 10_000; offset++) use(offset, String(offset));
    assert.ok(ids.size <= 1_125, `${ids.size} ids`);
    assert.equal(use(10_000, '9200'), 'repeat');
  });
});

test('repeats are those of an unlimited map, for any order of reading within the window', () => {
  const readings = fc.array(
    fc.record({
      partition: fc.nat({ max: 1 }),
      offset: fc.nat({ max: 60 }),
    }),
    { maxLength: 300 },
  );
  // The id and the content follow from the offset, as they do in a topic; a few ids make many repeats.
  const calls = fc.array(
    fc.record({ messageId: fc.nat({ max: 12 }).map(String), content: fc.nat({ max: 2 }).map(String) }),
    {
      minLength: 61,
      maxLength: 61,
    },
  );
  fc.assert(
    fc.property(readings, calls, (read, callAt) => {
      const ids = new MessageIds();
      const firstSeen = new Map<string, number>();
      const firstContent = new Map<string, string>();
      for (const { partition, offset } of read) {
        const { messageId = '', content = '' } = callAt[offset] ?? {};
        const id = `${partition}/${messageId}`;
        const seenAt = (of: string): number => firstSeen.get(`${id}/${of}`) ?? Infinity;
        const first = firstContent.get(id) ?? content;
        const isReused = first !== content && seenAt(first) < offset;
        const expected = seenAt(content) < offset ? 'repeat' : isReused ? 'reused' : 'first';
        firstContent.set(id, first);
        firstSeen.set(`${id}/${content}`, Math.min(seenAt(content), offset));
        assert.equal(ids.use({ partition, offset }, 'web', messageId, content), expected);
      }
      assert.equal(ids.size, firstSeen.size);
    }),
  );
});

test('tens of thousands of ids stay distinct while the tables grow', () => {
  const ids = new MessageIds();
  const use = useIn(ids);
  const count = 40_000;
  for (let offset = 0; offset < count; offset++) {
    assert.equal(use(offset, `m-${offset}`), 'first');
  }
  for (let offset = 0; offset < count; offset++) {
    assert.equal(use(count + offset, `m-${offset}`), 'repeat');
  }
  assert.equal(ids.size, count);
});
