/**
 * The records of `suppressions`: users whose calls the router refuses, and users who were deleted. Compaction keeps the last
 * record of each key; a tombstone lifts the suppression or the deletion.
 *
 * | key                          | value                                                  |
 * | ---------------------------- | ------------------------------------------------------ |
 * | `suppressed/<userId>`        | `{"since": ...}`                                       |
 * | `deleted/<source>/<userId>`  | `{"requests": [{"id", "at", "before"}]}`, the latest request last |
 *
 * `<source>` is `*` where the deletion covers all sources, which no id of a source can be.
 */
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { objectIn, type RecordPosition } from '@tailrace/records';

/** Suppressed users and deletions together: the most that control accepts. Readers need about 34 bytes for each. */
export const maxSuppressions = 1_000_000;

export const allSources = '*';

export interface SuppressedUser {
  readonly kind: 'suppressed';
  readonly userId: string;
  /** ISO 8601, UTC with milliseconds. */
  readonly since: string;
}

/** One deletion request that covers a user. */
export interface UserDeletion {
  /** The id of the request. */
  readonly id: string;
  /** By the clock of control, which may differ from others: ISO 8601, UTC with milliseconds. */
  readonly at: string;
  /**
   * Where the partition of `events` with the user's calls ended when the request was created: those below are not sent any more.
   * Calls that are in another partition, and those of a request without this place, are judged by `at`.
   */
  readonly before?: RecordPosition | undefined;
}

export interface DeletedUser {
  readonly kind: 'deleted';
  readonly userId: string;
  /** The id of a source, or {@link allSources}. */
  readonly scope: string;
  /** In the order of time, at least one. */
  readonly requests: readonly UserDeletion[];
}

/** A record without `entry` is a tombstone. */
export type SuppressionRecord =
  | { readonly kind: 'suppressed'; readonly userId: string; readonly entry: SuppressedUser | undefined }
  | {
      readonly kind: 'deleted';
      readonly userId: string;
      readonly scope: string;
      readonly entry: DeletedUser | undefined;
    };

export function suppressedKey(userId: string): string {
  return `suppressed/${userId}`;
}

export function deletedKey(scope: string, userId: string): string {
  return `deleted/${scope}/${userId}`;
}

export function encodeSuppressed(topic: string, { userId, since }: SuppressedUser): OutgoingRecord {
  return { topic, key: suppressedKey(userId), value: JSON.stringify({ since }) };
}

export function encodeDeleted(topic: string, { scope, userId, requests }: DeletedUser): OutgoingRecord {
  return { topic, key: deletedKey(scope, userId), value: JSON.stringify({ requests }) };
}

/** Undefined where the record is not valid. */
export function decodeSuppression({
  key,
  value,
}: Pick<ConsumedRecord, 'key' | 'value'>): SuppressionRecord | undefined {
  const text = key?.toString() ?? '';
  const suppressed = /^suppressed\/(.+)$/s.exec(text);
  if (suppressed) {
    const [, userId = ''] = suppressed;
    if (value === null) return { kind: 'suppressed', userId, entry: undefined };
    const { since } = objectIn<SuppressedUser>(value) ?? {};
    if (typeof since !== 'string' || !isTime(since)) return undefined;
    return { kind: 'suppressed', userId, entry: { kind: 'suppressed', userId, since } };
  }
  const [, scope, userId] = /^deleted\/([^/]+)\/(.+)$/s.exec(text) ?? [];
  if (scope === undefined || userId === undefined) return undefined;
  if (value === null) return { kind: 'deleted', scope, userId, entry: undefined };
  const { requests } = objectIn<DeletedUser>(value) ?? {};
  if (!Array.isArray(requests) || requests.length === 0 || !requests.every(isDeletion)) return undefined;
  return { kind: 'deleted', scope, userId, entry: { kind: 'deleted', scope, userId, requests } };
}

/** When the user was deleted last, in milliseconds since the epoch. */
export function deletedUntil({ requests }: Pick<DeletedUser, 'requests'>): number {
  return Math.max(...requests.map(({ at }) => Date.parse(at)));
}

/**
 * The place of the latest request. Undefined where that was made by a release without places: an earlier place would leave out
 * what came between the two. A request that was continued late may be written after one that was made after it.
 */
export function deletedBefore({ requests }: Pick<DeletedUser, 'requests'>): RecordPosition | undefined {
  const latest = requests.at(-1)?.before;
  if (!latest) return undefined;
  const { partition } = latest;
  const offsets = requests.map(({ before }) => (before?.partition === partition ? before.offset : 0));
  return { partition, offset: Math.max(...offsets) };
}

function isDeletion(value: unknown): value is UserDeletion {
  const { id, at, before } = (value ?? {}) as { readonly [Name in keyof UserDeletion]: unknown };
  return (
    typeof id === 'string' &&
    typeof at === 'string' &&
    isTime(at) &&
    (before === undefined || isPosition(before))
  );
}

function isPosition(value: unknown): value is RecordPosition {
  const { partition, offset } = (value ?? {}) as { readonly [Name in keyof RecordPosition]: unknown };
  return Number.isSafeInteger(partition) && Number.isSafeInteger(offset);
}

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}
