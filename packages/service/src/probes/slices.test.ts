import assert from 'node:assert/strict';
import test from 'node:test';
import { Readable } from 'node:stream';
import { createSlicer } from './slices.ts';

function* lines(count: number, text: string): Generator<string> {
  for (let nth = 0; nth < count; nth += 1) yield `${text}${nth}\n`;
}

test('the slices form the text', async () => {
  const slices = await Readable.from(createSlicer()(lines(20_000, 'line '))).toArray();
  assert.ok(slices.length > 1);
  assert.equal(slices.join(''), [...lines(20_000, 'line ')].join(''));
  assert.deepEqual(await Readable.from(createSlicer()([])).toArray(), []);
});

test('each turn of the event loop generates one slice across all texts', async () => {
  const inSlices = createSlicer();
  let turns = 0;
  let counting = true;
  const nextTurn = (): void => {
    turns += 1;
    if (counting) setImmediate(nextTurn);
  };
  setImmediate(nextTurn);
  const madeIn: number[] = [];
  await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      const slices = inSlices(lines(60_000, name));
      while ((await slices.next()).done !== true) madeIn.push(turns);
    }),
  );
  counting = false;
  assert.ok(madeIn.length > 6);
  assert.equal(new Set(madeIn).size, madeIn.length);
});
