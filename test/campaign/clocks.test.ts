import assert from 'node:assert/strict';
import { test } from 'node:test';
import { possibleTimes, rightTime } from './clocks.ts';
import type { Episode } from './facts.ts';
import type { Kind } from './schedule.ts';

const hourMs = 3_600_000;

function episodeOf(kind: Kind, id: number): Episode {
  const fault = { id, kind, target: 'router-1', atMs: 0, durationMs: 10_000 };
  return { fault, beganAt: 100_000, endedAt: 110_000, settledAt: 111_000 };
}

test('a clock that jumped shows another hour, and a drifting one goes away from the right time', () => {
  assert.equal(rightTime(episodeOf('clock jumped', 3), 104_000 - hourMs), 104_000);
  assert.equal(Math.round(rightTime(episodeOf('clock drifted', 2), 104_400) ?? NaN), 104_000);
  assert.equal(Math.round(rightTime(episodeOf('clock drifted', 1), 107_200) ?? NaN), 108_000);
});

test('a time that the clock did not show during the fault is as it is', () => {
  const episodes = [
    episodeOf('clock jumped', 2),
    episodeOf('clock drifted', 1),
    episodeOf('service killed', 3),
  ];
  assert.deepEqual(possibleTimes(200_000, episodes), [200_000]);
  assert.deepEqual(possibleTimes(105_000 + hourMs, episodes), [105_000 + hourMs, 105_000]);
});
