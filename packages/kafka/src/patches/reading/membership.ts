/**
 * Defects: what a consumer does to be a member of its group again.
 *
 * - A consumer that the broker does not know any more forgets its id and joins again. Where that fails once, it goes on without an id: it
 *   fetches, sends no heartbeat, and never joins again.
 * - A consumer that runs again after a crash joins as a new member. If it could not leave, because the broker that coordinates the group was
 *   away, all members wait for the old one until its session has ended.
 *
 * Upstream: no issue found.
 *
 * Patch: a consumer without an id joins instead of its next heartbeat. One that runs again joins with the id that it had, until it has left,
 * or the broker does not know the id any more; then the library joins as a new member.
 */
import { libraryModule, replacing, type LibraryClass } from '../apply.ts';

/** The library's class `ConsumerGroup`, of which each run of a consumer has its own: the members that are used here. */
interface Group {
  /** Of one consumer. */
  readonly cluster: object;
  memberId: string | null;
  joinAndSync(): Promise<void>;
  heartbeat(options: object): Promise<void>;
  leave(): Promise<void>;
}

interface Errors {
  readonly KafkaJSProtocolError: new (error: { message: string; type: string }) => Error;
}

const memberIds = new WeakMap<object, string | null>();

export const membership = replacing(
  'consumer/consumerGroup',
  (Original: LibraryClass<Group>): LibraryClass<Group> => {
    const { KafkaJSProtocolError } = libraryModule('errors') as Errors;
    return class LastingMember extends Original {
      constructor(options: unknown) {
        super(options);
        this.memberId = memberIds.get(this.cluster) ?? null;
      }

      override joinAndSync(): Promise<void> {
        return super.joinAndSync().finally(() => memberIds.set(this.cluster, this.memberId));
      }

      override async heartbeat(options: object): Promise<void> {
        if (this.memberId !== null) return super.heartbeat(options);
        // The library joins after this error.
        throw new KafkaJSProtocolError({ message: 'not in the group', type: 'UNKNOWN_MEMBER_ID' });
      }

      override async leave(): Promise<void> {
        await super.leave();
        memberIds.delete(this.cluster);
      }
    };
  },
);
