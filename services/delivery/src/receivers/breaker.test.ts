import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Breaker, type BreakerState } from './breaker.ts';

function openBreaker() {
  const states: BreakerState[] = [];
  const breaker = new Breaker((state) => states.push(state));
  return { breaker, states };
}

/** Reports the failures that open the breaker, the last one at `now`. */
function fail(breaker: Breaker, now: number): void {
  for (let count = 9; count >= 0; count -= 1) breaker.report(false, now - count * 1_200);
}

test('9.6 a breaker opens after a time of failures only, and parks deliveries', () => {
  const { breaker, states } = openBreaker();
  for (let count = 0; count < 4; count += 1) breaker.report(false, count * 3_000);
  assert.equal(breaker.permit(10_000), 'send');
  breaker.report(false, 10_000);
  assert.equal(breaker.permit(10_000), 'park');
  assert.deepEqual(states, ['open']);
});

test('`since` is when the breaker opened, also after failed probes, or when it closed again', () => {
  const { breaker } = openBreaker();
  assert.equal(breaker.since, -Infinity);
  fail(breaker, 20_000);
  assert.equal(breaker.since, 20_000);
  assert.equal(breaker.permit(25_000), 'probe');
  breaker.report(false, 25_100);
  assert.equal(breaker.since, 20_000);
  assert.equal(breaker.permit(36_000), 'probe');
  breaker.report(true, 36_100);
  assert.equal(breaker.since, 36_100);
});

test('a burst of failures does not open the breaker', () => {
  const { breaker } = openBreaker();
  for (let count = 0; count < 1_000; count += 1) breaker.report(false, count * 9);
  assert.equal(breaker.permit(9_000), 'send');
});

test('few failures that are far apart do not open the breaker', () => {
  const { breaker } = openBreaker();
  for (let count = 0; count < 4; count += 1) breaker.report(false, count * 60_000);
  assert.equal(breaker.permit(240_000), 'send');
});

test('the breaker of a URL that answers some requests never opens', () => {
  const { breaker } = openBreaker();
  for (let count = 1; count <= 10_000; count += 1) breaker.report(count % 20 === 0, count * 150);
  assert.equal(breaker.permit(1_500_001), 'send');
});

test('9.6 after some time one request is a probe, and its success closes the breaker', () => {
  const { breaker, states } = openBreaker();
  fail(breaker, 0);
  assert.equal(breaker.permit(4_999), 'park');
  assert.equal(breaker.permit(5_000), 'probe');
  assert.equal(breaker.permit(5_001), 'park');
  breaker.report(true, 5_100);
  assert.equal(breaker.permit(5_100), 'send');
  assert.deepEqual(states, ['open', 'half-open', 'closed']);
});

test('9.6 a request to another URL of the destination probes it once a second, and does not change when the next probe is due', () => {
  const { breaker, states } = openBreaker();
  fail(breaker, 0);
  assert.equal(breaker.permit(999, true), 'park');
  for (const now of [1_000, 2_000, 3_000, 4_000]) {
    assert.equal(breaker.permit(now, true), 'probe');
    // One probe at a time.
    assert.equal(breaker.permit(now, true), 'park');
    breaker.report(false, now);
    assert.equal(breaker.permit(now + 999, true), 'park');
  }
  assert.equal(breaker.permit(4_999), 'park');
  assert.equal(breaker.permit(5_000), 'probe');
  breaker.report(false, 5_000);
  assert.equal(breaker.permit(14_999), 'park');
  assert.equal(breaker.permit(14_999, true), 'probe');
  breaker.report(true, 14_999);
  assert.equal(breaker.permit(14_999, true), 'send');
  assert.equal(states.at(-1), 'closed');
});

test('each failed probe doubles the time until the next one, up to a minute', () => {
  const { breaker } = openBreaker();
  fail(breaker, 0);
  let now = 0;
  for (const waitMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
    assert.equal(breaker.permit(now + waitMs - 1), 'park');
    now += waitMs;
    assert.equal(breaker.permit(now), 'probe');
    breaker.report(false, now);
  }
});

test('a late failure of a request sent before the breaker opened changes nothing, a late success closes it', () => {
  const { breaker } = openBreaker();
  fail(breaker, 0);
  for (let count = 0; count < 20; count += 1) breaker.report(false, 1_000);
  assert.equal(breaker.permit(5_000), 'probe');
  breaker.report(false, 5_000);
  breaker.report(true, 5_001);
  assert.equal(breaker.permit(5_002), 'send');
});

test('one delivery claims the next probe, and another one may when it does not return', () => {
  const { breaker } = openBreaker();
  assert.equal(breaker.claimProbe(0), undefined);
  fail(breaker, 0);
  assert.equal(breaker.claimProbe(1_000), 4_000);
  assert.equal(breaker.claimProbe(1_000), undefined);
  assert.equal(breaker.claimProbe(34_999), undefined);
  assert.equal(breaker.claimProbe(35_000), 0);
});

test('the delivery of a failed probe may claim the next one', () => {
  const { breaker } = openBreaker();
  fail(breaker, 0);
  breaker.claimProbe(0);
  assert.equal(breaker.permit(5_000), 'probe');
  assert.equal(breaker.claimProbe(5_000), undefined, 'one is being made');
  breaker.report(false, 6_000);
  assert.equal(breaker.claimProbe(6_000), 10_000);
});

test('a success closes the breaker after any sequence of events', () => {
  const event = fc.record({ succeeded: fc.boolean(), ask: fc.boolean(), passMs: fc.nat(20_000) });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200 }), (events) => {
      const { breaker } = openBreaker();
      let now = 0;
      for (const { succeeded, ask, passMs } of events) {
        now += passMs;
        if (ask) breaker.permit(now);
        breaker.report(succeeded, now);
      }
      breaker.report(true, now);
      assert.equal(breaker.permit(now), 'send');
      now += 60_000;
      assert.notEqual(breaker.permit(now), 'park');
    }),
  );
});
