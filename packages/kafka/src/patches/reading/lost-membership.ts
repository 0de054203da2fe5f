/**
 * Defect: a member whose connection is lost while it joins its group again goes on with its former assignment. If Kafka has removed it, it
 * never joins again: it sends no heartbeats, because they need a member id, and fetches what another member owns.
 *
 * Upstream: no issue found.
 *
 * Patch: a member that could not join fetches nothing, and joins again.
 */
import { libraryModule, replacing, type LibraryClass, type Patch } from '../apply.ts';

/** The library's class: the members that are used here. */
interface Group {
  /** Null once Kafka has removed the member. */
  readonly memberId: string | null;
  joinAndSync(): Promise<unknown>;
}

interface JoinedGroup extends Group {
  /** Whether the last attempt to join succeeded. */
  readonly isJoined: boolean;
}

/** The library's class that runs a consumer: the members that are used here. */
interface Runner {
  readonly running: boolean;
  readonly consumerGroup: JoinedGroup;
  fetch(nodeId: string): Promise<unknown>;
}

interface Errors {
  readonly KafkaJSProtocolError: new (error: { readonly type: string; readonly message: string }) => Error;
}

export const lostMembership: readonly Patch[] = [
  replacing(
    'consumer/consumerGroup',
    (Original: LibraryClass<Group>) =>
      class RemembersJoin extends Original implements JoinedGroup {
        isJoined = false;

        override async joinAndSync(): Promise<unknown> {
          this.isJoined = false;
          const joined = await super.joinAndSync();
          this.isJoined = true;
          return joined;
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
