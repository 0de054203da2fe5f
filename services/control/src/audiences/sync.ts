/**
 * One sync of an audience: compares the uploaded members with the current ones, and sends each difference exactly once.
 *
 * 1. A portion is one Kafka transaction: identify calls in `events`, memberships in `audiences`, progress in
 *    `audiences.syncs`. A crash cannot separate a call from its membership.
 * 2. One sync of an audience writes at a time: it fences every earlier sync before it reads the current members.
 * 3. It writes a mark into every partition of `audiences`, and reads each partition up to the mark (current-members.ts).
 * 4. After a failure it is unknown what was written. The sync repeats steps 2 and 3, and reads on from its last offset.
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
import { createCurrentMembersReader, type CurrentMembersReader } from './current-members.ts';
import type { Membership } from './membership.ts';
import { createPortion, maxPortion } from './portion.ts';
import { sourceUnavailableProblem, stoppedProblem, supersededProblem } from './problems.ts';
import { audienceKey, encodeAudience, markRecord, type Audience, type AudienceSync } from './records.ts';
import type { AudienceView } from './view.ts';

export interface SyncDependencies {
  readonly kafka: Pick<Kafka, 'exclusivePublisher' | 'partitioner' | 'scan'>;
  readonly names: Pick<TopicNames, 'events' | 'audiences' | 'audiencesSyncs'>;
  readonly config: Pick<ConfigView, 'source'>;
  readonly view: Pick<AudienceView, 'get' | 'refresh'>;
}

export interface SyncOptions {
  /** The audience to record; `members` is the count of the previous sync. */
  readonly audience: Audience;
  readonly membership: Membership;
  /** Identify calls per second. */
  readonly ratePerSecond: number;
  /** Interrupts the sync after the transaction in flight. */
  readonly signal: AbortSignal;
  /** Called once the sync has taken over and is recorded. */
  readonly onStarted: () => void;
}

export interface Sync {
  /** The current state, which may be ahead of Kafka. */
  readonly audience: Audience;
  /** Resolves when the sync has ended in any state. Rejects where it could not start, or on a defect. */
  readonly ended: Promise<void>;
}

/** A portion holds a fifth of a second of calls, for an even rate. */
const portionsPerSecond = 5;
/** How long a start is retried: the client waits for it. */
const startTimeoutMs = 15_000;
const retryPauseMs = { first: 500, max: 5_000 };
/** How long a fenced sync waits before it looks for the record of a later sync. */
const takeOverMs = 2_000;
const heartbeatMs = 5_000;
/**
 * A transaction of a killed process blocks consumers of `events` until it times out, so the timeout is short. A
 * transaction takes some tens of milliseconds.
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

/** `source-unavailable`: the router would reject calls of the source. */
type PassEnd = 'done' | 'stopped' | 'source-unavailable';

interface Partitioners {
  readonly events: Partitioner;
  readonly members: Partitioner;
}

class RunningSync {
  readonly #deps: SyncDependencies;
  readonly #options: SyncOptions;
  readonly #rateLimiter: RateLimiter;
  readonly #currentMembers: CurrentMembersReader;
  /** The id of the latest sync when this one started. */
  readonly #previousSyncId: string | undefined;
  #lastWriteAt = 0;
  #started = false;
  audience: Audience;

  constructor(deps: SyncDependencies, options: SyncOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#rateLimiter = new RateLimiter(options.ratePerSecond);
    this.#currentMembers = createCurrentMembersReader(
      deps.kafka,
      deps.names,
      options.audience,
      options.signal,
    );
    this.audience = options.audience;
    this.#previousSyncId = deps.view.get(options.audience)?.sync.id;
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    const startedAt = performance.now();
    let pauseMs = retryPauseMs.first;
    for (;;) {
      const { sent } = this.audience.sync;
      try {
        await this.#pass();
        return;
      } catch (error) {
        if (!isTailraceError(error)) throw error;
        const mayRetry = this.#started || performance.now() - startedAt < startTimeoutMs;
        if (error.code === 'superseded') {
          await pause(takeOverMs, signal);
          if (await this.#isSuperseded()) {
            this.#set({ state: 'interrupted', problem: supersededProblem });
            return;
          }
        } else if (error.code !== 'kafka-unavailable' || !mayRetry) {
          if (!this.#started) throw error;
          this.#set({ state: 'failed', problem: { code: error.code, message: error.message } });
          return;
        }
        if (signal.aborted) {
          this.#set({ state: 'interrupted', problem: stoppedProblem });
          return;
        }
        if (this.audience.sync.sent > sent) pauseMs = retryPauseMs.first;
        await pause(pauseMs, signal);
        pauseMs = Math.min(pauseMs * 2, retryPauseMs.max);
      }
    }
  }

  /** Whether a later sync of the audience is recorded. The broker also fences a publisher whose transaction timed out. */
  async #isSuperseded(): Promise<boolean> {
    const { view } = this.#deps;
    await view.refresh().catch(() => undefined);
    const latest = view.get(this.audience)?.sync.id;
    return latest !== undefined && latest !== this.audience.sync.id && latest !== this.#previousSyncId;
  }

  /** Fences earlier syncs, reads the current members, sends the differences, and records the end. */
  async #pass(): Promise<void> {
    const { kafka, names } = this.#deps;
    const partitioners = {
      events: await kafka.partitioner(names.events),
      members: await kafka.partitioner(names.audiences),
    };
    const id = publisherId(names, this.audience);
    const publisher = await kafka.exclusivePublisher(id, { transactionTimeoutMs });
    try {
      const end = await this.#sendDifferences(publisher, partitioners);
      await this.#finish(publisher, end, partitioners.members.partitions);
    } finally {
      await publisher.close();
    }
  }

  async #sendDifferences(publisher: ExclusivePublisher, partitioners: Partitioners): Promise<PassEnd> {
    const isRead = await this.#readCurrentMembers(publisher, partitioners.members.partitions);
    if (!isRead) return 'stopped';
    this.#compare();
    return this.#send(publisher, partitioners);
  }

  /** Returns false where the sync was stopped. */
  async #readCurrentMembers(publisher: ExclusivePublisher, partitions: number): Promise<boolean> {
    const { names } = this.#deps;
    const { membership, onStarted } = this.#options;
    const mark = randomUUID();
    const marks = Array.from({ length: partitions }, (_, partition) =>
      markRecord(names.audiences, this.audience, mark, partition),
    );
    await this.#publish(publisher, marks);
    // A publisher starts a transaction only once its previous one, here that of the marks, is readable.
    await this.#publish(publisher, []);
    if (!this.#started) onStarted();
    this.#started = true;
    return this.#currentMembers.readUntil(mark, partitions, membership, async () => {
      if (performance.now() - this.#lastWriteAt > heartbeatMs) await this.#publish(publisher, []);
    });
  }

  #compare(): void {
    const { before, added, removed } = this.#options.membership.counts();
    const remaining = added + removed;
    const {
      total = remaining,
      added: firstAdded = added,
      removed: firstRemoved = removed,
    } = this.audience.sync;
    this.#set({ added: firstAdded, removed: firstRemoved, total, sent: total - remaining }, before);
  }

  async #send(publisher: ExclusivePublisher, partitioners: Partitioners): Promise<PassEnd> {
    const { names } = this.#deps;
    const { membership, ratePerSecond, signal } = this.#options;
    const limit = Math.min(Math.ceil(ratePerSecond / portionsPerSecond), maxPortion.records);
    let after: string | undefined;
    for (;;) {
      const changes = membership.changes(after, limit);
      if (changes.length === 0) return 'done';
      const portion = createPortion(names, this.audience, changes, partitioners);
      after = portion.lastUser;
      await this.#waitForRate(publisher);
      if (signal.aborted) return 'stopped';
      if (!this.#isSourceEnabled()) return 'source-unavailable';
      this.#rateLimiter.spend(portion.count);
      const { sync, members } = this.audience;
      const next = this.#with({ sent: sync.sent + portion.count }, members + portion.joined - portion.left);
      await this.#publish(publisher, portion.records, next);
    }
  }

  async #waitForRate(publisher: ExclusivePublisher): Promise<void> {
    const { signal } = this.#options;
    for (let waitMs = this.#rateLimiter.waitMs; waitMs > 0; waitMs = this.#rateLimiter.waitMs) {
      await pause(Math.min(waitMs, heartbeatMs), signal);
      if (signal.aborted) return;
      if (waitMs > heartbeatMs) await this.#publish(publisher, []);
    }
  }

  /** The router rejects calls of an unknown or disabled source: the membership would be recorded, but not delivered. */
  #isSourceEnabled(): boolean {
    return this.#deps.config.source(this.audience.sourceId)?.enabled === true;
  }

  async #finish(publisher: ExclusivePublisher, end: PassEnd, partitions: number): Promise<void> {
    if (end === 'stopped') {
      await this.#publish(publisher, [], this.#with({ state: 'interrupted', problem: stoppedProblem }));
    } else if (end === 'source-unavailable') {
      await this.#publish(publisher, [], this.#with({ state: 'failed', problem: sourceUnavailableProblem }));
    } else if (this.audience.sync.kind === 'replace') {
      await this.#publish(publisher, [], this.#with({ state: 'done' }));
    } else {
      await this.#publishTombstones(publisher, partitions);
      this.audience = this.#with({ state: 'done' });
    }
  }

  /** Deletes the audience: its mark in each partition, and its state. */
  async #publishTombstones(publisher: ExclusivePublisher, partitions: number): Promise<void> {
    const { names } = this.#deps;
    const key = audienceKey(this.audience);
    const marks = Array.from({ length: partitions }, (_, partition) => ({
      topic: names.audiences,
      partition,
    }));
    const all = [...marks, { topic: names.audiencesSyncs, partition: 0 }];
    await publisher.publish(all.map((place) => ({ ...place, key, value: null })));
  }

  /** Writes the records together with the state of the sync after them. */
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

  #with(update: Partial<AudienceSync>, members = this.audience.members): Audience {
    const updatedAt = new Date().toISOString();
    return { ...this.audience, members, sync: { ...this.audience.sync, ...update, updatedAt } };
  }

  #set(update: Partial<AudienceSync>, members?: number): void {
    this.audience = this.#with(update, members);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
