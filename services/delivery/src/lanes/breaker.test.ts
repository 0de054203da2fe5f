import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Breaker, Breakers, type BreakerState } from './breaker.ts';

function openBreaker() {
  const states: BreakerState[] = [];
  const breaker = new Breaker((state) => states.push(state));
  return { breaker, states };
}

/** Reports as many failures as open it, the last of them at `now`. */
function fail(breaker: Breaker, now: number): void {
  for (let count = 9; count >= 0; count -= 1) breaker.report(false, now - count * 1_200);
}

test('it opens after a run of failures that went on for a while, and parks what comes', () => {
  const { breaker, states } = openBreaker();
  for (let count = 0; count < 9; count += 1) breaker.report(false, count * 1_200);
  assert.equal(breaker.ask(10_000), 'send');
  breaker.report(false, 10_000);
  assert.equal(breaker.ask(10_000), 'park');
  assert.deepEqual(states, ['open']);
});

test('a burst of failures does not open it', () => {
  const { breaker } = openBreaker();
  for (let count = 0; count < 1_000; count += 1) breaker.report(false, count * 9);
  assert.equal(breaker.ask(9_000), 'send');
});

test('a success between failures starts the run anew', () => {
  const { breaker } = openBreaker();
  for (let count = 0; count < 40; count += 1) breaker.report(count % 9 === 8, 0);
  assert.equal(breaker.ask(0), 'send');
});

test('it opens where most of many attempts fail, without a run', () => {
  const { breaker } = openBreaker();
  for (let count = 1; count <= 69; count += 1) breaker.report(count % 7 === 0, 20_000 + count * 150);
  assert.equal(breaker.ask(31_000), 'park');
});

test('failures of long ago do not count', () => {
  const { breaker } = openBreaker();
  for (let count = 1; count <= 45; count += 1) breaker.report(count % 7 === 0, 0);
  for (let count = 1; count <= 45; count += 1) breaker.report(count % 7 === 0, 20_000);
  assert.equal(breaker.ask(20_000), 'send');
});

test('after a while one request probes, and a success closes it', () => {
  const { breaker, states } = openBreaker();
  fail(breaker, 0);
  assert.equal(breaker.ask(4_999), 'park');
  assert.equal(breaker.ask(5_000), 'probe');
  assert.equal(breaker.ask(5_001), 'park');
  breaker.report(true, 5_100);
  assert.equal(breaker.ask(5_100), 'send');
  assert.deepEqual(states, ['open', 'half-open', 'closed']);
});

test('each probe that fails doubles the time until the next, up to a minute', () => {
  const { breaker } = openBreaker();
  fail(breaker, 0);
  let now = 0;
  for (const waitMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
    assert.equal(breaker.ask(now + waitMs - 1), 'park');
    now += waitMs;
    assert.equal(breaker.ask(now), 'probe');
    breaker.report(false, now);
  }
});

test('late failures of requests sent before it opened change nothing, late successes close it', () => {
  const { breaker } = openBreaker();
  fail(breaker, 0);
  for (let count = 0; count < 20; count += 1) breaker.report(false, 1_000);
  assert.equal(breaker.ask(5_000), 'probe');
  breaker.report(false, 5_000);
  breaker.report(true, 5_001);
  assert.equal(breaker.ask(5_002), 'send');
});

test('a probe whose end is never told does not keep it half-open for good', () => {
  const { breaker } = openBreaker();
  fail(breaker, 0);
  assert.equal(breaker.ask(5_000), 'probe');
  assert.equal(breaker.ask(34_999), 'park');
  assert.equal(breaker.ask(35_000), 'probe');
});

test('whatever happened, a success is all it takes to send again', () => {
  const event = fc.record({ succeeded: fc.boolean(), ask: fc.boolean(), passMs: fc.nat(20_000) });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200 }), (events) => {
      const { breaker } = openBreaker();
      let now = 0;
      for (const { succeeded, ask, passMs } of events) {
        now += passMs;
        if (ask) breaker.ask(now);
        breaker.report(succeeded, now);
      }
      breaker.report(true, now);
      assert.equal(breaker.ask(now), 'send');
      now += 60_000;
      assert.notEqual(breaker.ask(now), 'park');
    }),
  );
});

test('each host has its own', () => {
  const changes: string[] = [];
  const breakers = new Breakers((host, state) => changes.push(`${host} ${state}`));
  fail(breakers.of('https://a'), 0);
  assert.equal(breakers.of('https://a').ask(0), 'park');
  assert.equal(breakers.of('https://b').ask(0), 'send');
  assert.deepEqual(changes, ['https://a open']);
  assert.equal(breakers.count('open'), 1);
});
