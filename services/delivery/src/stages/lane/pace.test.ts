import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from './pace.ts';

/** Sends at the pace, or 400 a second, to a receiver that accepts `limit` requests in each second and rejects the others. */
function askFor(pace: Pace, limit: number, from: number, seconds: number) {
  let now = from;
  let inSecond = 0;
  let second = Math.floor(now / 1_000);
  const counts = { taken: 0, refused: 0 };
  while (now < from + seconds * 1_000) {
    now += 1_000 / Math.min(pace.rate, 400);
    if (Math.floor(now / 1_000) !== second) {
      second = Math.floor(now / 1_000);
      inSecond = 0;
    }
    inSecond += 1;
    const refused = inSecond > limit;
    counts[refused ? 'refused' : 'taken'] += 1;
    pace.answered(refused, now);
  }
  return counts;
}

test('there is no pace before a receiver answers 429', () => {
  const pace = new Pace();
  for (let now = 0; now < 10_000; now += 1) pace.answered(false, now);
  assert.equal(pace.rate, Infinity);
});

test('the pace stays close to what the receiver accepts, and few requests are rejected', () => {
  for (const limit of [2, 10, 50, 200]) {
    const pace = new Pace();
    askFor(pace, limit, 0, 5);
    const { taken, refused } = askFor(pace, limit, 5_000, 600);
    assert.ok(taken > 0.8 * limit * 600, `${limit} a second: took ${taken} in ten minutes`);
    assert.ok(refused < 0.02 * taken + 100, `${limit} a second: turned away ${refused}, took ${taken}`);
  }
});

test('the pace follows a receiver that accepts less than before, and one that accepts more', () => {
  const pace = new Pace();
  askFor(pace, 100, 0, 60);
  askFor(pace, 25, 60_000, 10);
  assert.ok(pace.rate < 50, `${pace.rate}`);
  askFor(pace, 300, 70_000, 60);
  assert.ok(pace.rate > 200, `${pace.rate}`);
});

test('a receiver that rejects some requests at any pace is not starved', () => {
  const pace = new Pace();
  let taken = 0;
  for (let now = 0, nth = 1; now < 600_000; nth += 1) {
    now += 1_000 / Math.min(pace.rate, 200);
    if (nth % 4 > 0) taken += 1;
    pace.answered(nth % 4 === 0, now);
  }
  assert.ok(taken > 0.2 * 150 * 600, `took ${taken} in ten minutes`);
});

test('a receiver that rejects everything gets one request a second', () => {
  const pace = new Pace();
  askFor(pace, 0, 0, 60);
  assert.equal(pace.rate, 1);
});

test('the pace is dropped where the receiver accepts everything', () => {
  const pace = new Pace();
  askFor(pace, 50, 0, 20);
  askFor(pace, Infinity, 20_000, 120);
  assert.equal(pace.rate, Infinity);
});
