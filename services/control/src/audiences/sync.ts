/**
 * One sync: compares who shall be a member with who is, and tells each difference once.
 *
 * "Once" rests on these:
 *
 * 1. A portion is one Kafka transaction: the identify calls in `events`, the memberships in `audiences`, and how far
 *    the sync is in `audiences.syncs`. To tell of a change is to book it, so no crash comes between the two.
 * 2. One sync of an audience writes at a time. It shuts out every earlier one before it reads the present members.
 * 3. It then writes a mark into every partition, and reads each as far as that. The end that Kafka tells would not
 *    do: a reader sees a partition only up to the first transaction that is still open, which may be another
 *    audience's, and what this one's predecessor wrote may lie behind.
 * 4. After a failure nobody knows what was written. So it begins anew with 2, from where it had read to.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ConfigView } from '@tailrace/config';
import { RateLimiter } from '@tailrace/deadletters';
import { isTailraceError } from '@tailrace/errors';
import type {
  ExclusivePublisher,
  ExclusiveRecord,
  Kafka,
  OutgoingRecord,
  Partitioner,
} from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';
import type { Change, Membership } from './membership.ts';
import {
  audienceKey,
  createMembershipReader,
  encodeAudience,
  identifyRecord,
  markRecord,
  memberRecord,
  type Audience,
  type AudienceSync,
} from './records.ts';
import type { AudienceView } from './view.ts';

export interface SyncDependencies {
  readonly kafka: Pick<Kafka, 'exclusivePublisher' | 'partitioner' | 'scan'>;
  readonly names: Pick<TopicNames, 'events' | 'audiences' | 'audiencesSyncs'>;
  readonly config: Pick<ConfigView, 'source'>;
  readonly view: Pick<AudienceView, 'get' | 'refresh'>;
}

export interface SyncOptions {
  /** As it is to be recorded; `members` is what the last sync said. */
  readonly audience: Audience;
  readonly membership: Membership;
  /** Identify calls a second. */
  readonly ratePerSecond: number;
  /** Interrupts the sync after what is in flight. */
  readonly signal: AbortSignal;
  /** Told once the sync has taken over and is recorded. */
  readonly onBegun: () => void;
}

export interface Sync {
  /** As it is now, before it is in Kafka. */
  readonly audience: Audience;
  /** Resolves when it has ended, however. Rejects where it could not begin, or with a defect. */
  readonly ended: Promise<void>;
}

/** Portions are a fifth of a second's worth, so that the rate is even; and well within one record batch. */
const portionsPerSecond = 5;
const largestPortion = { records: 2_000, bytes: 640 * 1024 };
/** Before it has begun somebody waits for it. */
const beginPatienceMs = 15_000;
const retryPauseMs = { first: 500, most: 5_000 };
/** So long after it was shut out, whoever did it has said so. */
const takeOverMs = 2_000;
const beatMs = 5_000;
/** After the marks were not in sight yet, because of another audience's transaction. */
const lookAgainMs = 200;
/**
 * Readers of `events` wait at a transaction whose process was killed in the middle of it until it times out, so this is
 * short; a transaction takes some tens of milliseconds.
 */
export const transactionTimeoutMs = 10_000;

/** The id of the exclusive publisher of an audience. */
export function publisherId(names: Pick<TopicNames, 'audiences'>, audience: Audience): string {
  return `${names.audiences}/${audienceKey(audience)}`;
}

export function startSync(deps: SyncDependencies, options: SyncOptions): Sync {
  const sync = new RunningSync(deps, options);
  return {
    get audience() {
      return sync.audience;
    },
    ended: sync.run().finally(() => {
      options.membership.close();
    }),
  };
}

/** How a pass over the differences ended. `refused`: the router would take no more calls of the source. */
type PassEnd = 'done' | 'stopped' | 'refused';

class RunningSync {
  readonly #deps: SyncDependencies;
  readonly #options: SyncOptions;
  readonly #pace: RateLimiter;
  /** The latest sync when this one began. */
  readonly #before: string | undefined;
  /** By partition of `audiences`: the offset to read from. */
  readonly #readTo = new Map<number, number>();
  #lastWriteAt = 0;
  #begun = false;
  audience: Audience;

  constructor(deps: SyncDependencies, options: SyncOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#pace = new RateLimiter(options.ratePerSecond);
    this.audience = options.audience;
    this.#before = deps.view.get(options.audience)?.sync.id;
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    const beganAt = performance.now();
    let pauseMs = retryPauseMs.first;
    for (;;) {
      const { sent } = this.audience.sync;
      try {
        await this.#pass();
        return;
      } catch (error) {
        if (!isTailraceError(error)) throw error;
        const isPatient = this.#begun || performance.now() - beganAt < beginPatienceMs;
        if (error.code === 'superseded') {
          await pause(takeOverMs, signal);
          if (await this.#isSuperseded()) {
            this.#set({ state: 'interrupted', problem: supersededProblem });
            return;
          }
        } else if (error.code !== 'kafka-unavailable' || !isPatient) {
          if (!this.#begun) throw error;
          this.#set({ state: 'failed', problem: { code: error.code, message: error.message } });
          return;
        }
        if (signal.aborted) {
          this.#set({ state: 'interrupted', problem: stoppedProblem });
          return;
        }
        if (this.audience.sync.sent > sent) pauseMs = retryPauseMs.first;
        await pause(pauseMs, signal);
        pauseMs = Math.min(pauseMs * 2, retryPauseMs.most);
      }
    }
  }

  /** Whether another sync of the audience has begun since: the broker also shuts out whom it gave up waiting for. */
  async #isSuperseded(): Promise<boolean> {
    const { view } = this.#deps;
    await view.refresh().catch(() => undefined);
    const latest = view.get(this.audience)?.sync.id;
    return latest !== undefined && latest !== this.audience.sync.id && latest !== this.#before;
  }

  #isStopping(): boolean {
    return this.#options.signal.aborted;
  }

  /** From shutting out others to the last difference. */
  async #pass(): Promise<void> {
    const { kafka, names } = this.#deps;
    const events = await kafka.partitioner(names.events);
    const members = await kafka.partitioner(names.audiences);
    const id = publisherId(names, this.audience);
    const publisher = await kafka.exclusivePublisher(id, { transactionTimeoutMs });
    try {
      const end = await this.#catchUp(publisher, events, members);
      await this.#finish(publisher, end, members.partitions);
    } finally {
      await publisher.close();
    }
  }

  async #catchUp(publisher: ExclusivePublisher, events: Partitioner, members: Partitioner): Promise<PassEnd> {
    const isRead = await this.#readMembers(publisher, members.partitions);
    if (!isRead) return 'stopped';
    this.#compare();
    return this.#tell(publisher, events, members);
  }

  /** Whether it came to the end. */
  async #readMembers(publisher: ExclusivePublisher, partitions: number): Promise<boolean> {
    const { kafka, names } = this.#deps;
    const { membership, onBegun } = this.#options;
    const mark = randomUUID();
    const unmarked = new Set(Array.from({ length: partitions }, (_, partition) => partition));
    await this.#publish(
      publisher,
      [...unmarked].map((partition) => markRecord(names.audiences, this.audience, mark, partition)),
    );
    // A publisher begins a transaction only when the one before can be read, and with it the marks.
    await this.#publish(publisher, []);
    if (!this.#begun) onBegun();
    this.#begun = true;

    const read = createMembershipReader(this.audience);
    for (let isFirst = true; unmarked.size > 0; isFirst = false) {
      if (!isFirst) await pause(lookAgainMs, this.#options.signal);
      if (this.#isStopping()) return false;
      const starts = new Map(
        Array.from(unmarked, (partition) => [partition, this.#readTo.get(partition) ?? 0]),
      );
      for await (const records of await kafka.scan({ topic: names.audiences, starts })) {
        const changes: Change[] = [];
        for (const record of records) {
          this.#readTo.set(record.partition, record.offset + 1);
          const found = read(record);
          if (found?.kind === 'member') changes.push(found.change);
          else if (found?.mark === mark) unmarked.delete(record.partition);
        }
        membership.recall(changes);
        if (this.#isStopping()) break;
        if (performance.now() - this.#lastWriteAt > beatMs) await this.#publish(publisher, []);
      }
    }
    return true;
  }

  #compare(): void {
    const { before, added, removed } = this.#options.membership.counts();
    const left = added + removed;
    const { total = left, added: joining = added, removed: leaving = removed } = this.audience.sync;
    this.#set({ added: joining, removed: leaving, total, sent: total - left }, before);
  }

  async #tell(publisher: ExclusivePublisher, events: Partitioner, members: Partitioner): Promise<PassEnd> {
    const { membership, ratePerSecond, signal } = this.#options;
    const most = Math.min(Math.ceil(ratePerSecond / portionsPerSecond), largestPortion.records);
    let after: string | undefined;
    for (;;) {
      const changes = membership.changes(after, most);
      if (changes.length === 0) return 'done';
      const portion = this.#portionOf(changes, events, members);
      after = portion.lastUser;
      for (let waitMs = this.#pace.waitMs; waitMs > 0; waitMs = this.#pace.waitMs) {
        await pause(Math.min(waitMs, beatMs), signal);
        if (signal.aborted) break;
        if (waitMs > beatMs) await this.#publish(publisher, []);
      }
      if (signal.aborted) return 'stopped';
      if (!this.#isSourceEnabled()) return 'refused';
      this.#pace.spend(portion.count);
      const { sync, members: before } = this.audience;
      const next = this.#with({ sent: sync.sent + portion.count }, before + portion.joined - portion.left);
      await this.#publish(publisher, portion.records, next);
    }
  }

  /** As many of the changes as go into one transaction, at least one. */
  #portionOf(changes: readonly Change[], events: Partitioner, members: Partitioner) {
    const { names } = this.#deps;
    const { audience } = this;
    const now = Date.now();
    const since = new Date(now).toISOString();
    const records: ExclusiveRecord[] = [];
    const portion = { records, count: 0, joined: 0, left: 0, lastUser: '' };
    let bytes = 0;
    for (const change of changes) {
      const identify = identifyRecord(names.events, audience, audience.sync.id, change, now);
      const member = memberRecord(names.audiences, audience, change, since);
      bytes += sizeOf(identify) + sizeOf(member);
      if (portion.count > 0 && bytes > largestPortion.bytes) break;
      records.push(inPartition(identify, events), inPartition(member, members));
      portion.count += 1;
      portion.lastUser = change.userId;
      if (change.isMember) portion.joined += 1;
      else portion.left += 1;
    }
    return portion;
  }

  /** The router rejects calls of a source that is unknown or disabled: they would be booked, and told to nobody. */
  #isSourceEnabled(): boolean {
    return this.#deps.config.source(this.audience.sourceId)?.enabled === true;
  }

  async #finish(publisher: ExclusivePublisher, end: PassEnd, partitions: number): Promise<void> {
    const { names } = this.#deps;
    const { audience } = this;
    if (end === 'stopped') {
      await this.#publish(publisher, [], this.#with({ state: 'interrupted', problem: stoppedProblem }));
    } else if (end === 'refused') {
      await this.#publish(publisher, [], this.#with({ state: 'failed', problem: refusedProblem }));
    } else if (audience.sync.kind === 'replace') {
      await this.#publish(publisher, [], this.#with({ state: 'done' }));
    } else {
      const key = audienceKey(audience);
      const marks = Array.from({ length: partitions }, (_, partition) => ({
        topic: names.audiences,
        partition,
      }));
      const all = [...marks, { topic: names.audiencesSyncs, partition: 0 }];
      await publisher.publish(all.map((place) => ({ ...place, key, value: null })));
      this.audience = this.#with({ state: 'done' });
    }
  }

  /** Writes the records together with how far the sync then is. */
  async #publish(
    publisher: ExclusivePublisher,
    records: readonly OutgoingRecord[],
    next: Audience = this.#with({}),
  ): Promise<void> {
    const state = { ...encodeAudience(this.#deps.names.audiencesSyncs, next), partition: 0 };
    await publisher.publish([...(records as ExclusiveRecord[]), state]);
    this.audience = next;
    this.#lastWriteAt = performance.now();
  }

  #with(news: Partial<AudienceSync>, members = this.audience.members): Audience {
    const updatedAt = new Date().toISOString();
    return { ...this.audience, members, sync: { ...this.audience.sync, ...news, updatedAt } };
  }

  #set(news: Partial<AudienceSync>, members?: number): void {
    this.audience = this.#with(news, members);
  }
}

const supersededProblem = { code: 'superseded', message: 'A later sync of this audience has taken over.' };
const refusedProblem = {
  code: 'unknown-source',
  message: 'The source was disabled or deleted. Enable it, and sync again: only the rest is sent.',
};
export const stoppedProblem = {
  code: 'shutting-down',
  message: 'The control service was stopped. Sync again: only the rest is sent.',
};

function inPartition(record: OutgoingRecord, partitioner: Partitioner): ExclusiveRecord {
  return { ...record, partition: partitioner.partitionOf(record.key?.toString() ?? '') };
}

function sizeOf({ key, value }: OutgoingRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
