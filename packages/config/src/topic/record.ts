/**
 * Records of the `config` topic. The key is the kind of the entry and its id, such as `source/<id>`. The value is the entry as JSON
 * with its defaults and with encrypted secrets, or null (a tombstone) if the entry was deleted.
 */
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { checkDestination, checkNotification, checkSource, checkToken } from '../rules/check.ts';
import { fromStoredForm, requirementsOf, storedForm, unmetBy, withRequirements } from '../rules/level.ts';
import type { Notification } from '../rules/notification/schema.ts';
import { formatPath } from '../rules/problem.ts';
import type { Destination, Source } from '../rules/schema.ts';
import type { Token } from '../rules/token.ts';
import type { SecretKeys } from '../secrets/encryption.ts';
import { decryptNotification, encryptNotification } from '../secrets/notification.ts';
import {
  decryptDestination,
  encryptDestination,
  type Decrypted,
  type QuerySealing,
} from '../secrets/secrets.ts';

export type EntryKind = 'source' | 'destination' | 'notification' | 'token';

/** An entry and its kind; null if it is deleted. */
export type Entry =
  | { readonly kind: 'source'; readonly id: string; readonly entry: Source | null }
  | { readonly kind: 'destination'; readonly id: string; readonly entry: Destination | null }
  | { readonly kind: 'notification'; readonly id: string; readonly entry: Notification | null }
  | { readonly kind: 'token'; readonly id: string; readonly entry: Token | null };

/** `stale`: it has secrets that are not encrypted with the current key. */
export type ConfigRecord = Entry & Pick<Decrypted, 'stale' | 'queries'>;

/** Why a record cannot be read, as a clause; `locked` if the key of a secret is missing. */
export interface Unreadable {
  readonly problem: string;
  readonly locked: boolean;
  /** Of a locked destination. */
  readonly queries?: QuerySealing;
}

export function entryKey(kind: EntryKind, id: string): string {
  return `${kind}/${id}`;
}

/**
 * @param key encrypts the secrets; without it they are written in plain text
 * @param sealQueries whether the queries of URLs are encrypted too
 */
export function encodeEntry(topic: string, entry: Entry, key?: Buffer, sealQueries = false): OutgoingRecord {
  const stored = storedEntry(entry, key, sealQueries);
  return { topic, key: entryKey(entry.kind, entry.id), value: stored && JSON.stringify(stored) };
}

function storedEntry(entry: Entry, key: Buffer | undefined, sealQueries: boolean): object | null {
  if (entry.kind === 'destination' && entry.entry) return storedDestination(entry.entry, key, sealQueries);
  if (entry.kind === 'notification' && entry.entry) return encryptNotification(entry.entry, key);
  return entry.entry;
}

function storedDestination(entry: Destination, key: Buffer | undefined, sealQueries: boolean): object {
  return storedForm(encryptDestination(withRequirements(entry, requirementsOf(entry)), key, sealQueries));
}

/** The record that says that the queries of URLs are sealed, also where no entry has one. A release before ignores it. */
export const queriesSealedKey = 'queries-sealed';

export function encodeQueriesSealed(topic: string, areSealed: boolean): OutgoingRecord {
  return { topic, key: queriesSealedKey, value: areSealed ? 'true' : null };
}

/** The record that names the installation that the topics belong to (TAILRACE_OWNER). A release before ignores it. */
export const ownerKey = 'owner';

/**
 * The entry of a record, or why it cannot be read. Unknown keys are accepted: during a rolling upgrade, an older service
 * reads entries that a newer version wrote.
 *
 * @param secretKeys absent if the caller does not need secrets: placeholders then replace the encrypted ones
 */
export function decodeEntry(
  { key, value }: Pick<ConsumedRecord, 'key' | 'value'>,
  secretKeys?: SecretKeys,
): ConfigRecord | Unreadable {
  const [, kind, id] =
    /^(source|destination|notification|token)\/([a-zA-Z0-9_-]{1,64})$/.exec(key?.toString() ?? '') ?? [];
  if (kind === undefined || id === undefined) {
    return unreadable('its key is not source/<id>, destination/<id>, notification/<id> or token/<id>');
  }
  if (value === null) return { kind: kind as EntryKind, id, entry: null, stale: false, queries: 'none' };

  let content: unknown;
  try {
    content = JSON.parse(value.toString());
  } catch {
    return unreadable('its value is not JSON');
  }
  // Every process reads all entries when it starts, so nothing is copied.
  const inPlace = true;
  const options = { allowUnknownKeys: true, inPlace };
  const decrypted: Decrypted =
    kind === 'destination'
      ? decryptDestination(content, id, secretKeys)
      : kind === 'notification'
        ? decryptNotification(content, id, secretKeys)
        : { content, stale: false, queries: 'none' };
  if (decrypted.locked !== undefined) {
    return { problem: decrypted.locked, locked: true, queries: decrypted.queries };
  }
  const checked =
    kind === 'source'
      ? checkSource(content, options)
      : kind === 'token'
        ? checkToken(content, { inPlace })
        : kind === 'notification'
          ? checkNotification(decrypted.content, options)
          : checkDestination(fromStoredForm(decrypted.content), options);
  if ('problems' in checked) {
    return unreadable(
      checked.problems.map(({ path, message }) => `${formatPath(path)} ${message}`.trim()).join(', '),
    );
  }
  if (checked.value.id !== id) return unreadable('the id in its value differs from the id in its key');
  const entry =
    kind === 'destination' ? withRequirements(checked.value as Destination, unmetBy(content)) : checked.value;
  const { stale, queries } = decrypted;
  return { kind, id, entry, stale, queries } as ConfigRecord;
}

function unreadable(problem: string): Unreadable {
  return { problem, locked: false };
}
