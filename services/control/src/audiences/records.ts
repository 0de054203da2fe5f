/**
 * What an audience is in Kafka.
 *
 * - `audiences`, key `<source>/<trait>/<userId>`: the user is a member; a tombstone where not any more.
 * - `audiences`, key `<source>/<trait>`, one in each partition: the mark of whoever began a sync last. Who reads the
 *   partition as far as that has read everything that earlier syncs wrote there.
 * - `audiences.syncs`, key `<source>/<trait>`: the audience and its latest sync.
 *
 * The trait stands in keys, not the audience's name: it holds no slash, and a source has it once.
 */
import { hash } from 'node:crypto';
import { readCall } from '@tailrace/events';
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import type { Change } from './membership.ts';

export interface AudienceKey {
  readonly sourceId: string;
  readonly trait: string;
}

/** `interrupted`: ended before all was sent, by a stop, a crash, or a later sync. */
export type SyncState = 'running' | 'done' | 'failed' | 'interrupted';

export interface AudienceSync {
  readonly id: string;
  /** `replace`: the members become those that were uploaded. `delete`: everybody leaves, and the audience ends. */
  readonly kind: 'replace' | 'delete';
  readonly state: SyncState;
  /** ISO 8601, UTC with milliseconds. */
  readonly startedAt: string;
  readonly updatedAt: string;
  /** Lines of the upload, and users in it, each counted once. */
  readonly read: number;
  readonly members: number;
  /** Users who join and leave by it, and the sum; known once it has been compared with the present members. */
  readonly added?: number | undefined;
  readonly removed?: number | undefined;
  readonly total?: number | undefined;
  /** Of `total`, how many identify calls have been written. */
  readonly sent: number;
  /** Why it failed or was interrupted, and what to do. */
  readonly problem?: { readonly code: string; readonly message: string } | undefined;
  /** Names the control instance that runs it. */
  readonly instance: string;
}

export interface Audience extends AudienceKey {
  readonly name: string;
  /** Members at present. */
  readonly members: number;
  readonly sync: AudienceSync;
}

export function audienceKey({ sourceId, trait }: AudienceKey): string {
  return `${sourceId}/${trait}`;
}

export function encodeAudience(topic: string, audience: Audience): OutgoingRecord {
  return { topic, key: audienceKey(audience), value: JSON.stringify(audience) };
}

/** The audience, or undefined where somebody else wrote the record. */
export function decodeAudience(value: Buffer): Audience | undefined {
  try {
    const audience = JSON.parse(value.toString()) as Partial<Audience> | null;
    const isAudience = typeof audience?.trait === 'string' && typeof audience.sync?.id === 'string';
    return isAudience ? (audience as Audience) : undefined;
  } catch {
    return undefined;
  }
}

/** The identify call that tells of a change, as ingest would have written it. */
export function identifyRecord(
  topic: string,
  { sourceId, trait }: AudienceKey,
  syncId: string,
  { userId, isMember }: Change,
  now: number,
): OutgoingRecord {
  const reading = readCall(
    { userId, traits: { [trait]: isMember } },
    { type: 'identify', receivedAt: now, fallbackMessageId: () => messageId(syncId, userId) },
  );
  if (!reading.ok) throw new Error(reading.message);
  return { topic, key: userId, value: JSON.stringify(reading.event), headers: { 'source-id': sourceId } };
}

/** The same whenever this sync tells of this user, which it does once. */
function messageId(syncId: string, userId: string): string {
  return `audience/${syncId}/${hash('sha256', userId, 'base64url').slice(0, 22)}`;
}

export function memberRecord(
  topic: string,
  key: AudienceKey,
  { userId, isMember }: Change,
  since: string,
): OutgoingRecord {
  const value = isMember ? JSON.stringify({ since }) : null;
  return { topic, key: `${audienceKey(key)}/${userId}`, value };
}

export function markRecord(topic: string, key: AudienceKey, mark: string, partition: number): OutgoingRecord {
  return { topic, partition, key: audienceKey(key), value: JSON.stringify({ mark }) };
}

export type MembershipRecord =
  { readonly kind: 'member'; readonly change: Change } | { readonly kind: 'mark'; readonly mark: string };

/** Reads records of one audience, and passes over those of others without decoding them. */
export function createMembershipReader(
  key: AudienceKey,
): (record: ConsumedRecord) => MembershipRecord | undefined {
  const own = Buffer.from(audienceKey(key));
  const slash = '/'.charCodeAt(0);
  return ({ key, value }) => {
    if (!key || key.length < own.length || own.compare(key, 0, own.length) !== 0) return undefined;
    if (key.length === own.length) {
      const mark = value && (JSON.parse(value.toString()) as { mark?: unknown }).mark;
      return typeof mark === 'string' ? { kind: 'mark', mark } : undefined;
    }
    if (key[own.length] !== slash) return undefined;
    return {
      kind: 'member',
      change: { userId: key.toString('utf8', own.length + 1), isMember: value !== null },
    };
  };
}
