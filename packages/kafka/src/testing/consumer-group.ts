/**
 * A consumer group of the in-memory cluster: members, generations and committed offsets. Commits are accepted until all
 * members have joined a rebalance, and refused until each has its assignment.
 */
import type { Assigner } from 'kafkajs';
import kafkajs from '../library.ts';
import { protocolError } from './errors.ts';

const { MemberAssignment } = kafkajs.AssignerProtocol;

export interface CommittedOffset {
  readonly offset: number;
  readonly metadata: string;
}

export interface GroupMember {
  readonly memberId: string;
  readonly topics: string[];
  readonly assigners: readonly Assigner[];
  /** Resolves when the batch that is being processed is done. */
  readonly idle: Promise<unknown>;
  announceRebalance(): void;
  announceJoin(): void;
  assign(assignment: Readonly<Record<string, readonly number[]>>, protocol: string): void;
}

export interface GroupHooks {
  /** Throws during an outage. */
  readonly checkReachable: () => void;
  readonly onCommit: () => void;
}

export class ConsumerGroup {
  /** By `topic/partition`. */
  readonly offsets = new Map<string, CommittedOffset>();
  readonly #hooks: GroupHooks;
  #members: GroupMember[] = [];
  #rebalances: Promise<void> = Promise.resolve();
  #isJoining = false;

  constructor(hooks: GroupHooks) {
    this.#hooks = hooks;
  }

  get memberIds(): string[] {
    return this.#members.map(({ memberId }) => memberId);
  }

  reads(topic: string): boolean {
    return this.#members.some(({ topics }) => topics.includes(topic));
  }

  /** Resolves when the member has its assignment. */
  join(member: GroupMember): Promise<void> {
    return this.rebalance(() => this.#members.push(member));
  }

  leave(member: GroupMember): void {
    if (!this.#members.includes(member)) return;
    this.#members = this.#members.filter((one) => one !== member);
    void this.rebalance();
  }

  /** The members are not told. */
  removeAll(): void {
    this.#members = [];
  }

  rebalance(change?: () => void): Promise<void> {
    this.#rebalances = this.#rebalances.then(() => this.#rebalance(change));
    return this.#rebalances;
  }

  /** @throws Error `UNKNOWN_MEMBER_ID` or `REBALANCE_IN_PROGRESS` as the client library throws it */
  commit(member: GroupMember, offsets: ReadonlyMap<string, CommittedOffset>): void {
    this.#hooks.checkReachable();
    if (!this.#members.includes(member)) throw protocolError('UNKNOWN_MEMBER_ID');
    if (this.#isJoining) throw protocolError('REBALANCE_IN_PROGRESS');
    for (const [key, committed] of offsets) this.offsets.set(key, committed);
    this.#hooks.onCommit();
  }

  async #rebalance(change?: () => void): Promise<void> {
    for (const member of this.#members) member.announceRebalance();
    // Members finish the batch that they have, and commit.
    await Promise.all(this.#members.map((member) => member.idle));
    await new Promise((resolve) => setImmediate(resolve));
    change?.();
    this.#isJoining = true;
    for (const member of this.#members) member.announceJoin();
    const [leader] = this.#members;
    const assigner = leader?.assigners.find(({ name }) =>
      this.#members.every(({ assigners }) => assigners.some((other) => other.name === name)),
    );
    const assignments = assigner && (await this.#assign(assigner));
    this.#isJoining = false;
    for (const member of this.#members) {
      member.assign(assignments?.get(member.memberId) ?? {}, assigner?.name ?? '');
    }
  }

  /** By member, the partitions of each topic, as the members' own assigner divides them. */
  async #assign(assigner: Assigner): Promise<Map<string, Record<string, number[]>>> {
    const members = this.#members.map(({ memberId, topics, assigners }) => {
      const own = assigners.find(({ name }) => name === assigner.name) ?? assigner;
      return { memberId, memberMetadata: own.protocol({ topics }).metadata };
    });
    const topics = [...new Set(this.#members.flatMap((member) => member.topics))];
    const assigned = await assigner.assign({ members, topics });
    return new Map(
      assigned.map(({ memberId, memberAssignment }) => [
        memberId,
        MemberAssignment.decode(memberAssignment)?.assignment ?? {},
      ]),
    );
  }
}
