import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Assigner, Cluster } from 'kafkajs';
import { coPartitionedAssigners, sharePartitions, withoutOwned } from './assigner.ts';
import kafkajs from '../library.ts';

const { MemberAssignment } = kafkajs.AssignerProtocol;

interface Claim {
  readonly memberId: string;
  readonly owned: readonly number[];
}

/** Members with what they say they own: it may overlap, repeat itself, and name partitions that there are not. */
const claims = fc.uniqueArray(
  fc.record({
    memberId: fc.string({ minLength: 1, maxLength: 4 }),
    owned: fc.array(fc.integer({ min: -1, max: 20 })),
  }),
  { selector: ({ memberId }) => memberId, minLength: 1, maxLength: 8 },
);

/** Claims as they are where all is well: each partition has one owner at most. */
const honestClaims = fc
  .record({ members: fc.integer({ min: 1, max: 8 }), owners: fc.array(fc.nat(10), { maxLength: 20 }) })
  .map(({ members, owners }) =>
    Array.from({ length: members }, (_, member): Claim => {
      const owned = owners.flatMap((owner, partition) => (owner === member ? [partition] : []));
      return { memberId: `member-${member}`, owned };
    }),
  );

test('every partition is assigned exactly once, and shares differ by one at most, for any claims', () => {
  fc.assert(
    fc.property(claims, fc.nat(16), (claims, count) => {
      const shares = sharePartitions(claims, count);
      assert.deepEqual([...shares.keys()].sort(), claims.map(({ memberId }) => memberId).sort());
      const all = [...shares.values()].flat().sort((a, b) => a - b);
      assert.deepEqual(
        all,
        Array.from({ length: count }, (_, partition) => partition),
      );
      const sizes = [...shares.values()].map((share) => share.length);
      assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
    }),
  );
});

test('only the partitions move that an even split requires', () => {
  fc.assert(
    fc.property(honestClaims, fc.nat(20), (claims, count) => {
      const shares = sharePartitions(claims, count);
      const owned = new Map(
        claims.map(({ memberId, owned }) => [memberId, owned.filter((partition) => partition < count)]),
      );
      let kept = 0;
      for (const [memberId, share] of shares) {
        kept += share.filter((partition) => owned.get(memberId)?.includes(partition)).length;
      }
      const least = Math.floor(count / claims.length);
      const sizes = [...owned.values()].map((owned) => owned.length);
      const withMore = sizes.filter((size) => size > least).length;
      const most =
        sizes.reduce((sum, size) => sum + Math.min(size, least), 0) +
        Math.min(withMore, count % claims.length);
      assert.equal(kept, most);
    }),
  );
});

test('the assignment does not depend on the order in which members are listed', () => {
  fc.assert(
    fc.property(claims, fc.nat(16), (claims, count) => {
      assert.deepEqual(
        [...sharePartitions(claims, count)].sort(),
        [...sharePartitions([...claims].reverse(), count)].sort(),
      );
    }),
  );
});

const counts: Record<string, number> = { deliveries: 6, 'deliveries.retry.10s': 6, short: 2 };
const cluster = {
  findTopicPartitionMetadata: (topic: string) =>
    Array.from({ length: counts[topic] ?? 0 }, (_, partitionId) => ({ partitionId })),
} as unknown as Cluster;

/** The protocol of one name. */
function assignerOf(owned: number[], name = 'tailrace-co-partitioned'): Assigner {
  const assigners = coPartitionedAssigners(() => owned).map((create) => create({ cluster }));
  const assigner = assigners.find((one) => one.name === name);
  assert.ok(assigner);
  return assigner;
}

async function assignmentOf(assigning: ReturnType<Assigner['assign']>): Promise<Record<string, unknown>> {
  return Object.fromEntries(
    (await assigning).map(({ memberId, memberAssignment }) => [
      memberId,
      MemberAssignment.decode(memberAssignment)?.assignment,
    ]),
  );
}

test('one member owns the same partition numbers of every topic', async () => {
  const topics = Object.keys(counts);
  const member = (memberId: string, owned: number[]) => ({
    memberId,
    memberMetadata: assignerOf(owned).protocol({ topics }).metadata,
  });
  const members = [
    member('a', [0, 5]),
    member('b', [1]),
    { memberId: 'c', memberMetadata: Buffer.from('?') },
  ];
  assert.deepEqual(await assignmentOf(assignerOf([]).assign({ members, topics })), {
    a: { deliveries: [0, 5], 'deliveries.retry.10s': [0, 5], short: [0] },
    b: { deliveries: [1, 3], 'deliveries.retry.10s': [1, 3], short: [1] },
    c: { deliveries: [2, 4], 'deliveries.retry.10s': [2, 4], short: [] },
  });
});

test('a member is assigned only topics that it reads', async () => {
  const topics = ['deliveries', 'short'];
  const member = (memberId: string, read: string[], owned: number[]) => ({
    memberId,
    memberMetadata: assignerOf(owned).protocol({ topics: read }).metadata,
  });
  const members = [member('new', topics, [4, 5]), member('old', ['deliveries'], [])];
  assert.deepEqual(await assignmentOf(assignerOf([]).assign({ members, topics })), {
    new: { deliveries: [4, 5, 2], short: [] },
    old: { deliveries: [0, 1, 3] },
  });
});

test('a partition that another member owns is assigned to nobody until that member has given it up', async () => {
  const topics = ['deliveries'];
  const rebalance = (owned: Record<string, number[]>) =>
    assignmentOf(
      assignerOf([], 'tailrace-cooperative').assign({
        topics,
        members: Object.entries(owned).map(([memberId, owned]) => ({
          memberId,
          memberMetadata: assignerOf(owned, 'tailrace-cooperative').protocol({ topics }).metadata,
        })),
      }),
    );
  assert.deepEqual(await rebalance({ a: [0, 1, 2, 3, 4, 5], b: [] }), {
    a: { deliveries: [0, 1, 2] },
    b: { deliveries: [] },
  });
  assert.deepEqual(await rebalance({ a: [0, 1, 2], b: [] }), {
    a: { deliveries: [0, 1, 2] },
    b: { deliveries: [3, 4, 5] },
  });
});

test('the group chooses the protocol without gaps only where all members know it', () => {
  assert.deepEqual(
    coPartitionedAssigners(() => []).map((create) => create({ cluster }).name),
    ['tailrace-cooperative', 'tailrace-co-partitioned'],
  );
});

test('members that give up what they lose soon own everything, and never the same, for any claims', () => {
  fc.assert(
    fc.property(claims, fc.nat(16), (claims, count) => {
      let owned = claims;
      for (let round = 0; round < 3; round += 1) {
        const assigned = withoutOwned(sharePartitions(owned, count), owned);
        const all = [...assigned.values()].flat();
        assert.equal(new Set(all).size, all.length);
        for (const { memberId, owned: claimed } of owned) {
          for (const other of owned.filter((one) => one.memberId !== memberId)) {
            for (const partition of assigned.get(other.memberId) ?? []) {
              assert.ok(!claimed.includes(partition), 'assigned while another member claims it');
            }
          }
        }
        owned = claims.map(({ memberId }) => ({ memberId, owned: assigned.get(memberId) ?? [] }));
      }
      const all = owned.flatMap((claim) => claim.owned);
      assert.deepEqual(
        all.sort((a, b) => a - b),
        Array.from({ length: count }, (_, partition) => partition),
      );
    }),
  );
});
