import assert from 'node:assert/strict';
import test from 'node:test';
import { coalesce } from './coalesce.ts';

/** Work that ends when told to, and counts its runs. */
function manualWork() {
  const runs: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      runs.push({ resolve, reject });
    });
  return { runs, call: coalesce(work) };
}

test('calls made while the work runs share one later run, and never two run at a time', async () => {
  const { runs, call } = manualWork();
  const first = call();
  const later = [call(), call(), call()];
  assert.equal(runs.length, 1);

  runs[0]?.resolve();
  await first;
  await new Promise(setImmediate);
  assert.equal(runs.length, 2, 'the later calls asked after the first run began, and need one of their own');

  const latest = call();
  assert.equal(runs.length, 2);
  runs[1]?.resolve();
  await Promise.all(later);
  await new Promise(setImmediate);
  assert.equal(runs.length, 3);
  runs[2]?.resolve();
  await latest;
});

test('a call made when nothing runs starts at once', async () => {
  const { runs, call } = manualWork();
  for (const expected of [1, 2]) {
    const done = call();
    assert.equal(runs.length, expected);
    runs.at(-1)?.resolve();
    await done;
  }
});

test('a failed run fails those who share it, and no one else', async () => {
  const { runs, call } = manualWork();
  const first = call();
  const later = call();
  runs[0]?.reject(new Error('away'));
  await assert.rejects(first, /away/);
  await new Promise(setImmediate);
  runs[1]?.resolve();
  await later;
});
