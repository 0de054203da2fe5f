import assert from 'node:assert/strict';
import test from 'node:test';
import { singleFlight } from './single-flight.ts';

/** Work whose runs the test ends. */
function manualWork() {
  const runs: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      runs.push({ resolve, reject });
    });
  return { runs, call: singleFlight(work) };
}

test('calls during a run share one later run, and only one run is in progress at a time', async () => {
  const { runs, call } = manualWork();
  const first = call();
  const later = [call(), call(), call()];
  assert.equal(runs.length, 1);

  runs[0]?.resolve();
  await first;
  await new Promise(setImmediate);
  assert.equal(runs.length, 2, 'calls after the beginning of the first run need a later run');

  const latest = call();
  assert.equal(runs.length, 2);
  runs[1]?.resolve();
  await Promise.all(later);
  await new Promise(setImmediate);
  assert.equal(runs.length, 3);
  runs[2]?.resolve();
  await latest;
});

test('a call starts a run immediately when none is in progress', async () => {
  const { runs, call } = manualWork();
  for (const expected of [1, 2]) {
    const done = call();
    assert.equal(runs.length, expected);
    runs.at(-1)?.resolve();
    await done;
  }
});

test('a failed run fails only the calls that share it', async () => {
  const { runs, call } = manualWork();
  const first = call();
  const later = call();
  runs[0]?.reject(new Error('away'));
  await assert.rejects(first, /away/);
  await new Promise(setImmediate);
  runs[1]?.resolve();
  await later;
});
