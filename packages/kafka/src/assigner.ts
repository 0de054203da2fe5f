/**
 * A partition assigner for topics that share one partition count: the same member owns partition i of all of
 * them, so that a key's records are together wherever they wait. Sticky: a member keeps what it owns, up to its
 * fair share, so that a rebalance moves as few partitions as it can.
 */
import kafkajs, { type Assigner, type Cluster, type GroupMember, type GroupMemberAssignment } from 'kafkajs';

const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol;

const protocolName = 'tailrace-co-partitioned';
const version = 0;

/** @param owned the partition numbers this member owns now; told to the group's leader at each join. */
export function coPartitionedAssigner(owned: () => readonly number[]) {
  return ({ cluster }: { cluster: Cluster }): Assigner => ({
    name: protocolName,
    version,
    protocol: ({ topics }) => ({
      name: protocolName,
      metadata: MemberMetadata.encode({ version, topics, userData: Buffer.from(JSON.stringify(owned())) }),
    }),
    assign: ({ members, topics }) => {
      const counts = new Map(
        topics.map((topic) => [topic, cluster.findTopicPartitionMetadata(topic).length]),
      );
      const shares = sharePartitions(members.map(memberClaim), Math.max(0, ...counts.values()));
      return Promise.resolve(
        [...shares].map(([memberId, partitions]): GroupMemberAssignment => {
          const assignment = Object.fromEntries(
            [...counts].map(([topic, count]) => [topic, partitions.filter((partition) => partition < count)]),
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

function memberClaim({ memberId, memberMetadata }: GroupMember): Claim {
  try {
    const userData = MemberMetadata.decode(memberMetadata)?.userData.toString() ?? '';
    const owned: unknown = JSON.parse(userData);
    return { memberId, owned: Array.isArray(owned) ? owned.filter(Number.isInteger) : [] };
  } catch {
    return { memberId, owned: [] };
  }
}

/** Splits partitions 0..count-1 evenly; each member keeps what it claims, lowest first, up to its fair share. */
export function sharePartitions(claims: readonly Claim[], count: number): Map<string, number[]> {
  const members = [...claims].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
  const shares = new Map<string, number[]>(members.map(({ memberId }) => [memberId, []]));
  if (members.length === 0) return shares;

  const least = Math.floor(count / members.length);
  let largerShares = count % members.length;
  const free = new Set(Array.from({ length: count }, (_, partition) => partition));
  // Whoever owns most may keep one more than the others, where the split is uneven.
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
