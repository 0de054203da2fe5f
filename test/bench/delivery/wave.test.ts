import assert from 'node:assert/strict';
import test from 'node:test';
import {
  createWave,
  inTurn,
  lagBySecond,
  lagGrows,
  latencies,
  select,
  throughput,
  throughputByTenth,
  type Wave,
} from './wave.ts';

/** One delivery every 100 ms, to three destinations in turn. */
function sentWave(count: number): Wave {
  const wave = createWave(7, inTurn(count, [0, 1, 2]));
  for (let index = 0; index < count; index += 1) wave.sentAt[index] = 1_000 + index * 100;
  return wave;
}

test('destinations take turns, and a part of a wave is selected by index and destination', () => {
  const wave = createWave(7, [...inTurn(4, [0, 1, 2]), ...inTurn(2, [5])]);
  assert.deepEqual([...wave.destinations], [0, 1, 2, 0, 5, 5]);
  assert.deepEqual(
    select(wave, { from: 1, of: (destination) => destination === 0 || destination === 5 }),
    [3, 4, 5],
  );
  assert.deepEqual(select(wave, { to: 2 }), [0, 1]);
});

test('latencies include only selected deliveries that arrived', () => {
  const wave = sentWave(6);
  const receivedAt = wave.sentAt.map((at, index) => (index === 3 ? NaN : at + index));
  const { p50, max } = latencies(wave, receivedAt, { of: (destination) => destination === 0 });
  assert.deepEqual({ p50, max }, { p50: 0, max: 0 });
  assert.equal(latencies(wave, receivedAt).max, 5);
});

test('throughput is measured from the first sending to the last arrival', () => {
  const wave = sentWave(20);
  const receivedAt = wave.sentAt.map((at) => at + 100);
  assert.equal(throughput(wave, receivedAt), 10);
});

test('the lag of a second counts the deliveries sent by then that had not arrived', () => {
  const wave = sentWave(31);
  const prompt = wave.sentAt.map((at) => at + 50);
  assert.deepEqual(lagBySecond(wave, prompt), [1, 1, 1]);
  const never = wave.sentAt.map(() => NaN);
  assert.deepEqual(lagBySecond(wave, never), [11, 21, 31]);
});

test('a lag grows if its last third is far above its first; a few more in flight are no growth', () => {
  assert.ok(!lagGrows([3, 2, 5, 9, 2, 30]));
  assert.ok(lagGrows([10, 60, 110, 160, 210, 260]));
});

test('the pace of a tenth is its arrivals divided by its duration', () => {
  // A hundred in the first second, then a hundred in two.
  const receivedAt = Float64Array.from({ length: 200 }, (_, index) =>
    index < 100 ? (index + 1) * 10 : 1_000 + (index - 99) * 20,
  );
  const paces = throughputByTenth(receivedAt.reverse(), 0).map(Math.round);
  assert.deepEqual(paces, [100, 100, 100, 100, 100, 50, 50, 50, 50, 50]);
});
