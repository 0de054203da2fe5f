import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { receiverOf } from './receivers/receivers.ts';
import { behindUntil, windowBegan, windowEndedReason } from './transition.ts';

const now = 1_800_000_000_000;
const hour = 3_600_000;

describe('a receiver', () => {
  const never = { state: 'closed', since: -Infinity } as const;
  const again = { state: 'closed', since: 7_000 } as const;
  const down = { state: 'open', since: 5_000 } as const;
  const probed = { state: 'half-open', since: 6_000 } as const;

  test('is down since its last URL went down', () => {
    assert.deepEqual(receiverOf([down, probed], now), { isDown: true, since: now + 6_000 });
  });

  test('is up since its first URL went up', () => {
    assert.deepEqual(receiverOf([down, again], now), { isDown: false, since: now + 7_000 });
    assert.deepEqual(receiverOf([down, again, never], now), { isDown: false, since: -Infinity });
    assert.deepEqual(receiverOf([], now), { isDown: false, since: -Infinity });
  });
});

describe('a window', () => {
  const down = { isDown: true, since: now - hour };
  const up = { isDown: false, since: now - hour };

  test('begins with the first attempt, whether the receiver is up or down', () => {
    for (const receiver of [down, up]) {
      assert.equal(
        windowBegan({ attempt: 1, firstAttemptAt: now - 2 * hour }, receiver, now),
        now - 2 * hour,
      );
    }
  });

  test('10.6 begins without an attempt while the receiver is down, and not earlier', () => {
    assert.equal(windowBegan({ attempt: 0 }, down, now), now);
    assert.equal(windowBegan({ attempt: 0, firstAttemptAt: now - 5 }, down, now), now - 5);
    assert.equal(windowBegan({ attempt: 0, firstAttemptAt: now - 2 * hour }, down, now), now - hour);
    assert.equal(windowBegan({ attempt: 0, firstAttemptAt: now - 5 }, up, now), undefined);
  });

  test('that has ended without an attempt has its own reason', () => {
    assert.equal(windowEndedReason({ attempt: 0 }), 'circuit-open');
    assert.equal(windowEndedReason({ attempt: 1 }), 'window-exceeded');
  });
});

test('a delivery behind another waits longer where the receiver is down, and less where it has recovered', () => {
  const until = (isDown: boolean, forMs: number): number =>
    behindUntil(now + 60_000, { isDown, since: now - forMs }, now + 2 * hour, now) - now;
  assert.deepEqual(
    [1_000, 60_000, hour].map((forMs) => until(true, forMs)),
    [60_000, 600_000, 2 * hour],
  );
  assert.deepEqual(
    [1_000, 20_000, hour, Infinity].map((forMs) => until(false, forMs)),
    [10_000, 20_000, 60_000, 60_000],
  );
});
