/**
 * Audiences: membership of users, sent to destinations as traits of identify calls (docs/specification.md, rule 13.1).
 * An upload replaces the whole membership; only the differences are sent.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ConfigView } from '@tailrace/config';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';
import { openMembership, type Membership } from './membership.ts';
import { readMembers, type MembershipFormat } from './read-members.ts';
import {
  audienceKey,
  encodeAudience,
  type Audience,
  type AudienceKey,
  type AudienceSync,
} from './records.ts';
import { publisherId, startSync, stoppedProblem, transactionTimeoutMs, type Sync } from './sync.ts';
import { traitName } from './trait-name.ts';
import { openAudienceView, silentAfterMs, type AudienceView } from './view.ts';

export type { MembershipFormat } from './read-members.ts';
export type { Audience, AudienceSync, SyncState } from './records.ts';
export { traitName } from './trait-name.ts';

export interface AudiencesOptions {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly config: Pick<ConfigView, 'source' | 'refresh'>;
  /** For files that exist while a sync runs. */
  readonly folder: string;
  /** Identify calls a second, of each sync that does not say another. */
  readonly ratePerSecond: number;
  readonly log: Pick<KafkaLog, 'info' | 'warn'>;
}

export interface AudienceTarget {
  readonly sourceId: string;
  readonly name: string;
  readonly ratePerSecond?: number | undefined;
}

export interface Upload extends AudienceTarget {
  /** The whole membership. A stream that breaks off must throw; then nothing is changed. */
  readonly stream: AsyncIterable<Buffer>;
  readonly format: MembershipFormat;
  /** Without it an upload without members is refused where the audience has some. */
  readonly allowEmpty: boolean;
}

export interface Audiences {
  /**
   * Resolves once the upload is read, and its sync has taken over from any other of the audience and is recorded.
   *
   * @throws TailraceError `not-found`, `conflict`, `invalid-membership`, `overloaded`, `kafka-unavailable`: then
   *   nothing has changed
   */
  replace(upload: Upload): Promise<Audience>;
  /** Tells of every member that it has left, and ends the audience. Throws as `replace`. */
  remove(target: AudienceTarget): Promise<Audience>;
  /** By name. */
  list(sourceId: string): Audience[];
  get(sourceId: string, name: string): Audience | undefined;
  /** Interrupts what runs here. */
  close(): Promise<void>;
}

/** Each takes a file cache of 16 MB, and a portion on its way. */
const mostAtOnce = 4;
export const maxNameLength = 200;

export async function openAudiences(options: AudiencesOptions): Promise<Audiences> {
  const { kafka, names, log } = options;
  const view = await openAudienceView(kafka, names.audiencesSyncs);
  const instance = instanceId(options.folder);
  const audiences = new AudienceKeeper(options, view, instance);
  for (const audience of view.all()) {
    if (audience.sync.state !== 'running' || audience.sync.instance !== instance) continue;
    await markInterrupted(options, audience).catch((error: unknown) => {
      if (!isTailraceError(error)) throw error;
      log.warn({ err: error, audience: audienceKey(audience) }, 'a sync of an earlier run was not closed');
    });
  }
  return audiences;
}

class AudienceKeeper implements Audiences {
  readonly #options: AudiencesOptions;
  readonly #view: AudienceView;
  readonly #instance: string;
  readonly #closing = new AbortController();
  /** Syncs that began here, the latest of each audience; those that have ended too. */
  readonly #syncs = new Map<string, Sync & { hasEnded: boolean }>();
  readonly #running = new Set<Promise<unknown>>();
  #uploads = 0;

  constructor(options: AudiencesOptions, view: AudienceView, instance: string) {
    this.#options = options;
    this.#view = view;
    this.#instance = instance;
  }

  async replace(upload: Upload): Promise<Audience> {
    this.#checkRoom();
    const membership = openMembership(this.#options.folder);
    this.#uploads += 1;
    let taken: { readonly key: AudienceKey; readonly read: number; readonly members: number };
    try {
      const key = await this.#check(upload);
      taken = { key, ...(await this.#take(upload, membership)) };
      if (taken.members === 0 && (this.#find(key)?.members ?? 0) > 0 && !upload.allowEmpty) {
        throw new TailraceError('invalid-membership', emptyMessage);
      }
    } catch (error) {
      membership.close();
      throw error;
    } finally {
      this.#uploads -= 1;
    }
    const { key, read, members } = taken;
    return this.#begin(key, upload, membership, { kind: 'replace', read, members });
  }

  async remove(target: AudienceTarget): Promise<Audience> {
    this.#checkRoom();
    const key = await this.#check(target);
    if (!this.#find(key)) throw notFound(target);
    const membership = openMembership(this.#options.folder);
    return this.#begin(key, target, membership, { kind: 'delete', read: 0, members: 0 });
  }

  list(sourceId: string): Audience[] {
    const traits = new Set(this.#view.ofSource(sourceId).map(({ trait }) => trait));
    for (const { audience } of this.#syncs.values())
      if (audience.sourceId === sourceId) traits.add(audience.trait);
    return [...traits]
      .flatMap((trait) => this.#find({ sourceId, trait }) ?? [])
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get(sourceId: string, name: string): Audience | undefined {
    const found = this.#find({ sourceId, trait: traitName(name) });
    return found?.name === name ? found : undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
    await this.#view.close();
  }

  /** Bounds what is done at a time, which bounds memory. */
  #checkRoom(): void {
    if (this.#closing.signal.aborted) throw new TailraceError('shutting-down');
    if (this.#uploads + this.#running.size < mostAtOnce) return;
    const message = `${mostAtOnce} audiences are being synced here. Send it again later.`;
    throw new TailraceError('too-many-at-once', message, { retryAfterS: 30 });
  }

  async #check({ sourceId, name }: AudienceTarget): Promise<AudienceKey> {
    const { config } = this.#options;
    await Promise.all([config.refresh(), this.#view.refresh()]);
    const source = config.source(sourceId);
    if (!source) throw new TailraceError('not-found', `There is no source ${JSON.stringify(sourceId)}.`);
    if (!source.enabled) {
      throw new TailraceError(
        'conflict',
        'The source is disabled, so that nothing of it is sent. Enable it first.',
      );
    }
    const trait = traitName(name);
    if (trait === '' || name.length > maxNameLength || !name.isWellFormed()) {
      const rule = `is not a text of 1 to ${maxNameLength} characters, a letter or a digit among them`;
      throw new TailraceError('invalid-request', `name ${rule}.`, { problems: [{ field: 'name', rule }] });
    }
    const other = this.#find({ sourceId, trait });
    if (other && other.name !== name) {
      const message = `The audience ${JSON.stringify(other.name)} of this source has the same trait, ${trait}.`;
      throw new TailraceError('conflict', message);
    }
    return { sourceId, trait };
  }

  async #take(
    { stream, format }: Upload,
    membership: Membership,
  ): Promise<{ read: number; members: number }> {
    let read = 0;
    let members = 0;
    for await (const batch of readMembers(stream, format)) {
      members += membership.want(batch.userIds);
      read = batch.lines;
      if (this.#closing.signal.aborted) throw new TailraceError('shutting-down');
    }
    return { read, members };
  }

  async #begin(
    key: AudienceKey,
    { name, ratePerSecond = this.#options.ratePerSecond }: AudienceTarget,
    membership: Membership,
    what: Pick<AudienceSync, 'kind' | 'read' | 'members'>,
  ): Promise<Audience> {
    const { log } = this.#options;
    const now = new Date().toISOString();
    const begun = Promise.withResolvers<undefined>();
    const audience: Audience = {
      ...key,
      name,
      members: this.#find(key)?.members ?? 0,
      sync: {
        id: randomUUID(),
        ...what,
        state: 'running',
        startedAt: now,
        updatedAt: now,
        sent: 0,
        instance: this.#instance,
      },
    };
    const sync = startSync(
      { ...this.#options, view: this.#view },
      {
        audience,
        membership,
        ratePerSecond,
        signal: this.#closing.signal,
        onBegun: () => {
          begun.resolve(undefined);
        },
      },
    );
    const entry = {
      get audience() {
        return sync.audience;
      },
      ended: sync.ended,
      hasEnded: false,
    };
    const running = sync.ended.finally(() => {
      entry.hasEnded = true;
      this.#running.delete(running);
      const { id, kind, state, sent, total } = sync.audience.sync;
      log.info(
        { audience: audienceKey(key), sync: id, kind, state, sent, total },
        'an audience sync has ended',
      );
    });
    this.#running.add(running);
    await Promise.race([begun.promise, running]);
    this.#syncs.set(audienceKey(key), entry);
    // It goes on by itself. What it then fails with is a defect, and ends the process.
    running.catch((defect: unknown) => {
      queueMicrotask(() => {
        throw defect;
      });
    });
    return sync.audience;
  }

  /** What is known here or was read, whichever is later. */
  #find(key: AudienceKey): Audience | undefined {
    const viewed = this.#view.get(key);
    const own = this.#syncs.get(audienceKey(key));
    if (!own) return viewed && judge(viewed);
    const { audience } = own;
    const isSame = viewed?.sync.id === audience.sync.id;
    if (!own.hasEnded || isSame) return isDeleted(audience) ? undefined : audience;
    if (viewed || isDeleted(audience)) this.#syncs.delete(audienceKey(key));
    return viewed && judge(viewed);
  }
}

function isDeleted({ sync }: Audience): boolean {
  return sync.kind === 'delete' && sync.state === 'done';
}

/** A sync that runs elsewhere, as far as can be told from here. */
function judge(audience: Audience): Audience {
  const { sync } = audience;
  const isSilent = Date.now() - Date.parse(sync.updatedAt) > silentAfterMs;
  if (sync.state !== 'running' || !isSilent) return audience;
  return { ...audience, sync: { ...sync, state: 'interrupted', problem: silentProblem } };
}

const silentProblem = {
  code: 'shutting-down',
  message: 'The control instance that ran it says nothing any more. Sync again: only the rest is sent.',
};

const emptyMessage =
  'The upload has no members, and the audience has: everybody would leave. If that is meant, say allowEmpty=true. ' +
  'Nothing was changed.';

function notFound({ name }: AudienceTarget): TailraceError {
  return new TailraceError('not-found', `The source has no audience ${JSON.stringify(name)}.`);
}

/** Says of a sync that ran in an earlier life of this instance that it does not any more, and ends its transaction. */
async function markInterrupted({ kafka, names }: AudiencesOptions, audience: Audience): Promise<void> {
  const publisher = await kafka.exclusivePublisher(publisherId(names, audience), { transactionTimeoutMs });
  try {
    const sync = { ...audience.sync, state: 'interrupted' as const, problem: stoppedProblem };
    const record = encodeAudience(names.audiencesSyncs, { ...audience, sync });
    await publisher.publish([{ ...record, partition: 0 }]);
  } finally {
    await publisher.close();
  }
}

/** The same for all lives of an instance: it is kept where the instance keeps its data. */
function instanceId(folder: string): string {
  const file = path.join(folder, 'instance-id');
  mkdirSync(folder, { recursive: true });
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const id = randomUUID();
    writeFileSync(file, id);
    return id;
  }
}
