import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { PermanentReason, RequestRetryReason } from '@tailrace/metrics';
import { classifyStatus } from '@tailrace/webhook';
import { decide, type RetryPolicy } from './transition.ts';
import type { Outcome, UrlAnswer } from './delivery.ts';
import { DueTimes } from './settle/due-times.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const now = Date.parse('2026-11-21T08:00:00Z');

const defaults: RetryPolicy = {
  scheduleMs: [10 * secondMs, minuteMs, 5 * minuteMs, 20 * minuteMs, hourMs, hourMs, hourMs, 20 * minuteMs],
  windowMs: 4 * hourMs,
};

const success: UrlAnswer = { kind: 'success', status: 200 };
const failed = (reason: RequestRetryReason, retryAfterMs?: number): UrlAnswer => ({
  kind: 'retryable',
  reason,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
const refused = (reason: PermanentReason): UrlAnswer => ({ kind: 'permanent', reason });

function decideFirst(answers: readonly UrlAnswer[], policy = defaults): Outcome {
  return decide({ step: 1, firstAttemptAt: now }, answers, policy, now);
}

function assertRetry(outcome: Outcome): asserts outcome is Extract<Outcome, { kind: 'retry' }> {
  assert.equal(outcome.kind, 'retry', JSON.stringify(outcome));
}

test('a very large Retry-After leads to the longest retry topic of the schedule', () => {
  for (const huge of ['99999999999', '9'.repeat(400)]) {
    const outcome = decideFirst([classifyStatus(503, huge, now)]);
    assertRetry(outcome);
    assert.equal(outcome.tierMs, hourMs);
  }
});

describe('the outcome of an attempt with', () => {
  const cases: readonly [title: string, answers: readonly UrlAnswer[], outcome: Partial<Outcome>][] = [
    ['one URL that takes it', [success], { kind: 'delivered' }],
    [
      'one success among failures of both kinds',
      [refused('client-error'), failed('timeout'), success],
      { kind: 'delivered' },
    ],
    ['a failure that may pass', [failed('timeout')], { kind: 'retry', reason: 'timeout' }],
    [
      'one retryable and one permanent failure',
      [refused('client-error'), failed('server-error')],
      { kind: 'retry', reason: 'server-error' },
    ],
    ['a failure for good', [refused('redirect')], { kind: 'dead', reason: 'redirect' }],
    [
      'several permanent failures',
      [refused('self-signed-certificate'), refused('client-error')],
      { kind: 'dead', reason: 'self-signed-certificate' },
    ],
  ];
  for (const [title, answers, expected] of cases) {
    test(`${title} is ${Object.values(expected).join(' because of ')}`, () => {
      assert.partialDeepStrictEqual(decideFirst(answers), expected);
    });
  }

  test('no further delay in the schedule is dead', () => {
    const last = { step: 9, firstAttemptAt: now };
    assert.deepEqual(decide(last, [failed('timeout')], defaults, now), {
      kind: 'dead',
      reason: 'attempts-exhausted',
    });
  });

  test('a next attempt after the window is dead', () => {
    const late = { step: 5, firstAttemptAt: now - 4 * hourMs + 48 * minuteMs - 1 };
    assert.deepEqual(decide(late, [failed('timeout')], defaults, now), {
      kind: 'dead',
      reason: 'window-exceeded',
    });
  });

  test('a window that only a shortened delay fits into is a retry by its end', () => {
    const windowEndsAt = now + 50 * minuteMs;
    const late = { step: 5, firstAttemptAt: windowEndsAt - 4 * hourMs };
    assert.deepEqual(decide(late, [failed('timeout')], defaults, now), {
      kind: 'retry',
      reason: 'timeout',
      tierMs: hourMs,
      earliestDueAt: now + 48 * minuteMs,
      latestDueAt: windowEndsAt,
    });
  });
});

describe('Retry-After', () => {
  const decideAsked = (retryAfterMs: number): Outcome =>
    decideFirst([failed('too-many-requests', retryAfterMs)]);

  test('10.5 selects the shortest retry topic that is long enough, and is waited in full', () => {
    const outcome = decideAsked(2 * minuteMs);
    assertRetry(outcome);
    assert.equal(outcome.tierMs, 5 * minuteMs);
    assert.equal(outcome.earliestDueAt, now + 4 * minuteMs);
    const nearlyAll = decideAsked(5 * minuteMs - secondMs);
    assertRetry(nearlyAll);
    assert.equal(nearlyAll.earliestDueAt, now + 5 * minuteMs - secondMs);
  });

  test('10.5 never shortens a delay', () => {
    const outcome = decideAsked(secondMs);
    assertRetry(outcome);
    assert.equal(outcome.tierMs, 10 * secondMs);
    assert.equal(outcome.earliestDueAt, now + 8 * secondMs);
  });

  test('of several URLs counts as the longest one', () => {
    const outcome = decideFirst([
      failed('too-many-requests', secondMs),
      failed('timeout'),
      failed('server-error', 15 * minuteMs),
    ]);
    assertRetry(outcome);
    assert.equal(outcome.tierMs, 20 * minuteMs);
    assert.equal(outcome.reason, 'too-many-requests');
  });

  test('10.5 delays by no more than the longest delay of the schedule', () => {
    const outcome = decideAsked(24 * hourMs);
    assertRetry(outcome);
    assert.equal(outcome.tierMs, hourMs);
    assert.equal(outcome.latestDueAt, now + hourMs);
  });

  test('does not end a delivery that the schedule would retry', () => {
    const state = { step: 8, firstAttemptAt: now - 3 * hourMs - 26 * minuteMs };
    const outcome = decide(state, [failed('too-many-requests', hourMs)], defaults, now);
    assertRetry(outcome);
    assert.equal(outcome.tierMs, 20 * minuteMs);
    assert.equal(outcome.earliestDueAt, now + 20 * minuteMs);
  });
});

/** Makes every attempt of a delivery that always fails, each when it is due. Returns the times of the attempts. */
function simulate(
  policy: RetryPolicy,
  options: {
    readonly random?: () => number;
    readonly answer?: (attempt: number) => UrlAnswer;
    readonly tookMs?: number;
  } = {},
): { readonly attemptedAt: readonly number[]; readonly tiersMs: readonly number[]; readonly end: Outcome } {
  const { random, answer = () => failed('server-error'), tookMs = 0 } = options;
  const dueTimes = new DueTimes(random);
  const attemptedAt: number[] = [];
  const tiersMs: number[] = [];
  let clock = now;
  for (let attempt = 1; ; attempt += 1) {
    attemptedAt.push(clock);
    clock += tookMs;
    const outcome = decide({ step: attempt, firstAttemptAt: now }, [answer(attempt)], policy, clock);
    if (outcome.kind !== 'retry') return { attemptedAt, tiersMs, end: outcome };
    const { tierMs, earliestDueAt, latestDueAt } = outcome;
    tiersMs.push(tierMs);
    clock = dueTimes.assign(String(tierMs), 0, [earliestDueAt, latestDueAt]);
  }
}

/** The next value of an infinite stream. */
const next = <T>(stream: Iterator<T>): T => (stream.next() as IteratorYieldResult<T>).value;

describe('the retry window', () => {
  test('10.1 of four hours has the nine attempts of the default schedule, and none after them', () => {
    const fullMs = 3 * hourMs + 46 * minuteMs + 10 * secondMs;
    for (const random of [Math.random, () => 0, () => 1 - Number.EPSILON]) {
      const { attemptedAt, tiersMs, end } = simulate(defaults, { random });
      assert.equal(attemptedAt.length, 9);
      assert.deepEqual(tiersMs, defaults.scheduleMs);
      assert.deepEqual(end, { kind: 'dead', reason: 'attempts-exhausted' });
      const spanMs = (attemptedAt.at(-1) ?? NaN) - now;
      assert.ok(spanMs >= 0.8 * fullMs && spanMs <= fullMs, String(spanMs));
    }
  });

  test('has all of them also where every attempt takes the full five seconds', () => {
    const { attemptedAt } = simulate(defaults, { tookMs: 5 * secondMs });
    assert.equal(attemptedAt.length, 9);
    assert.ok((attemptedAt.at(-1) ?? NaN) <= now + 4 * hourMs);
  });

  test('ends the attempts of a longer schedule', () => {
    const policy = { scheduleMs: Array.from({ length: 20 }, () => 30 * minuteMs), windowMs: 4 * hourMs };
    const slowest = simulate(policy, { random: () => 1 - Number.EPSILON });
    assert.deepEqual(slowest.end, { kind: 'dead', reason: 'window-exceeded' });
    const lastAt = slowest.attemptedAt.at(-1) ?? NaN;
    assert.ok(lastAt <= now + policy.windowMs && lastAt > now + 3 * hourMs, String(lastAt - now));
  });

  test('that is shorter than the first delay has one attempt', () => {
    const { attemptedAt, end } = simulate({ scheduleMs: [hourMs], windowMs: 40 * minuteMs });
    assert.deepEqual(attemptedAt, [now]);
    assert.deepEqual(end, { kind: 'dead', reason: 'window-exceeded' });
  });

  test('10.2 10.3 is never exceeded, and every delay is 80 to 100 % of its retry topic, for all schedules and receivers', () => {
    const delayMs = fc.integer({ min: 1, max: 5 * hourMs });
    fc.assert(
      fc.property(
        fc.array(delayMs, { minLength: 1, maxLength: 12, size: 'max' }),
        fc.integer({ min: 1, max: 8 * hourMs }),
        fc.infiniteStream(fc.option(fc.integer({ min: 0, max: 10 * hourMs }), { nil: undefined })),
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        fc.integer({ min: 0, max: 10_000 }),
        (scheduleMs, windowMs, retryAfters, randoms, tookMs) => {
          const { attemptedAt, tiersMs } = simulate(
            { scheduleMs, windowMs },
            { tookMs, random: () => next(randoms), answer: () => failed('server-error', next(retryAfters)) },
          );
          assert.ok(attemptedAt.length <= scheduleMs.length + 1);
          attemptedAt.slice(1).forEach((at, index) => {
            assert.ok(at <= now + windowMs);
            const waitedMs = at - (attemptedAt[index] ?? NaN) - tookMs;
            const tierMs = tiersMs[index] ?? NaN;
            assert.ok(scheduleMs.includes(tierMs) && tierMs >= (scheduleMs[index] ?? NaN));
            assert.ok(waitedMs >= 0.8 * tierMs && waitedMs <= tierMs, `${waitedMs} of ${tierMs}`);
          });
        },
      ),
    );
  });
});
