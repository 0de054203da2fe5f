import assert from 'node:assert/strict';
import test from 'node:test';
import { collect } from './collected.ts';

test('a wait ends when an addition satisfies it', async () => {
  const list = collect<number>('the list', String);
  const three = list.waitFor(3);
  const seven = list.find((item) => item === 7);
  for (const item of [5, 7, 9]) list.add(item);
  assert.deepEqual(await three, [5, 7, 9]);
  assert.equal(await seven, 7);
  assert.equal((await list.waitFor((items) => items.includes(5))).length, 3);
});

test('a wait that times out reports the items', async () => {
  const list = collect<number>('the list', (item) => `<${item}>`, { giveUpAfterMs: 5 });
  list.add(41);
  await assert.rejects(list.waitFor(2), /not within 5 ms: the list holds 1\n {2}<41>/);
});

test('a failure ends every wait, later ones included', async () => {
  const list = collect<number>('the log', String);
  const waiting = list.waitFor(1);
  list.fail(new Error('the process ended'));
  await assert.rejects(waiting, /the process ended: the log holds 0/);
  await assert.rejects(list.waitFor(1), /the process ended/);
});
