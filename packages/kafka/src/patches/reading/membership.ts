/**
 * Defects: what a consumer does to be a member of its group again.
 *
 * - A member whose connection is lost while it joins again goes on with its former assignment. If Kafka has removed it, it never joins again:
 *   it sends no heartbeats, because they need a member id, and fetches what another member owns.
 * - A consumer that runs again after a crash joins as a new member. If it could not leave, because the broker that coordinates the group was
 *   away, all members wait for the old one until its session has ended.
 *
 * Upstream: no issue found.
 *
 * Patch: a member that could not join fetches nothing, and joins again. One that runs again joins with the id that it had, until it has left,
 * or the broker does not know the id any more; then the library joins as a new member.
 */
import { libraryModule, replacing, type LibraryClass, type Patch } from '../apply.ts';

/** The library's class `ConsumerGroup`, of which each run of a consumer has its own: the members that are used here. */
interface Group {
  /** Of one consumer. */
  readonly cluster: object;
  /** Null once Kafka has removed the member. */
  memberId: string | null;
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
}

interface LastingGroup extends Group {
  /** Whether the last attempt to join succeeded. */
  readonly isJoined: boolean;
}

/** The library's class that runs a consumer: the members that are used here. */
interface Runner {
  readonly running: boolean;
  readonly consumerGroup: LastingGroup;
  fetch(nodeId: string): Promise<unknown>;
}

interface Errors {
  readonly KafkaJSProtocolError: new (error: { readonly type: string; readonly message: string }) => Error;
}

const memberIds = new WeakMap<object, string | null>();

export const membership: readonly Patch[] = [
  replacing(
    'consumer/consumerGroup',
    (Original: LibraryClass<Group>) =>
      class LastingMember extends Original implements LastingGroup {
        isJoined = false;

        constructor(options: unknown) {
          super(options);
          this.memberId = memberIds.get(this.cluster) ?? null;
        }

        override async joinAndSync(): Promise<void> {
          this.isJoined = false;
          try {
            await super.joinAndSync();
            this.isJoined = true;
          } finally {
            memberIds.set(this.cluster, this.memberId);
          }
        }

        override async leave(): Promise<void> {
          await super.leave();
          memberIds.delete(this.cluster);
        }
      },
  ),
  replacing('consumer/runner', (Original: LibraryClass<Runner>) => {
    const { KafkaJSProtocolError } = libraryModule('errors') as Errors;
    return class MembersOnly extends Original {
      override fetch(nodeId: string): Promise<unknown> {
        const { memberId, isJoined } = this.consumerGroup;
        if (isJoined || !this.running) return super.fetch(nodeId);
        // The library joins again after either: as a new member, or as the one that it was.
        const type = memberId === null ? 'UNKNOWN_MEMBER_ID' : 'REBALANCE_IN_PROGRESS';
        return Promise.reject(new KafkaJSProtocolError({ type, message: 'The group is not joined' }));
      }
    };
  }),
];
