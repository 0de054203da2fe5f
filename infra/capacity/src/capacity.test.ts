import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assumptions, capacityFor, type Load } from './model.ts';

const anyLoad = fc.record({
  eventsPerSecond: fc.integer({ min: 1, max: 1_000_000 }),
  bytes: fc.integer({ min: 1, max: 32 * 1024 }),
  destinations: fc.integer({ min: 1, max: 20 }),
});

const needsOf = (load: Load) => {
  const { replicas, partitions, brokers, writtenMBPerSecond } = capacityFor(load);
  return [replicas.ingest, replicas.router, replicas.delivery, partitions, brokers, writtenMBPerSecond];
};

test('a larger load never needs less', () => {
  fc.assert(
    fc.property(anyLoad, fc.constantFrom('eventsPerSecond', 'bytes', 'destinations'), (load, field) => {
      const more = needsOf({ ...load, [field]: load[field] * 2 });
      for (const [index, need] of needsOf(load).entries()) assert.ok((more[index] ?? 0) >= need);
    }),
  );
});

test('what is planned is enough: no part saturates below the load, and there are partitions for all replicas', () => {
  fc.assert(
    fc.property(anyLoad, (load) => {
      const { replicas, partitions, brokers, cores, diskGBPerBroker, writtenMBPerSecond, saturates } =
        capacityFor(load);
      assert.ok(saturates.eventsPerSecond >= load.eventsPerSecond);
      assert.ok(partitions >= Math.max(replicas.router, replicas.delivery));
      assert.ok(cores.delivery <= replicas.delivery * assumptions.busyShare);
      // Megabytes a second for days, on all brokers.
      const stored =
        writtenMBPerSecond *
        assumptions.copies *
        assumptions.compressedShare *
        86_400 *
        assumptions.retentionDays;
      const disks = (diskGBPerBroker * brokers * 1_000) / assumptions.diskReserve;
      assert.ok(Math.abs(disks - stored) <= stored * 1e-9);
    }),
  );
});
