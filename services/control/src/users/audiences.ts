/** The audiences that a user belongs to. Memberships have no index by user, so the topic is read. */
import type { Kafka } from '@tailrace/kafka';
import type { DeletedUsers } from '@tailrace/suppressions';
import { audienceKey, createMembershipReader, type Audience } from '../audiences/state/records.ts';
import { scanUntil } from '../records/deadline.ts';

type MembershipReader = ReturnType<typeof createMembershipReader>;

export interface UserAudiences {
  readonly audiences: readonly Audience[];
  /** Whether the topic was read to its end. */
  readonly isComplete: boolean;
}

/** @param all the audiences that there are */
export async function readUserAudiences(
  kafka: Pick<Kafka, 'scan'>,
  topic: string,
  {
    userId,
    all,
    users,
    signal,
  }: {
    readonly userId: string;
    readonly all: readonly Audience[];
    readonly users: Pick<DeletedUsers, 'deletedUntil'>;
    readonly signal: AbortSignal;
  },
): Promise<UserAudiences> {
  if (all.length === 0) return { audiences: [], isComplete: true };
  const wanted = new Map<string, { readonly audience: Audience; readonly read: MembershipReader }>(
    all.map((audience) => {
      const read = createMembershipReader(audience, users);
      return [`${audienceKey(audience)}/${userId}`, { audience, read }] as const;
    }),
  );
  const ending = Buffer.from(`/${userId}`);
  const members = new Map<string, Audience>();
  for await (const records of scanUntil(signal, kafka, { topic })) {
    for (const record of records) {
      if (record.key?.subarray(-ending.length).equals(ending) !== true) continue;
      const key = record.key.toString();
      const found = wanted.get(key);
      const membership = found?.read(record);
      if (!found || membership?.kind !== 'member') continue;
      if (membership.change.isMember) members.set(key, found.audience);
      else members.delete(key);
    }
  }
  const audiences = [...members.values()].sort((a, b) => (audienceKey(a) < audienceKey(b) ? -1 : 1));
  return { audiences, isComplete: !signal.aborted };
}
