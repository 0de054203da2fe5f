/**
 * Records of the `config` topic: the key is `source/<id>` or `destination/<id>`, the value the entry as JSON
 * with its defaults and its secrets sealed, and a tombstone (null) where the entry was removed.
 */
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { checkDestination, checkSource } from './check.ts';
import { formatPath } from './problem.ts';
import type { Destination, Source } from './schema.ts';
import type { SecretKeys } from './seal.ts';
import { openDestination, sealDestination } from './secrets.ts';

export type EntryKind = 'source' | 'destination';

/** An entry and its kind; null where it was, or is to be, removed. */
export type Entry =
  | { readonly kind: 'source'; readonly id: string; readonly entry: Source | null }
  | { readonly kind: 'destination'; readonly id: string; readonly entry: Destination | null };

/** `stale`: it has secrets that are not sealed with the current key. */
export type ConfigRecord = Entry & { readonly stale: boolean };

/** Why a record cannot be read, as a clause; `locked` where it is for want of a key. */
export interface Unreadable {
  readonly problem: string;
  readonly locked: boolean;
}

export function entryKey(kind: EntryKind, id: string): string {
  return `${kind}/${id}`;
}

/** @param key seals what is secret; without it, that is written as it is */
export function encodeEntry(topic: string, entry: Entry, key?: Buffer): OutgoingRecord {
  const stored =
    entry.kind === 'destination' && entry.entry ? sealDestination(entry.entry, key) : entry.entry;
  return { topic, key: entryKey(entry.kind, entry.id), value: stored && JSON.stringify(stored) };
}

/**
 * What a record says, or why it cannot be read. Keys of a newer version are let through: during a rolling upgrade, an
 * older service goes on with what it understands.
 *
 * @param secretKeys absent where the caller has no use for secrets: stand-ins are in the place of sealed ones then
 */
export function decodeEntry(
  { key, value }: Pick<ConsumedRecord, 'key' | 'value'>,
  secretKeys?: SecretKeys,
): ConfigRecord | Unreadable {
  const [, kind, id] = /^(source|destination)\/([a-zA-Z0-9_-]{1,64})$/.exec(key?.toString() ?? '') ?? [];
  if (kind === undefined || id === undefined) {
    return unreadable('its key is neither source/<id> nor destination/<id>');
  }
  const isSource = kind === 'source';
  if (value === null) return { kind: isSource ? 'source' : 'destination', id, entry: null, stale: false };

  let content: unknown;
  try {
    content = JSON.parse(value.toString());
  } catch {
    return unreadable('its value is not JSON');
  }
  const options = { allowUnknownKeys: true };
  const opened = isSource ? { content, stale: false } : openDestination(content, id, secretKeys);
  if (opened.locked !== undefined) return { problem: opened.locked, locked: true };
  const checked = isSource ? checkSource(content, options) : checkDestination(opened.content, options);
  if ('problems' in checked) {
    return unreadable(
      checked.problems.map(({ path, message }) => `${formatPath(path)} ${message}`.trim()).join(', '),
    );
  }
  if (checked.value.id !== id) return unreadable('the id in its value is not the one in its key');
  return { kind, id, entry: checked.value, stale: opened.stale } as ConfigRecord;
}

function unreadable(problem: string): Unreadable {
  return { problem, locked: false };
}
