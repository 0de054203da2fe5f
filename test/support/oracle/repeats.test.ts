import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainRepeats, type Cause, type Disruption, type LoggedAttempt, type Trail } from './repeats.ts';

const withinMs = 500;

function trail(more: Partial<Trail>): Trail {
  const { delivered = [] } = more;
  const none = { died: [], attempts: [] };
  return {
    delivery: 'event-1 at crm',
    partition: 0,
    written: 1,
    delivered,
    traces: delivered,
    ...none,
    ...more,
  };
}

function disruption(kind: Disruption['kind'], from: number, until = from, partition = 0): Disruption {
  return { kind, partitions: new Set([partition]), from, until };
}

function attempt(from: number, until: number, succeeded: boolean, timedOut = false): LoggedAttempt {
  return { from, until, succeeded, timedOut };
}

/** The causes of the repeats; 'unexplained' for those without one. */
function causesOf(trails: readonly Trail[], ...disruptions: readonly Disruption[]): Record<string, number> {
  const { causes, unexplained } = explainRepeats(trails, disruptions, withinMs);
  const found = Object.entries(causes).filter(([, count]) => count > 0);
  return { ...Object.fromEntries(found), ...(unexplained.length > 0 && { unexplained: unexplained.length }) };
}

test('a delivery that arrived once needs no explanation', () => {
  assert.deepEqual(causesOf([trail({ delivered: [1_000] }), trail({})], disruption('killed', 1_000)), {});
});

test('a delivery that arrived shortly before its owner was killed is explained by the kill', () => {
  assert.deepEqual(causesOf([trail({ delivered: [700, 9_000] })], disruption('killed', 1_000)), {
    killed: 1,
  });
  const { oldestMs } = explainRepeats(
    [trail({ delivered: [700, 9_000] })],
    [disruption('killed', 1_000)],
    withinMs,
  );
  assert.equal(oldestMs, 300);
});

test('a delivery that arrived long before, in another partition, or twice before the kill is unexplained', () => {
  const unexplained = { unexplained: 1 };
  assert.deepEqual(causesOf([trail({ delivered: [400, 9_000] })], disruption('killed', 1_000)), unexplained);
  assert.deepEqual(
    causesOf([trail({ delivered: [900, 9_000] })], disruption('killed', 1_000, 1_000, 1)),
    unexplained,
  );
  assert.deepEqual(causesOf([trail({ delivered: [900, 950] })], disruption('killed', 1_000)), unexplained);
  assert.deepEqual(causesOf([trail({ delivered: [900, 950] })]), unexplained);
});

test('a request that its sender did not live to log was sent before the kill, whenever the receiver read it', () => {
  const attempts = [attempt(19_990, 20_010, true)];
  const late = trail({ delivered: [9_000, 20_000], attempts });
  assert.deepEqual(causesOf([late], disruption('killed', 1_000)), { killed: 1 });
  const logged = trail({ delivered: [9_000, 20_000], attempts: [attempt(8_990, 9_010, true), ...attempts] });
  assert.deepEqual(causesOf([logged], disruption('killed', 1_000)), { unexplained: 1 });
  assert.deepEqual(causesOf([late], disruption('moved', 1_000)), { unexplained: 1 });
});

test('a delivery that failed before the kill and moved to a tier may have two records', () => {
  const forked = trail({ delivered: [9_000, 9_500], traces: [950, 960, 9_000, 9_500] });
  assert.deepEqual(causesOf([forked], disruption('killed', 1_000)), { killed: 1 });
});

test('while nothing can be committed, every delivery may be repeated', () => {
  const [early, late] = [trail({ delivered: [2_000, 20_000] }), trail({ delivered: [12_000, 20_000] })];
  assert.deepEqual(causesOf([early, late], disruption('cut off', 1_000, 10_000)), {
    'cut off': 1,
    unexplained: 1,
  });
});

test('one disruption explains two records and no more', () => {
  const often = trail({ delivered: [900, 5_000, 5_100, 15_000] });
  assert.deepEqual(causesOf([often], disruption('killed', 1_000)), { killed: 2, unexplained: 1 });
  const both = [disruption('killed', 1_000), disruption('moved', 14_000)];
  assert.deepEqual(causesOf([often], ...both), { killed: 2, unexplained: 1 });
  const close = [disruption('killed', 1_000), disruption('moved', 5_200)];
  assert.deepEqual(causesOf([often], ...close), { killed: 2, moved: 1 });
});

const lost: Readonly<Record<string, Partial<Trail>>> = {
  'that the service did not get': {
    delivered: [1_000, 2_000],
    attempts: [attempt(990, 1_010, false), attempt(1_990, 2_010, true)],
  },
  'for which it asked again within the attempt': {
    delivered: [1_000, 1_005],
    attempts: [attempt(990, 1_010, true)],
  },
};
for (const [what, more] of Object.entries(lost)) {
  test(`an answer ${what} is a cause`, () => {
    assert.deepEqual(causesOf([trail(more)]), { 'lost answer': 1 } satisfies Partial<Record<Cause, number>>);
  });
}

test('a request whose sender gave up may be read at any time, once', () => {
  const late = (timedOut: boolean): LoggedAttempt[] => [
    attempt(1_000, 2_000, false, timedOut),
    attempt(4_000, 4_100, true),
  ];
  const timesOf = [
    [3_000, 4_050],
    [4_020, 4_050],
    [4_050, 9_000],
  ];
  for (const delivered of timesOf) {
    assert.deepEqual(causesOf([trail({ delivered, attempts: late(true) })]), { 'lost answer': 1 });
  }
  assert.deepEqual(causesOf([trail({ delivered: [3_000, 4_050], attempts: late(false) })]), {
    unexplained: 1,
  });
  assert.deepEqual(causesOf([trail({ delivered: [3_000, 4_050, 9_000], attempts: late(true) })]), {
    'lost answer': 1,
    unexplained: 1,
  });
});

test('attempts of two owners at the same time are no lost answer', () => {
  const attempts = [attempt(990, 1_400, true), attempt(1_100, 1_110, true)];
  const overlapping = trail({ delivered: [1_000, 1_105], attempts });
  assert.deepEqual(causesOf([overlapping], disruption('moved', 1_050)), { moved: 1 });
});

test('a delivery that its publisher wrote twice arrives twice', () => {
  assert.deepEqual(causesOf([trail({ delivered: [1_000, 2_000], written: 2 })]), { 'written twice': 1 });
});

test('a repeat after a kill is explained by it, also where a copy may have been written twice', () => {
  const repeated = trail({ delivered: [900, 2_000], written: 2 });
  assert.deepEqual(causesOf([repeated], disruption('killed', 1_000)), { killed: 1 });
});

test('a dead letter is an arrival, and no answer', () => {
  const attempts = [attempt(990, 1_010, false)];
  const died = trail({ delivered: [5_000], died: [1_012], traces: [995, 1_012], attempts });
  assert.deepEqual(causesOf([died], disruption('killed', 1_100)), { killed: 1 });
  assert.deepEqual(causesOf([died]), { unexplained: 1 });
});
