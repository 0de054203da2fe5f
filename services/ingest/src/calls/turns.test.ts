import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from './turns.ts';

test('the sources take turns, and the turns of a source keep their order', async () => {
  const turns = createTurns(1);
  const done: string[] = [];
  const first = Promise.withResolvers<undefined>();
  const take = (source: string, name: string): Promise<void> =>
    turns.take(source, () => {
      done.push(name);
      return name === 'a1' ? first.promise : Promise.resolve();
    });
  const all = [
    take('a', 'a1'),
    take('a', 'a2'),
    take('a', 'a3'),
    take('b', 'b1'),
    take('c', 'c1'),
    take('b', 'b2'),
  ];
  await Promise.resolve();
  assert.deepEqual(done, ['a1']);
  first.resolve(undefined);
  await Promise.all(all);
  assert.deepEqual(done, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('work that continues goes before new work of its source', async () => {
  const turns = createTurns(1);
  const done: string[] = [];
  const portions = async (name: string): Promise<void> => {
    for (let n = 1; n <= 3; n++)
      await turns.take('a', () => Promise.resolve(done.push(`${name}${n}`)), n > 1);
  };
  await Promise.all([portions('x'), portions('y'), portions('z')]);
  // The second piece begins while the first asks for its next turn, and the third waits for both.
  assert.deepEqual(done, ['x1', 'y1', 'x2', 'y2', 'x3', 'y3', 'z1', 'z2', 'z3']);
});

test('a turn that fails is followed by the next', async () => {
  const turns = createTurns(2);
  const fail = (): Promise<never> => turns.take('a', () => Promise.reject(new Error('no')));
  const results = await Promise.allSettled([
    fail(),
    fail(),
    fail(),
    turns.take('b', () => Promise.resolve(7)),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected', 'fulfilled'],
  );
});
