import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { NotYet, patiently, startPatience } from './patience.ts';

test('nothing is attempted after the end of the patience', async () => {
  using time = simulateTime();
  let attempts = 0;
  const patience = startPatience(() => undefined, 1_200);
  const work = patiently(patience, 'a leader', () => {
    attempts += 1;
    return Promise.reject(new NotYet('no leader'));
  });
  await assert.rejects(time.settled(work), /^TailraceError: Still waiting for a leader after 1\.2 s/);
  const before = attempts;
  await time.pass(10_000);
  assert.equal(attempts, before);
});
