import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { calmMs, draw, heldBy, kinds, waysOf, type Cast, type Draw } from './schedule.ts';

const cast: Cast = {
  replicas: { ingest: 2, router: 2, delivery: 2, control: 1 },
  brokers: 3,
  changing: ['changing'],
  unreliable: ['ordered'],
  users: ['user-1', 'user-2'],
};
const hour: Omit<Draw, 'seed'> = { cast, lengthMs: 3_600_000, everyMs: 5_000 };
const anySeed = fc.integer({ min: 0, max: 2 ** 31 });

test('the same seed gives the same faults, and another one others', () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const faults = draw({ ...hour, seed });
      assert.deepEqual(draw({ ...hour, seed }), faults);
      assert.notDeepEqual(draw({ ...hour, seed: seed + 1 }), faults);
    }),
    { numRuns: 20 },
  );
});

test('faults that hold the same thing never overlap, and all end in time', () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const until = new Map<string, number>();
      for (const fault of draw({ ...hour, seed })) {
        const end = fault.atMs + fault.durationMs;
        assert.ok(fault.atMs >= calmMs && end <= hour.lengthMs);
        for (const thing of heldBy(fault)) {
          assert.ok((until.get(thing) ?? 0) < fault.atMs, `${thing} is held twice at ${fault.atMs}`);
          until.set(thing, end);
        }
      }
    }),
    { numRuns: 20 },
  );
});

test('every kind is drawn, and each user is deleted once', () => {
  const faults = draw({ ...hour, seed: 7 });
  assert.deepEqual([...new Set(faults.map(({ kind }) => kind))].sort(), kinds.toSorted());
  const deleted = faults.filter(({ kind }) => kind === 'user deleted').map(({ target }) => target);
  assert.deepEqual(deleted.sort(), cast.users);
});

test('one broker is disturbed at a time, also by a link between two', () => {
  const faults = draw({ ...hour, seed: 3, kinds: ['broker killed', 'link cut'] });
  const ofBrokers = faults.filter(({ target }) => !/(ingest|router|delivery|control)-/.test(target));
  assert.ok(ofBrokers.some(({ kind }) => kind === 'link cut'));
  const overlapping = ofBrokers.filter(({ atMs }, nth) => {
    const before = ofBrokers[nth - 1];
    return before && before.atMs + before.durationMs >= atMs;
  });
  assert.deepEqual(overlapping, []);
});

test('a target names one way or both', () => {
  assert.deepEqual(waysOf('router-1>broker-2'), [['router-1', 'broker-2']]);
  assert.deepEqual(waysOf('router-1|broker-2'), [
    ['router-1', 'broker-2'],
    ['broker-2', 'router-1'],
  ]);
});
