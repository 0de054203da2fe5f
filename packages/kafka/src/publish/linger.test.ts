/** Waits of a sender in simulated time. A request takes 2 ms, as with a broker on the same machine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '@tailrace/testing';
import { Linger } from './linger.ts';

const requestMs = 2;

interface Simulated {
  readonly recordsPerRequest: number;
  readonly recordsPerSecond: number;
  /** From the arrival of a record to the begin of its request. */
  readonly meanWaitMs: number;
  readonly longestWaitMs: number;
}

/** @param again when the sender of a record that is acknowledged sends its next one; undefined: never */
function simulate(
  linger: Linger,
  arrivals: readonly number[],
  again: (acknowledgedAt: number) => number | undefined = () => undefined,
): Simulated {
  let coming = [...arrivals];
  let now = 0;
  let [requests, records, waitedMs, longestWaitMs] = [0, 0, 0, 0];
  let queue: { since: number }[] = [];
  const arrive = (until: number): number => {
    const due = coming.filter((at) => at <= until).sort((a, b) => a - b);
    coming = coming.filter((at) => at > until);
    queue.push(...due.map((since) => ({ since })));
    return due.length;
  };
  while (coming.length > 0 && requests < 20_000) {
    if (queue.length === 0) arrive((now = Math.max(now, Math.min(...coming))));
    const waitsUntil = now + linger.leftMs(queue[0]?.since ?? NaN, now);
    while (!linger.isEnough(queue.length) && Math.min(...coming) <= waitsUntil)
      arrive((now = Math.max(now, Math.min(...coming))));
    if (!linger.isEnough(queue.length)) now = waitsUntil;
    const request = queue;
    queue = [];
    linger.sending(request, now);
    requests += 1;
    records += request.length;
    for (const { since } of request) {
      waitedMs += now - since;
      longestWaitMs = Math.max(longestWaitMs, now - since);
    }
    now += requestMs;
    linger.answered(requestMs, arrive(now), now);
    coming.push(...request.map(() => again(now)).filter((next) => next !== undefined));
  }
  return {
    recordsPerRequest: records / requests,
    recordsPerSecond: (records / now) * 1_000,
    meanWaitMs: waitedMs / records,
    longestWaitMs,
  };
}

/** The times of records that arrive independently of each other. */
function independent(perSecond: number, count: number): number[] {
  const next = seeded(1);
  let at = 0;
  // In parts of a millisecond of which sums are exact.
  const apart = (): number => Math.round((-Math.log(1 - next()) * 1_024_000) / perSecond) / 1_024;
  return Array.from({ length: count }, () => (at += apart()));
}

test('records that arrive independently share requests', () => {
  const without = simulate(new Linger(0), independent(200, 2_000));
  const { recordsPerRequest, longestWaitMs } = simulate(new Linger(8), independent(200, 2_000));
  assert.ok(recordsPerRequest > 2.2, `${recordsPerRequest} records a request`);
  assert.ok(recordsPerRequest > without.recordsPerRequest * 1.6);
  assert.ok(longestWaitMs <= 8);
  assert.ok(simulate(new Linger(8), independent(1_000, 3_000)).recordsPerRequest > 8);
});

test('where few records arrive, hardly any waits', () => {
  const { meanWaitMs } = simulate(new Linger(8), independent(20, 2_000));
  assert.ok(meanWaitMs < 0.3, `${meanWaitMs} ms`);
});

test('senders that wait for their acknowledgements lose at most a tenth of their pace', () => {
  const soon = [1, 2, 4, 8, 64, 500].map((senders) => ({ senders, withinMs: 1 }));
  for (const { senders, withinMs } of [
    ...soon,
    { senders: 64, withinMs: 8 },
    { senders: 200, withinMs: 30 },
  ]) {
    const pace = (linger: Linger): number => {
      const share = seeded(1);
      let left = senders * 1_000;
      const again = (now: number): number | undefined => (left-- > 0 ? now + share() * withinMs : undefined);
      return simulate(linger, Array(senders).fill(0) as number[], again).recordsPerSecond;
    };
    const [fast, slow] = [pace(new Linger(0)), pace(new Linger(8))];
    assert.ok(slow > fast * 0.9, `${senders} senders in ${withinMs} ms: ${slow} instead of ${fast} a second`);
  }
});

test('waiting ends when fewer records arrive', () => {
  const linger = new Linger(8);
  const busy = independent(1_000, 2_000);
  const end = busy.at(-1) ?? 0;
  simulate(linger, [...busy, ...independent(10, 100).map((at) => end + at)]);
  assert.equal(linger.leftMs(end + 20_000, end + 20_000), 0);
});
