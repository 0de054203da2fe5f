/**
 * Audiences: membership of users, sent to destinations as traits of identify calls (docs/specification.md, rule 13.1).
 * An upload replaces the whole membership or changes it; only the differences are sent.
 */
import { randomUUID } from 'node:crypto';
import type { ConfigView } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import { isLimited } from '../access/limits.ts';
import { Places } from '../access/places.ts';
import { amounts } from '../access/shared.ts';
import { instanceId, interruptPreviousSyncs } from './instance.ts';
import { addCurrentMembers } from './sync/current-members.ts';
import { silentProblem, stoppedProblem } from './sync/problems.ts';
import { readMembers, type MembershipFormat, type UploadKind } from './read-members.ts';
import { takeRoom, type Room } from './room.ts';
import {
  audienceKey,
  previewedUsers,
  type Audience,
  type AudienceKey,
  type AudiencePreview,
  type AudienceSync,
} from './state/records.ts';
import { otherRuns, Sync, takesOver, type AudienceUsers } from './sync/sync.ts';
import { checkDestination, checkTarget, type AudienceTarget } from './target.ts';
import { traitName } from './trait-name.ts';
import { openAudienceView, type AudienceView } from './state/view.ts';

export type { MembershipFormat, UploadKind } from './read-members.ts';
export type { Audience, AudienceKey, AudienceSync } from './state/records.ts';
export { maxNameLength, type AudienceTarget } from './target.ts';
export { traitName } from './trait-name.ts';

export interface AudiencesOptions {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly config: Pick<ConfigView, 'source' | 'destination' | 'refresh'>;
  readonly users: AudienceUsers;
  /** For the files of running syncs, and the id of the instance. */
  readonly folder: string;
  /** Identify calls per second of a sync without its own rate. */
  readonly ratePerSecond: number;
  readonly log: Pick<KafkaLog, 'info' | 'warn'>;
  /** How long an upload of a limited token and its sync may take. Default: that of the table of what is shared. */
  readonly longestMs?: number;
}

export interface Upload extends AudienceTarget {
  /** `replace`: the whole membership. `change`: users who join and leave. */
  readonly kind: UploadKind;
  /** An incomplete stream must throw; then nothing is changed. */
  readonly stream: AsyncIterable<Buffer>;
  readonly format: MembershipFormat;
  /** Whether a whole membership without members may remove all members. */
  readonly allowEmpty?: boolean;
}

/** The present members are sent to one destination. */
export interface Sending extends AudienceTarget {
  readonly kind: 'send';
  readonly destination: string;
}

/** What a sync is begun with. */
type Begun = Pick<AudienceSync, 'kind' | 'read' | 'members'> &
  Partial<Pick<AudienceSync, 'sendId' | 'destination'>>;

export async function openAudiences(options: AudiencesOptions): Promise<Audiences> {
  const view = await openAudienceView(options.kafka, options.names.audiencesSyncs);
  const instance = instanceId(options.folder);
  const audiences = new Audiences(options, view, instance);
  await interruptPreviousSyncs(options, view.all(), instance);
  return audiences;
}

type Wanted = AudienceTarget & Pick<AudienceSync, 'kind'>;

export class Audiences {
  readonly #options: AudiencesOptions;
  readonly #view: AudienceView;
  readonly #instance: string;
  readonly #closing = new AbortController();
  /** The latest sync of each audience that was started here, including those that have ended. */
  readonly #syncs = new Map<string, Sync>();
  readonly #running = new Set<Promise<unknown>>();
  /** A sync needs a file cache of 16 MB and one portion in memory. */
  readonly #places = new Places('audienceSyncs');

  constructor(options: AudiencesOptions, view: AudienceView, instance: string) {
    this.#options = options;
    this.#view = view;
    this.#instance = instance;
  }

  /**
   * Resolves once the upload is read and its sync is recorded. A whole list has then taken over from any earlier sync of the audience.
   *
   * @throws TailraceError `not-found`, `conflict`, `invalid-membership`, `overloaded`, `too-many-at-once`, `took-too-long`,
   *   `kafka-unavailable`: then nothing has changed
   */
  async sync(wanted: Upload | Sending): Promise<Audience> {
    using room = this.#takeRoom(wanted);
    const { key, begun } = await this.#read(wanted, room);
    return await this.#start(key, wanted, room.keep(), begun);
  }

  /** Who would join and leave, or be sent. Changes nothing. Throws as `sync`. */
  async preview(wanted: Upload | Sending): Promise<AudiencePreview> {
    using room = this.#takeRoom(wanted);
    const { key, begun } = await this.#read(wanted, room);
    const { kafka, names, users } = this.#options;
    const { membership, signal } = room;
    const { sendId } = begun;
    await users.refresh();
    await room.unlessAborted(
      addCurrentMembers(kafka, names, { audience: key, sendId, users, membership, signal }),
    );
    const { added, removed } = membership.counts();
    const joining = membership.first(true, previewedUsers);
    const leaving = membership.first(false, previewedUsers);
    return { read: begun.read, members: begun.members, added, removed, joining, leaving };
  }

  /** The members by id, page by page until the room is disposed of. @throws TailraceError as `preview` */
  async members(target: AudienceTarget) {
    // As for a deletion, to which each member is a change.
    using room = this.#takeRoom({ ...target, kind: 'delete' });
    const audience = this.get(target.sourceId, target.name);
    if (!audience) throw notFound(target);
    const { kafka, names, users } = this.#options;
    const { membership, signal } = room;
    await users.refresh();
    await room.unlessAborted(
      addCurrentMembers(kafka, names, { audience, sendId: undefined, users, membership, signal }),
    );
    const kept = room.keep();
    const pageAfter = (after: string | undefined, limit: number) => {
      const items = membership.changes(after, limit).map(({ userId }) => ({ userId }));
      const last = items.length === limit ? items.at(-1) : undefined;
      return { items, ...(last && { next: last.userId }) };
    };
    return {
      room: kept,
      read: ({ limit, cursor }: { readonly limit: number; readonly cursor?: string }) =>
        kept.unlessAborted(Promise.resolve(pageAfter(cursor, limit))),
    };
  }

  /** Starts a sync in which every member leaves and after which the audience is deleted. Throws as `sync`. */
  async remove(target: AudienceTarget): Promise<Audience> {
    const wanted = { ...target, kind: 'delete' } as const;
    using room = this.#takeRoom(wanted);
    const key = await this.#targetOf(wanted);
    if (!this.#find(key)) throw notFound(target);
    return await this.#start(key, target, room.keep(), { kind: 'delete', read: 0, members: 0 });
  }

  /** Resolves once everything that the topic contains is known. @throws TailraceError `kafka-unavailable` */
  refresh(): Promise<void> {
    return this.#view.refresh();
  }

  /** By name. */
  list(sourceId: string): Audience[] {
    return this.keys()
      .filter((key) => key.sourceId === sourceId)
      .flatMap((key) => this.#find(key) ?? [])
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** All audiences, also those of deleted sources. */
  keys(): AudienceKey[] {
    const own = Array.from(this.#syncs.values(), ({ audience }) => audience);
    const all = [...this.#view.all(), ...own];
    return [...new Map(all.map((audience) => [audienceKey(audience), audience])).values()];
  }

  get(sourceId: string, name: string): Audience | undefined {
    const found = this.#find({ sourceId, trait: traitName(name) });
    return found?.name === name ? found : undefined;
  }

  /** Interrupts the syncs of this instance. */
  async close(): Promise<void> {
    this.#closing.abort(stoppedProblem);
    await Promise.allSettled(this.#running);
    await this.#view.close();
  }

  #takeRoom({ kind, asker, sourceId }: Wanted): Room {
    const { signal: closing } = this.#closing;
    if (closing.aborted) throw new TailraceError('shutting-down');
    const { folder, longestMs } = this.#options;
    const place = this.#places.take(asker, sourceId);
    return takeRoom(place, { kind, isLimited: isLimited(asker), folder, longestMs, closing });
  }

  async #targetOf(wanted: Wanted): Promise<AudienceKey> {
    const { config } = this.#options;
    await Promise.all([config.refresh(), this.#view.refresh()]);
    const key = checkTarget(wanted, config, (key) => this.#find(key));
    if (!takesOver(wanted) && this.#find(key)?.sync.state === 'running') throw otherRuns(wanted.name);
    if (!this.#find(key) && this.list(key.sourceId).length >= amounts.audiencesOfSource) {
      throw new TailraceError('conflict', tooManyMessage);
    }
    return key;
  }

  async #read(wanted: Upload | Sending, room: Room): Promise<{ key: AudienceKey; begun: Begun }> {
    const key = await this.#targetOf(wanted);
    if (wanted.kind === 'send') return { key, begun: this.#beginSending(key, wanted) };
    const counts = await room.unlessAborted(this.#receive(wanted, room));
    const { kind, allowEmpty } = wanted;
    const wouldEmpty = kind === 'replace' && counts.members === 0 && (this.#find(key)?.members ?? 0) > 0;
    if (wouldEmpty && !allowEmpty) throw new TailraceError('invalid-membership', emptyMessage);
    return { key, begun: { kind, ...counts } };
  }

  /** With the `sendId` of the interrupted sync that it continues. */
  #beginSending(key: AudienceKey, wanted: Sending): Begun {
    const { kind, destination } = wanted;
    checkDestination(this.#options.config, wanted);
    const found = this.#find(key);
    if (!found) throw notFound(wanted);
    const { sync } = found;
    const isContinued = sync.kind === kind && sync.destination === destination && sync.state !== 'done';
    const sendId = (isContinued ? sync.sendId : undefined) ?? randomUUID();
    return { kind, destination, sendId, read: 0, members: 0 };
  }

  async #receive(
    { kind, stream, format }: Upload,
    { membership, signal }: Room,
  ): Promise<{ read: number; members: number }> {
    let read = 0;
    let members = 0;
    for await (const batch of readMembers(stream, format, kind)) {
      if (signal.aborted) break;
      members += membership.addWanted(batch.users);
      read = batch.lines;
    }
    return { read, members };
  }

  /** Resolves once the sync is recorded in Kafka. */
  async #start(key: AudienceKey, target: AudienceTarget, room: Room, begun: Begun): Promise<Audience> {
    const now = new Date().toISOString();
    const started = Promise.withResolvers<undefined>();
    const audience: Audience = {
      ...key,
      name: target.name,
      members: this.#find(key)?.members ?? 0,
      sync: {
        id: randomUUID(),
        ...begun,
        state: 'running',
        startedAt: now,
        updatedAt: now,
        sent: 0,
        instance: this.#instance,
      },
    };
    const { membership, signal } = room;
    const ratePerSecond = this.#rateOf(target);
    const onStarted = (): void => started.resolve(undefined);
    const sync = new Sync(
      { ...this.#options, view: this.#view },
      { audience, membership, ratePerSecond, signal, onStarted },
    );
    const running = sync.run().finally(() => {
      sync.hasEnded = true;
      room[Symbol.dispose]();
      this.#running.delete(running);
      this.#logEnd(sync.audience);
    });
    this.#running.add(running);
    await Promise.race([started.promise, running]);
    this.#syncs.set(audienceKey(key), sync);
    // From here on a rejection is a defect, which ends the process.
    running.catch((defect: unknown) => {
      queueMicrotask(() => {
        throw defect;
      });
    });
    return sync.audience;
  }

  /** A limited token sends no faster than its source may over HTTP, nor than by default. */
  #rateOf({ sourceId, asker, ratePerSecond: wanted }: AudienceTarget): number {
    const { config, ratePerSecond } = this.#options;
    if (!isLimited(asker)) return wanted ?? ratePerSecond;
    const { rateLimit = Infinity } = config.source(sourceId) ?? {};
    return Math.min(wanted ?? Infinity, ratePerSecond, rateLimit);
  }

  #logEnd(audience: Audience): void {
    const { id, kind, state, sent, total } = audience.sync;
    this.#options.log.info(
      { audience: audienceKey(audience), sync: id, kind, state, sent, total },
      'audience sync ended',
    );
  }

  /** The state of a sync of this instance, or the state that was read from Kafka, the later of the two. */
  #find(key: AudienceKey): Audience | undefined {
    const viewed = this.#view.get(key);
    const own = this.#syncs.get(audienceKey(key));
    if (!own) return viewed && this.#interruptedIfSilent(viewed);
    const { audience } = own;
    const isSame = viewed?.sync.id === audience.sync.id;
    if (!own.hasEnded || isSame) return isDeleted(audience) ? undefined : audience;
    if (viewed || isDeleted(audience)) this.#syncs.delete(audienceKey(key));
    return viewed && this.#interruptedIfSilent(viewed);
  }

  /** Shows a sync of another instance as interrupted once that instance has stopped reporting. */
  #interruptedIfSilent(audience: Audience): Audience {
    const { sync } = audience;
    if (sync.state !== 'running' || !this.#view.isSilent(audience)) return audience;
    return { ...audience, sync: { ...sync, state: 'interrupted', problem: silentProblem } };
  }
}

function isDeleted({ sync }: Audience): boolean {
  return sync.kind === 'delete' && sync.state === 'done';
}

const tooManyMessage = `The source has ${amounts.audiencesOfSource} audiences, the maximum. Delete one first.`;
const emptyMessage =
  'The upload has no members, so every member would leave the audience. To confirm, send it with allowEmpty=true. ' +
  'Nothing was changed.';

function notFound({ name }: AudienceTarget): TailraceError {
  return new TailraceError('not-found', `The source has no audience ${JSON.stringify(name)}.`);
}
