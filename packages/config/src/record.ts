/**
 * Records of the `config` topic: the key is `source/<id>` or `destination/<id>`, the value the entry as JSON
 * with its defaults, and a tombstone (null) where the entry was removed.
 */
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { checkDestination, checkSource } from './check.ts';
import { formatPath } from './problem.ts';
import type { Destination, Source } from './schema.ts';

export type EntryKind = 'source' | 'destination';

export type ConfigRecord =
  | { readonly kind: 'source'; readonly id: string; readonly entry: Source | null }
  | { readonly kind: 'destination'; readonly id: string; readonly entry: Destination | null };

export function entryKey(kind: EntryKind, id: string): string {
  return `${kind}/${id}`;
}

export function encodeEntry(
  topic: string,
  kind: EntryKind,
  id: string,
  entry: Source | Destination | null,
): OutgoingRecord {
  return { topic, key: entryKey(kind, id), value: entry === null ? null : JSON.stringify(entry) };
}

/**
 * What a record says, or a clause on why it cannot be read. Keys of a newer version are let through: during a
 * rolling upgrade, an older service goes on with what it understands.
 */
export function decodeEntry({ key, value }: Pick<ConsumedRecord, 'key' | 'value'>): ConfigRecord | string {
  const [, kind, id] = /^(source|destination)\/([a-zA-Z0-9_-]{1,64})$/.exec(key?.toString() ?? '') ?? [];
  if (kind === undefined || id === undefined) return 'its key is neither source/<id> nor destination/<id>';
  const isSource = kind === 'source';
  if (value === null) return isSource ? { kind, id, entry: null } : { kind: 'destination', id, entry: null };

  let content: unknown;
  try {
    content = JSON.parse(value.toString());
  } catch {
    return 'its value is not JSON';
  }
  const options = { allowUnknownKeys: true };
  const checked = isSource ? checkSource(content, options) : checkDestination(content, options);
  if ('problems' in checked) {
    return checked.problems.map(({ path, message }) => `${formatPath(path)} ${message}`.trim()).join(', ');
  }
  if (checked.value.id !== id) return 'the id in its value is not the one in its key';
  return { kind, id, entry: checked.value } as ConfigRecord;
}
