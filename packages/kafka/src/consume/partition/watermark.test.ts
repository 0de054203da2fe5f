import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { Partition } from './partition.ts';
import { encodeProgress } from './progress.ts';
import { Watermark, type Mark } from './watermark.ts';

const limits = { records: 1_000, bytes: 1_000_000 };

/** A change of a partition: records arrive (some offsets have none), finish and are committed; owners change. */
type Step =
  | { readonly kind: 'track'; readonly gap: number }
  | { readonly kind: 'finish'; readonly which: number }
  | { readonly kind: 'skip'; readonly by: number }
  | { readonly kind: 'commit' | 'crash' | 'revoke' | 'finish all' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('track' as const), gap: fc.nat(3) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('finish' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('skip' as const), by: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('commit' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('crash', 'revoke', 'finish all') }) },
);

test('no unfinished record is below a committed offset, for any order of finishing and any change of owner', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.array(step, { maxLength: 200 }), (start, steps) => {
      /** The offsets that have records, and those that an owner finished. */
      const records = new Set<number>();
      const finished = new Set<number>();
      let committed = start;
      let end = start;
      let owner = new Partition('topic', 0, limits);
      owner.start(start);
      let open: Mark[] = [];
      let formerMarks: { readonly owner: Partition; readonly mark: Mark }[] = [];

      /** The next owner starts at the committed offset. Work of the former owner may still finish, without effect. */
      const changeOwner = (): void => {
        formerMarks = open.map((mark) => ({ owner, mark }));
        owner = new Partition('topic', 0, limits);
        owner.start(committed);
        open = [];
      };
      const finish = (mark: Mark | undefined): void => {
        if (!mark) return;
        open.splice(open.indexOf(mark), 1);
        owner.finish(mark, 0);
        finished.add(mark.offset);
      };
      const next = (): number => [...records].find((offset) => offset >= owner.next) ?? owner.next;

      for (const step of steps) {
        const before = owner.committable;
        switch (step.kind) {
          case 'track': {
            // A new owner receives uncommitted records again, then new records after a gap.
            const offset = records.has(next()) ? next() : Math.max(end, owner.next) + step.gap;
            open.push(owner.track(offset, 0));
            records.add(offset);
            end = Math.max(end, offset + 1);
            break;
          }
          case 'finish':
            finish(open[step.which % Math.max(1, open.length)]);
            for (const { owner, mark } of formerMarks.splice(0, 1)) owner.finish(mark, 0);
            break;
          case 'finish all':
            for (const mark of [...open]) finish(mark);
            assert.equal(owner.committable, owner.next);
            assert.equal(owner.uncommitted, 0);
            break;
          case 'skip':
            if (!records.has(next())) owner.skipTo(owner.next + step.by);
            break;
          case 'commit':
            committed = owner.committable;
            break;
          case 'revoke':
            committed = owner.committable;
            owner.revoke();
            changeOwner();
            break;
          case 'crash':
            changeOwner();
            break;
        }
        if (step.kind !== 'crash' && step.kind !== 'revoke') {
          assert.ok(owner.committable >= before, 'the watermark decreased');
        }
        assert.ok(owner.committable >= committed, 'the watermark is below the committed offset');
        assert.ok(owner.committable <= owner.next);
        const passed = [...records].filter((offset) => offset < owner.committable && !finished.has(offset));
        assert.deepEqual(passed, [], 'unfinished records below the watermark');
      }
    }),
    { numRuns: 500 },
  );
});

test('the watermark is the lowest unfinished record, regardless of how many finish above it', () => {
  const watermark = new Watermark(0);
  const marks = Array.from({ length: 5_000 }, (_, offset) => watermark.track(offset));
  for (const mark of marks.slice(1).reverse()) watermark.finish(mark);
  assert.equal(watermark.committable, 0);
  assert.equal(watermark.span, 5_000);
  for (const mark of marks.slice(0, 1)) watermark.finish(mark);
  assert.equal(watermark.committable, 5_000);
  assert.equal(watermark.span, 0);
});

test('the span counts the uncommitted records, also after finished ones were removed', () => {
  const watermark = new Watermark(0);
  const marks = Array.from({ length: 10_000 }, (_, offset) => watermark.track(offset));
  for (const [finished, mark] of marks.entries()) {
    assert.equal(watermark.span, 10_000 - finished);
    assert.equal(watermark.committable, finished);
    watermark.finish(mark);
  }
  watermark.track(10_000);
  assert.equal(watermark.committable, 10_000);
});

test('finished records between unfinished ones are kept as one run, for any order of finishing', () => {
  const places = fc.array(fc.record({ gap: fc.nat(2), finishes: fc.boolean() }), { maxLength: 60 });
  fc.assert(
    fc.property(places, fc.infiniteStream(fc.nat()), (records, order) => {
      const watermark = new Watermark(0);
      let offset = 0;
      const marks = records.map(({ gap, finishes }) => {
        offset += gap;
        return { mark: watermark.track(offset++), finishes };
      });
      const open = marks.filter(({ finishes }) => finishes);
      for (const turn of order) {
        if (open.length === 0) break;
        const [next] = open.splice(turn % open.length, 1);
        if (next) watermark.finish(next.mark);
      }
      const runs = [...watermark.window()];
      for (const [index, run] of runs.entries()) {
        if (run.finished)
          assert.equal(runs[index - 1]?.finished, false, 'two finished runs, or the first is one');
      }
      const short = [...watermark.windowToLastFinished()];
      assert.deepEqual(short, runs.slice(0, runs.findLastIndex(({ finished }) => finished) + 2));
      assert.equal(encodeProgress(short), encodeProgress(runs));
      const first = marks.findIndex(({ finishes }) => !finishes);
      const above = first < 0 ? [] : marks.slice(first);
      assert.equal(watermark.span, above.length);
      assert.equal(watermark.finishedRuns, runs.filter(({ finished }) => finished).length);
      for (const { mark, finishes } of above) {
        const run = runs.find(({ offset, to }) => offset <= mark.offset && mark.offset < to);
        assert.equal(run?.finished, finishes);
      }
    }),
  );
});

test('an offset can be tracked once', () => {
  const watermark = new Watermark(7);
  watermark.track(7);
  watermark.skipTo(10);
  watermark.skipTo(3);
  for (const offset of [6, 7, 9]) assert.throws(() => watermark.track(offset), RangeError);
  assert.equal(watermark.track(10).offset, 10);
});
