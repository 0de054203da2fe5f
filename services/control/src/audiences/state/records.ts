/**
 * The records of an audience in Kafka.
 *
 * - `audiences`, key `<source>/<trait>/<userId>`: the user is a member, with the sync that has sent the member to a single
 *   destination; a tombstone once the user has left.
 * - `audiences`, key `<source>/<trait>`, one in each partition: the mark of the latest sync. A sync that has read a partition
 *   up to its mark has read all records of earlier syncs there.
 * - `audiences.syncs`, key `<source>/<trait>`: the audience and its latest sync.
 *
 * Keys hold the trait rather than the name: a trait has no slash, and is unique within a source.
 */
import { hash } from 'node:crypto';
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { objectIn, type ValueOf } from '@tailrace/records';
import type { DeletedUsers } from '@tailrace/suppressions';
import Type from 'typebox';
import { time } from '../../http/schemas.ts';
import { callRecord } from '../../records/call.ts';

export interface Change {
  readonly userId: string;
  /** Whether the user is a member after the change. */
  readonly isMember: boolean;
}

/** What `audiences` has of a user. */
export interface CurrentMember extends Change {
  /** When the user joined; of a member. */
  readonly since?: string;
  /** Whether this sync has sent the member to its destination. */
  readonly isSent?: boolean;
}

export interface AudienceKey {
  readonly sourceId: string;
  readonly trait: string;
}

export const count = (description: string) => Type.Integer({ minimum: 0, description });
const instant = time('ISO 8601, UTC with milliseconds');

/** What clients see of a sync. */
export const syncSchema = Type.Object({
  id: Type.String(),
  // The uploaded users become the members; uploaded users join and leave; the members are sent to one destination; every member leaves,
  // and the audience is deleted.
  kind: Type.Enum(['replace', 'change', 'send', 'delete']),
  destination: Type.Optional(
    Type.String({ description: 'the destination that a sync of the kind send sends to' }),
  ),
  // Interrupted: ended by a shutdown, a crash or a later sync, before everything was sent.
  state: Type.Enum(['running', 'done', 'failed', 'interrupted']),
  startedAt: instant,
  updatedAt: instant,
  read: count('lines of the upload'),
  members: count('distinct users in the upload'),
  added: Type.Optional(
    count('users who join, or members to send; set once the upload has been compared with the members'),
  ),
  removed: Type.Optional(count('users who leave; set together with `added`')),
  total: Type.Optional(count('identify calls to send: `added` plus `removed`')),
  sent: count('identify calls sent'),
  refused: Type.Optional(
    count('changes that were not made, because the user is suppressed or was deleted after the sync began'),
  ),
  problem: Type.Optional(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'why the sync failed or was interrupted, and how to continue' },
    ),
  ),
});

/** The users that a preview names of those who join, and of those who leave. */
export const previewedUsers = 20;
const firstUsers = (who: string) =>
  Type.Array(Type.String(), { description: `the first ${previewedUsers} users who would ${who}` });

export const previewSchema = Type.Object({
  read: count('lines of the upload'),
  members: count('distinct users in the upload'),
  added: count('users who would join, or members who would be sent'),
  removed: count('users who would leave'),
  joining: firstUsers('join'),
  leaving: firstUsers('leave'),
});
export type AudiencePreview = ValueOf<typeof previewSchema>;

export interface AudienceSync extends ValueOf<typeof syncSchema> {
  /** The id of the control instance that runs the sync. */
  readonly instance: string;
  /** Of the kind `send`: what the members that it has sent are recorded with. A sync that continues another one has that of the other. */
  readonly sendId?: string | undefined;
}

export interface Audience extends AudienceKey {
  readonly name: string;
  /** Current number of members. */
  readonly members: number;
  readonly sync: AudienceSync;
}

export function audienceKey({ sourceId, trait }: AudienceKey): string {
  return `${sourceId}/${trait}`;
}

export function encodeAudience(topic: string, audience: Audience): OutgoingRecord {
  return { topic, key: audienceKey(audience), value: JSON.stringify(audience) };
}

/** Returns undefined for a record that is not an audience. */
export function decodeAudience(value: Buffer): Audience | undefined {
  const audience = objectIn<Audience>(value);
  const isAudience = typeof audience?.trait === 'string' && typeof audience.sync?.id === 'string';
  return isAudience ? (audience as Audience) : undefined;
}

/** The identify call for a change, in the form that ingest writes. That of a sync of the kind `send` selects its destination. */
export function identifyRecord(
  topic: string,
  { sourceId, trait, sync: { id, destination } }: Audience,
  { userId, isMember }: Change,
  now: number,
): OutgoingRecord {
  const call = {
    messageId: messageId(id, userId),
    userId,
    traits: { [trait]: isMember },
    ...(destination !== undefined && {
      // A destination may have the id All: it is then sent nothing, rather than every destination something.
      integrations: { All: false, Webhooks: { [destination]: true, All: false } },
    }),
  };
  return callRecord(topic, sourceId, call, { type: 'identify', receivedAt: now });
}

/** Deterministic for a sync and a user; a sync sends one call per user. */
function messageId(syncId: string, userId: string): string {
  return `audience/${syncId}/${hash('sha256', userId, 'base64url').slice(0, 22)}`;
}

export interface MemberValue {
  readonly since?: string | undefined;
  /** The `sendId` of the sync that has sent the member. */
  readonly sentBy?: string | undefined;
}

export function memberRecord(
  topic: string,
  key: AudienceKey,
  { userId, isMember }: Change,
  joined: MemberValue,
): OutgoingRecord {
  const value = isMember ? JSON.stringify(joined) : null;
  return { topic, key: `${audienceKey(key)}/${userId}`, value };
}

export function markRecord(topic: string, key: AudienceKey, mark: string, partition: number): OutgoingRecord {
  return { topic, partition, key: audienceKey(key), value: JSON.stringify({ mark }) };
}

export type MembershipRecord =
  | { readonly kind: 'member'; readonly change: Change; readonly value: Buffer | null }
  | { readonly kind: 'mark'; readonly mark: string };

/**
 * Decodes the records of one audience, and skips other records without decoding them. A user who joined before she was deleted
 * is not a member: the receivers have deleted her.
 */
export function createMembershipReader(
  key: AudienceKey,
  users: Pick<DeletedUsers, 'deletedUntil'>,
): (record: ConsumedRecord) => MembershipRecord | undefined {
  const own = Buffer.from(audienceKey(key));
  const { sourceId } = key;
  const wasDeleted = (userId: string, value: Buffer): boolean => {
    const until = users.deletedUntil(sourceId, userId);
    if (until === undefined) return false;
    const { since } = JSON.parse(value.toString()) as MemberValue;
    return Date.parse(since ?? '') <= until;
  };
  const slash = '/'.charCodeAt(0);
  return ({ key, value }) => {
    if (!key || key.length < own.length || own.compare(key, 0, own.length) !== 0) return undefined;
    if (key.length === own.length) {
      const mark = value && (JSON.parse(value.toString()) as { mark?: unknown }).mark;
      return typeof mark === 'string' ? { kind: 'mark', mark } : undefined;
    }
    if (key[own.length] !== slash) return undefined;
    const userId = key.toString('utf8', own.length + 1);
    const isMember = value !== null && !wasDeleted(userId, value);
    return { kind: 'member', change: { userId, isMember }, value };
  };
}

/** @param sendId of a sync of the kind `send`; for others the value is not decoded */
export function currentMember(
  { change, value }: Extract<MembershipRecord, { readonly kind: 'member' }>,
  sendId: string | undefined,
): CurrentMember {
  if (sendId === undefined || !change.isMember || value === null) return change;
  const { since, sentBy } = JSON.parse(value.toString()) as MemberValue;
  return { ...change, ...(since !== undefined && { since }), isSent: sentBy === sendId };
}
