/**
 * Partition assigners for topics with the same number of partitions. The same member owns partition i of all topics, so
 * that it has all records of a key. Sticky: a member keeps its partitions, up to its fair share, so that a rebalance moves
 * as few as possible.
 *
 * A partition that another member owns changes hands in two rebalances. In the first nobody is assigned it: its owner finishes
 * the work (hand-over.ts) and joins again without it. In the second the other member gets it. Meanwhile all others go on.
 */
import type { Assigner, Cluster, GroupMember, GroupMemberAssignment } from 'kafkajs';
import kafkajs from '../library.ts';

const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol;

/** The protocol of a group whose members all know it. Kafka refuses a member that offers none which all others offer. */
export const cooperative = 'tailrace-cooperative';
/** Of earlier releases, also beside them: another member is assigned a partition at once. */
const eager = 'tailrace-co-partitioned';
const version = 0;

/** The partition numbers of a member. */
export interface Claims {
  owned: readonly number[];
  /** Those that it owned when it last joined, as it told the leader. */
  sent: readonly number[];
}

type CreateAssigner = (options: { readonly cluster: Cluster }) => Assigner;

/** @param owned the partition numbers that this member owns, which it sends to the group's leader at each join */
export function coPartitionedAssigners(owned: () => readonly number[]): CreateAssigner[] {
  return [cooperative, eager].map((name) => coPartitionedAssigner(name, owned));
}

function coPartitionedAssigner(name: string, owned: () => readonly number[]): CreateAssigner {
  return ({ cluster }) => ({
    name,
    version,
    protocol: ({ topics }) => ({
      name,
      metadata: MemberMetadata.encode({ version, topics, userData: Buffer.from(JSON.stringify(owned())) }),
    }),
    assign: ({ members, topics }) => {
      const counts = topics.map(
        (topic) => [topic, cluster.findTopicPartitionMetadata(topic).length] as const,
      );
      const claims = members.map(memberClaim);
      const fair = sharePartitions(claims, Math.max(0, ...counts.map(([, count]) => count)));
      const shares = name === cooperative ? withoutOwned(fair, claims) : fair;
      return Promise.resolve(
        claims.map(({ memberId, topics: subscribed }): GroupMemberAssignment => {
          const share = shares.get(memberId) ?? [];
          // A member of another release may not read all topics. Its partitions of the others have no owner until it leaves.
          const assignment = Object.fromEntries(
            counts
              .filter(([topic]) => subscribed?.includes(topic) ?? true)
              .map(([topic, count]) => [topic, share.filter((partition) => partition < count)]),
          );
          return {
            memberId,
            memberAssignment: MemberAssignment.encode({ version, assignment, userData: Buffer.alloc(0) }),
          };
        }),
      );
    },
  });
}

interface Claim {
  readonly memberId: string;
  readonly owned: readonly number[];
}

/** Metadata that cannot be decoded counts as a member that owns nothing and reads every topic. */
function memberClaim({ memberId, memberMetadata }: GroupMember): Claim & { topics?: readonly string[] } {
  try {
    const { topics, userData } = MemberMetadata.decode(memberMetadata) ?? {};
    return { memberId, owned: partitionsIn(userData), ...(topics && { topics }) };
  } catch {
    return { memberId, owned: [] };
  }
}

function partitionsIn(userData: Buffer | undefined): number[] {
  if (!userData || userData.length === 0) return [];
  const owned: unknown = JSON.parse(userData.toString());
  return Array.isArray(owned) ? owned.filter((entry): entry is number => Number.isInteger(entry)) : [];
}

/** Assigns partitions 0..count-1 evenly. Each member keeps the partitions it claims, lowest first, up to its fair share. */
export function sharePartitions(claims: readonly Claim[], count: number): Map<string, number[]> {
  const members = [...claims].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
  const shares = new Map<string, number[]>(members.map(({ memberId }) => [memberId, []]));
  if (members.length === 0) return shares;

  const least = Math.floor(count / members.length);
  let largerShares = count % members.length;
  const free = new Set(Array.from({ length: count }, (_, partition) => partition));
  // If the count is not a multiple, the members that own most may keep one more.
  for (const { memberId, owned } of [...members].sort((a, b) => b.owned.length - a.owned.length)) {
    const claimed = [...new Set(owned)].filter((partition) => free.has(partition)).sort((a, b) => a - b);
    const quota = claimed.length > least && largerShares > 0 ? (largerShares--, least + 1) : least;
    for (const partition of claimed.slice(0, quota)) {
      shares.get(memberId)?.push(partition);
      free.delete(partition);
    }
  }
  for (const partition of free) {
    const [, fewest] = [...shares].reduce((a, b) => (b[1].length < a[1].length ? b : a));
    fewest.push(partition);
  }
  return shares;
}

/** Leaves out of each share what other members claim. */
export function withoutOwned(
  shares: ReadonlyMap<string, readonly number[]>,
  claims: readonly Claim[],
): Map<string, number[]> {
  const owners = new Map<number, Set<string>>();
  for (const { memberId, owned } of claims) {
    for (const partition of owned) owners.set(partition, (owners.get(partition) ?? new Set()).add(memberId));
  }
  const isFreeFor = (memberId: string, partition: number): boolean =>
    [...(owners.get(partition) ?? [])].every((owner) => owner === memberId);
  return new Map(
    Array.from(shares, ([memberId, share]) => [
      memberId,
      share.filter((partition) => isFreeFor(memberId, partition)),
    ]),
  );
}
