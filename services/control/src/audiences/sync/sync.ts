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
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { ExclusivePublisher, Kafka, Partitioner } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import { createCurrentMembersReader, type CurrentMembersReader } from './current-members.ts';
import type { Membership } from './membership.ts';
import { createPortion, maxPortion } from './portion.ts';
import {
  destinationUnavailableProblem,
  sourceUnavailableProblem,
  supersededProblem,
  type Problem,
} from './problems.ts';
import { audienceKey, markRecord, type Audience, type AudienceSync } from '../state/records.ts';
import type { AudienceView } from '../state/view.ts';
import type { SuppressionStore } from '../../suppressions/store.ts';
import { SyncState } from './state.ts';

/** The users who are suppressed, and those who were deleted. */
export type AudienceUsers = Pick<
  SuppressionStore,
  'isSuppressed' | 'deletedUntil' | 'revision' | 'wasDeletedSince' | 'refresh'
>;

export interface SyncDependencies {
  readonly kafka: Pick<Kafka, 'exclusivePublisher' | 'partitioner' | 'scan'>;
  readonly names: Pick<TopicNames, 'events' | 'audiences' | 'audiencesSyncs'>;
  readonly config: Pick<ConfigView, 'source' | 'destination'>;
  readonly users: AudienceUsers;
  readonly view: Pick<AudienceView, 'get' | 'isSilent' | 'refresh'>;
}

export interface SyncOptions {
  /** The audience to record; `members` is the count of the previous sync. */
  readonly audience: Audience;
  readonly membership: Membership;
  /** Identify calls per second. */
  readonly ratePerSecond: number;
  /** Interrupts the sync after the transaction in flight. Its reason is the problem. */
  readonly signal: AbortSignal;
  /** Called once the sync has taken over and is recorded. */
  readonly onStarted: () => void;
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

/** A problem: the router would reject calls of the source, or not deliver them to the destination. */
type PassEnd = 'done' | 'stopped' | Problem;

interface Partitioners {
  readonly events: Partitioner;
  readonly members: Partitioner;
}

export class Sync {
  /** Set by its owner, when it has given back what the sync took up. */
  hasEnded = false;
  readonly #deps: SyncDependencies;
  readonly #options: SyncOptions;
  readonly #state: SyncState;
  readonly #rateLimiter = new RateLimiter();
  readonly #currentMembers: CurrentMembersReader;
  /** The id of the latest sync when this one started. */
  readonly #previousSyncId: string | undefined;
  #started = false;
  /** The revision of the deleted users when the sync began. */
  #revision: number | undefined;

  constructor(deps: SyncDependencies, options: SyncOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#state = new SyncState(options.audience, deps.names);
    this.#currentMembers = createCurrentMembersReader(deps, options.audience, options.signal);
    this.#previousSyncId = deps.view.get(options.audience)?.sync.id;
  }

  /** The current state, which may be ahead of Kafka. */
  get audience(): Audience {
    return this.#state.audience;
  }

  get #stopProblem(): Problem {
    return this.#options.signal.reason as Problem;
  }

  /** Resolves when the sync has ended in any state. Rejects where it could not start, or on a defect. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    const startedAt = performance.now();
    let pauseMs = retryPauseMs.first;
    for (;;) {
      const { sent } = this.#state.audience.sync;
      try {
        await this.#pass();
        return;
      } catch (error) {
        if (!isTailraceError(error)) throw error;
        const mayRetry = this.#started || performance.now() - startedAt < startTimeoutMs;
        if (error.code === 'superseded') {
          await pause(takeOverMs, signal);
          if (await this.#isSuperseded()) {
            this.#state.set({ state: 'interrupted', problem: supersededProblem });
            return;
          }
        } else if (error.code !== 'kafka-unavailable' || !mayRetry) {
          if (!this.#started) throw error;
          this.#state.set({ state: 'failed', problem: { code: error.code, message: error.message } });
          return;
        }
        if (signal.aborted) {
          this.#state.set({ state: 'interrupted', problem: this.#stopProblem });
          return;
        }
        if (this.#state.audience.sync.sent > sent) pauseMs = retryPauseMs.first;
        await pause(pauseMs, signal);
        pauseMs = Math.min(pauseMs * 2, retryPauseMs.max);
      }
    }
  }

  /** Whether a later sync of the audience is recorded. The broker also fences a publisher whose transaction timed out. */
  async #isSuperseded(): Promise<boolean> {
    const { view } = this.#deps;
    await view.refresh().catch(() => undefined);
    const latest = view.get(this.#state.audience)?.sync.id;
    return latest !== undefined && latest !== this.#state.audience.sync.id && latest !== this.#previousSyncId;
  }

  /**
   * A change and a send end no sync that has begun since they were asked for: fenced by this one, it finds no later record, and
   * goes on.
   */
  async #yield(): Promise<void> {
    const { view } = this.#deps;
    const { audience } = this.#state;
    if (takesOver(audience.sync)) return;
    await view.refresh();
    if (view.get(audience)?.sync.state === 'running' && !view.isSilent(audience)) {
      throw otherRuns(audience.name);
    }
  }

  /** Fences earlier syncs, reads the current members, sends the differences, and records the end. */
  async #pass(): Promise<void> {
    const { kafka, names } = this.#deps;
    const partitioners = {
      events: await kafka.partitioner(names.events),
      members: await kafka.partitioner(names.audiences),
    };
    const id = publisherId(names, this.#state.audience);
    const publisher = await kafka.exclusivePublisher(id, { transactionTimeoutMs });
    try {
      if (!this.#started) await this.#yield();
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
    // Deletions from before the sync are known when the members are read.
    await this.#deps.users.refresh();
    this.#revision ??= this.#deps.users.revision;
    const mark = randomUUID();
    const marks = Array.from({ length: partitions }, (_, partition) =>
      markRecord(names.audiences, this.#state.audience, mark, partition),
    );
    await this.#state.publish(publisher, marks);
    // A publisher starts a transaction only once its previous one, here that of the marks, is readable.
    await this.#state.publish(publisher, []);
    if (!this.#started) onStarted();
    this.#started = true;
    return this.#currentMembers.readUntil(mark, partitions, membership, async () => {
      if (this.#state.silenceMs > heartbeatMs) await this.#state.publish(publisher, []);
    });
  }

  #compare(): void {
    const { before, added, removed } = this.#options.membership.counts();
    const remaining = added + removed;
    const {
      total = remaining,
      added: firstAdded = added,
      removed: firstRemoved = removed,
    } = this.#state.audience.sync;
    const counts = { added: firstAdded, removed: firstRemoved, total, sent: total - remaining };
    this.#state.set({ ...counts, refused: undefined }, before);
  }

  async #send(publisher: ExclusivePublisher, partitioners: Partitioners): Promise<PassEnd> {
    const { names } = this.#deps;
    const { membership, ratePerSecond, signal } = this.#options;
    const limit = Math.min(Math.ceil(ratePerSecond / portionsPerSecond), maxPortion.records);
    let after: string | undefined;
    for (;;) {
      const changes = membership.changes(after, limit);
      if (changes.length === 0) return 'done';
      const isRefused = (userId: string): boolean => this.#isRefused(userId);
      const portion = createPortion({ names, partitioners, isRefused }, this.#state.audience, changes);
      after = portion.lastUser;
      if (portion.refused > 0)
        this.#state.set({ refused: (this.#state.audience.sync.refused ?? 0) + portion.refused });
      await this.#waitForRate(publisher);
      if (signal.aborted) return 'stopped';
      const unavailable = this.#unavailable();
      if (unavailable) return unavailable;
      this.#rateLimiter.spend(portion.count, ratePerSecond);
      const { sync, members } = this.#state.audience;
      const next = this.#state.with({ sent: sync.sent + portion.count }, members + portion.gain);
      await this.#state.publish(publisher, portion.records, next);
    }
  }

  /**
   * The router would refuse the call of a suppressed user. A user who was deleted after the sync began was uploaded, or read as a
   * member, before that.
   */
  #isRefused(userId: string): boolean {
    const { users } = this.#deps;
    const { sourceId } = this.#state.audience;
    return users.isSuppressed(userId) || users.wasDeletedSince(this.#revision ?? 0, sourceId, userId);
  }

  async #waitForRate(publisher: ExclusivePublisher): Promise<void> {
    const { signal } = this.#options;
    for (let waitMs = this.#rateLimiter.waitMs; waitMs > 0; waitMs = this.#rateLimiter.waitMs) {
      await pause(Math.min(waitMs, heartbeatMs), signal);
      if (signal.aborted) return;
      if (waitMs > heartbeatMs) await this.#state.publish(publisher, []);
    }
  }

  /** Then the membership would be recorded, but not delivered. */
  #unavailable(): Problem | undefined {
    const { config } = this.#deps;
    const { sourceId, sync } = this.#state.audience;
    if (config.source(sourceId)?.enabled !== true) return sourceUnavailableProblem;
    if (sync.destination === undefined) return undefined;
    const destination = config.destination(sync.destination);
    const isReached = destination?.enabled === true && destination.sources.includes(sourceId);
    return isReached ? undefined : destinationUnavailableProblem;
  }

  async #finish(publisher: ExclusivePublisher, end: PassEnd, partitions: number): Promise<void> {
    if (end === 'stopped') {
      await this.#state.publish(
        publisher,
        [],
        this.#state.with({ state: 'interrupted', problem: this.#stopProblem }),
      );
    } else if (end !== 'done') {
      await this.#state.publish(publisher, [], this.#state.with({ state: 'failed', problem: end }));
    } else if (this.#state.audience.sync.kind === 'delete') {
      await this.#state.publishTombstones(publisher, partitions);
    } else {
      await this.#state.publish(publisher, [], this.#state.with({ state: 'done' }));
    }
  }
}

/** Whether the sync ends one of the same audience that runs: it says of every user whether she is a member. */
export function takesOver({ kind }: Pick<AudienceSync, 'kind'>): boolean {
  return kind === 'replace' || kind === 'delete';
}

export function otherRuns(name: string): TailraceError {
  return new TailraceError(
    'conflict',
    `A sync of the audience ${JSON.stringify(name)} is running. Send this again when it has ended. Nothing was changed.`,
  );
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
