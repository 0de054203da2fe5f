import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasRecovered, isFailing, withAttempt, type Streak } from './receiver-health.ts';

const afterMs = 120_000;
/** The streak after attempts at these seconds; a negative one failed. */
function streakOf(...seconds: readonly number[]): Streak {
  let streak: Streak | undefined;
  for (const second of seconds) {
    const failed = { outcome: 'retry', reason: 'timeout' } as const;
    const outcome = second < 0 ? failed : ({ outcome: 'delivered' } as const);
    streak = withAttempt(streak, outcome, Math.abs(second) * 1_000);
  }
  assert.ok(streak);
  return streak;
}

test('a receiver fails once three attempts in a row have failed over the time', () => {
  assert.equal(isFailing(streakOf(-1, -2, -121), afterMs), true);
  assert.equal(isFailing(streakOf(-1, -2, -120), afterMs), false, 'too short');
  assert.equal(isFailing(streakOf(-1, -200), afterMs), false, 'too few');
  assert.equal(isFailing(streakOf(-1, -2, 60, -61, -62, -121), afterMs), false, 'a success begins again');
  assert.equal(isFailing(streakOf(-121, -2, -1), afterMs), true, 'partitions are read in any order');
});

test('it has recovered after three successes, or after one and no failure for the time', () => {
  assert.equal(hasRecovered(streakOf(-1, 2, 3), afterMs, 4_000), false);
  assert.equal(hasRecovered(streakOf(-1, 2, 3, 3), afterMs, 4_000), true);
  assert.equal(hasRecovered(streakOf(-1, 2), afterMs, 122_000), true);
  assert.equal(hasRecovered(streakOf(-1, 2, -3), afterMs, 900_000), false);
  assert.equal(hasRecovered(streakOf(-1, -2, -3), afterMs, 900_000), false);
});

test('a receiver that fails every other attempt neither fails nor recovers', () => {
  const seconds = Array.from({ length: 1_000 }, (_, nth) => (nth % 2 === 0 ? nth + 1 : -(nth + 1)));
  for (let length = 1; length < seconds.length; length += 97) {
    const streak = streakOf(...seconds.slice(0, length));
    assert.deepEqual(
      [isFailing(streak, afterMs), hasRecovered(streak, afterMs, length * 1_000)],
      [false, false],
    );
  }
});
