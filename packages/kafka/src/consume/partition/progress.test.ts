import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeProgress, encodeProgress } from './progress.ts';
import { Watermark, type Mark } from './watermark.ts';

/** A partition of some records at growing offsets, some of them finished. */
const partitions = fc
  .record({
    start: fc.nat({ max: 1_000_000 }),
    records: fc.array(fc.record({ gap: fc.nat({ max: 3 }), finished: fc.boolean() }), { maxLength: 400 }),
  })
  .map(({ start, records }) => {
    const watermark = new Watermark(start);
    const marks: Mark[] = [];
    let offset = start;
    for (const { gap } of records) {
      offset += gap;
      marks.push(watermark.track(offset));
      offset += 1;
    }
    for (const [place, { finished }] of records.entries()) {
      const mark = marks[place];
      if (finished && mark) watermark.finish(mark);
    }
    return { watermark, marks };
  });

const isInside = (offset: number, ranges: readonly { from: number; to: number }[]): boolean =>
  ranges.some(({ from, to }) => from <= offset && offset < to);

test('the decoded ranges are exactly those that were finished above the watermark', () => {
  fc.assert(
    fc.property(partitions, ({ watermark, marks }) => {
      const ranges = decodeProgress(watermark.committable, encodeProgress(watermark.window()));
      for (const { offset, finished } of marks) {
        if (offset < watermark.committable) continue;
        assert.equal(isInside(offset, ranges), finished, `offset ${offset}`);
      }
    }),
  );
});

test('the text has room for thousands of gaps, and is cut where the broker would refuse it', () => {
  for (const [records, known] of [
    [20_000, 10_000],
    [60_000, 11_976],
  ] as const) {
    const watermark = new Watermark(0);
    const marks = Array.from({ length: records }, (_, offset) => watermark.track(offset));
    for (const mark of marks) if (mark.offset % 2 === 1) watermark.finish(mark);
    const text = encodeProgress(watermark.window());
    assert.ok(text.length <= 4_000, `${text.length}`);
    const ranges = decodeProgress(0, text);
    const odd = Array.from({ length: known }, (_, nth) => ({ from: 2 * nth + 1, to: 2 * nth + 2 }));
    assert.deepEqual(ranges, odd);
  }
});

test('long ranges are named as far as their lengths fit, where the bits of their offsets would not', () => {
  const watermark = new Watermark(7);
  const count = 1_400;
  for (let nth = 0; nth < count; nth += 1) {
    watermark.track(7 + nth * 100);
    for (let next = 1; next < 100; next += 1) watermark.finish(watermark.track(7 + nth * 100 + next));
  }
  assert.equal(decodeProgress(7, encodeProgress(watermark.window())).length, count);
});

test('a long range at the end of what fits is named too', () => {
  for (let gaps = 1_490; gaps < 1_500; gaps += 1) {
    const long = { offset: 2 * gaps + 1, to: 24_500, finished: true };
    const odd = Array.from({ length: 2 * gaps }, (_, offset) => ({
      offset,
      to: offset + 1,
      finished: offset % 2 === 1,
    }));
    const [first, second] = [long.offset - 1, long.to];
    const unfinished = [first, second].map((offset) => ({ offset, to: offset + 1, finished: false }));
    const last = { offset: second + 1, to: second + 2, finished: true };
    const runs = [...odd, ...unfinished.slice(0, 1), long, ...unfinished.slice(1), last];
    const count = decodeProgress(0, encodeProgress(runs)).reduce((sum, { from, to }) => sum + to - from, 0);
    assert.ok(count > 22_000, `${count} named behind ${gaps} gaps`);
  }
});

test('the text is empty if nothing is finished above the watermark', () => {
  const watermark = new Watermark(5);
  watermark.track(5);
  assert.equal(encodeProgress(watermark.window()), '');
});

test("somebody else's metadata says nothing", () => {
  for (const text of [null, undefined, '', 'a note', 'f3:AAEC'])
    assert.deepEqual(decodeProgress(7, text), []);
});
