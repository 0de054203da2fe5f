/**
 * Defects: what a consumer does to be a member of its group again.
 *
 * - A member reads nothing while it joins again, which takes as long as the slowest member needs to notice: half a second, or ten where
 *   another was killed. Until all have joined, each partition belongs to its former member.
 * - A member whose connection is lost while it joins again goes on with its former assignment. If Kafka has removed it, it never joins again:
 *   it sends no heartbeats, because they need a member id, and fetches what another member owns.
 * - A consumer that runs again after a crash joins as a new member. If it could not leave, because the broker that coordinates the group was
 *   away, all members wait for the old one until its session has ended.
 *
 * Upstream: no issue found.
 *
 * Patch: a member that is told to join again goes on meanwhile, unless Kafka removes it. A member that could not join fetches nothing, and
 * joins again. One that runs again joins with the id that it had, until it has left, or the broker does not know the id any more; then the
 * library joins as a new member. A member can join again of its own accord, and heartbeats are frequent after each join.
 */
import type { Consumer } from 'kafkajs';
import { libraryModule, replacing, type LibraryClass, type Patch } from '../apply.ts';

export interface MemberConsumer extends Consumer {
  /** Whether Kafka has not removed it from its group. */
  readonly isMember: boolean;
  /** Whether it may go on with the partitions that it was assigned last. */
  readonly keepsAssignment: boolean;
  /** How often it sends heartbeats now: every `usualMs`, and more often soon after a join. */
  heartbeatEveryMs(usualMs: number): number;
  /** Joins the group again soon, to tell the leader what it owns now, and goes on meanwhile. */
  joinAgain(): void;
}

/** After a join another one is likely, because partitions change hands in two. Members that notice it late delay the others. */
const afterJoin = { forMs: 1_000, heartbeatIntervalMs: 50 };

interface Heartbeats {
  /** In milliseconds. */
  readonly interval: number;
}

/** The library's class `ConsumerGroup`, of which each run of a consumer has its own: the members that are used here. */
interface Group {
  /** Of one consumer. */
  readonly cluster: object;
  readonly groupId: string;
  /** Null once Kafka has removed the member. */
  memberId: string | null;
  /** Of the leader; empty elsewhere. */
  readonly members: readonly unknown[] | null;
  readonly instrumentationEmitter: { emit(event: string, payload: object): void };
  isLeader(): boolean;
  joinAndSync(): Promise<void>;
  heartbeat(heartbeats: Heartbeats): Promise<void>;
  leave(): Promise<void>;
}

/**
 * - `out`: not joined, because it failed to. It may do nothing.
 * - `joining`: it has no assignment that holds.
 * - `joined`
 * - `rejoining`: it goes on with its assignment while it joins again.
 */
type Membership = 'out' | 'joining' | 'joined' | 'rejoining';

interface LastingGroup extends Group {
  readonly state: Membership;
  /** Set to join again soon. */
  joinsAgain: boolean;
  /** Joins again while it goes on. */
  rejoin(): void;
  heartbeatEveryMs(usualMs: number): number;
}

/** The library's class that runs a consumer: the members that are used here. */
interface Runner {
  readonly running: boolean;
  readonly consumerGroup: LastingGroup;
  fetch(nodeId: string): Promise<unknown>;
  heartbeat(): Promise<void>;
}

interface Errors {
  readonly KafkaJSProtocolError: new (error: { readonly type: string; readonly message: string }) => Error;
}

interface InstrumentationEvents {
  readonly events: { readonly REBALANCING: string };
}

/** By the cluster of a consumer, the group of its last run. */
const groups = new WeakMap<object, LastingGroup>();

export const membership: readonly Patch[] = [
  replacing('consumer/consumerGroup', (Original: LibraryClass<Group>) => {
    const { REBALANCING } = (libraryModule('consumer/instrumentationEvents') as InstrumentationEvents).events;
    return class LastingMember extends Original implements LastingGroup {
      joinsAgain = false;
      #joining: Promise<void> | undefined;
      #isJoined = false;
      #joinedAt = -Infinity;
      /** The id of the member that goes on while it joins again. */
      #rejoiningAs: string | null = null;

      constructor(options: unknown) {
        super(options);
        this.memberId = groups.get(this.cluster)?.memberId ?? null;
        groups.set(this.cluster, this);
      }

      get state(): Membership {
        if (!this.#joining) return this.#isJoined ? 'joined' : 'out';
        // Kafka gives another id to a member that it has removed.
        return this.#rejoiningAs !== null && this.#rejoiningAs === this.memberId ? 'rejoining' : 'joining';
      }

      /** One join at a time: a fetch that finds that partitions have changed joins too. */
      override joinAndSync(): Promise<void> {
        return (this.#joining ??= this.#join().finally(() => {
          this.#joining = undefined;
          this.#rejoiningAs = null;
        }));
      }

      async #join(): Promise<void> {
        this.joinsAgain = false;
        this.#isJoined = false;
        await super.joinAndSync();
        this.#isJoined = true;
        this.#joinedAt = performance.now();
      }

      rejoin(): void {
        const { groupId, memberId } = this;
        this.#rejoiningAs = memberId;
        // Where it fails the state is `out`, and the next fetch makes the library join.
        this.joinAndSync().catch(() => undefined);
        this.instrumentationEmitter.emit(REBALANCING, { groupId, memberId });
      }

      /** A request to join counts as a heartbeat. */
      override async heartbeat({ interval }: Heartbeats): Promise<void> {
        if (!this.#joining) await super.heartbeat({ interval: this.heartbeatEveryMs(interval) });
      }

      /** A member that is alone waits for nobody. */
      heartbeatEveryMs(usualMs: number): number {
        const isAlone = this.isLeader() && this.members?.length === 1;
        const isSoonAfter = performance.now() - this.#joinedAt < afterJoin.forMs;
        return isSoonAfter && !isAlone ? Math.min(usualMs, afterJoin.heartbeatIntervalMs) : usualMs;
      }

      /** Kafka would remove it, and the join under way would make it a member again. */
      override async leave(): Promise<void> {
        await this.#joining?.catch(() => undefined);
        await super.leave();
      }
    };
  }),
  replacing('consumer/runner', (Original: LibraryClass<Runner>) => {
    const { KafkaJSProtocolError } = libraryModule('errors') as Errors;
    return class MembersOnly extends Original {
      override fetch(nodeId: string): Promise<unknown> {
        const { memberId, state } = this.consumerGroup;
        if (state === 'joined' || state === 'rejoining' || !this.running) return super.fetch(nodeId);
        // The library joins again after either: as a new member, or as the one that it was. A join that is under way goes on.
        const type = state === 'out' && memberId === null ? 'UNKNOWN_MEMBER_ID' : 'REBALANCE_IN_PROGRESS';
        return Promise.reject(new KafkaJSProtocolError({ type, message: 'The group is not joined' }));
      }

      override async heartbeat(): Promise<void> {
        let isRebalancing = false;
        try {
          await super.heartbeat();
        } catch (error) {
          isRebalancing = (error as { type?: string }).type === 'REBALANCE_IN_PROGRESS';
          if (!isRebalancing) throw error;
        }
        const { joinsAgain, state } = this.consumerGroup;
        const mayRejoin = state === 'joined' && this.running;
        if (mayRejoin && (isRebalancing || joinsAgain)) this.consumerGroup.rejoin();
      }
    };
  }),
];

/** To be applied after all patches of `ConsumerGroup`. The consumer stays the same object. */
export const memberConsumer = replacing(
  'consumer/index',
  (create: (options: { readonly cluster: object }) => Consumer) =>
    (options: { readonly cluster: object }): MemberConsumer => {
      const group = (): LastingGroup | undefined => groups.get(options.cluster);
      return Object.defineProperties(create(options) as MemberConsumer, {
        isMember: { get: () => (group()?.memberId ?? null) !== null },
        keepsAssignment: { get: () => group()?.state === 'rejoining' },
        heartbeatEveryMs: { value: (usualMs: number) => group()?.heartbeatEveryMs(usualMs) ?? usualMs },
        joinAgain: {
          value: () => {
            const joined = group();
            if (joined) joined.joinsAgain = true;
          },
        },
      });
    },
);
