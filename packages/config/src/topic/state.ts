/**
 * The state that the records of the topic describe. It depends only on the last readable record of each key, so that all
 * processes reach the same state.
 *
 * Indexes are built at the first look-up after a change instead of at each record, so that reading a topic of n entries
 * is linear, and the look-up for an event is one access to a map.
 */
import type { ConsumedRecord } from '@tailrace/kafka';
import { decodeEntry, entryKey, type EntryKind } from './record.ts';
import type { Destination, Source } from '../rules/schema.ts';
import type { SecretKeys } from '../secrets/encryption.ts';

export interface ConfigChange {
  readonly kind: EntryKind;
  readonly id: string;
}

export type Accepted =
  | ({ readonly outcome: 'changed' } & ConfigChange)
  | {
      readonly outcome: 'unreadable';
      readonly key: string;
      readonly problem: string;
      readonly locked: boolean;
    };

export interface ConfigLookup {
  source(id: string): Source | undefined;
  /**
   * The source with this write key, enabled or not. `apply` prevents that several have it; if they do, an
   * enabled one comes before a disabled one, and then the lowest id.
   */
  sourceByWriteKey(writeKey: string): Source | undefined;
  destination(id: string): Destination | undefined;
  /** The enabled destinations that are connected to the source, ordered by id; none for an unknown source. */
  destinationsOf(sourceId: string): readonly Destination[];
  /** All, ordered by id. */
  sources(): readonly Source[];
  destinations(): readonly Destination[];
  /** The version of the entry: the offset of its last record. Undefined if there is no such entry. */
  version(kind: EntryKind, id: string): number | undefined;
}

export interface ConfigState {
  readonly lookup: ConfigLookup;
  /** Applies the next record of the topic. A record that cannot be read does not change the entry. */
  accept(record: Pick<ConsumedRecord, 'key' | 'value' | 'offset'>): Accepted;
  /** Whether the entry's last record could not be read, so that the entry must be written again. */
  isUnreadable(kind: EntryKind, id: string): boolean;
  /** Whether the entry has secrets that are not encrypted with the current key. */
  isStale(kind: EntryKind, id: string): boolean;
  /** The entries that cannot be read because a key is missing, with the reason. */
  readonly locked: ReadonlyMap<string, string>;
}

interface Index {
  readonly sources: readonly Source[];
  readonly destinations: readonly Destination[];
  readonly byWriteKey: ReadonlyMap<string, Source>;
  readonly connected: ReadonlyMap<string, readonly Destination[]>;
}

const none: readonly Destination[] = Object.freeze([]);

/** @param secretKeys absent if the service does not need secrets */
export function createState(secretKeys?: SecretKeys): ConfigState {
  const sources = new Map<string, Source>();
  const destinations = new Map<string, Destination>();
  const versions = new Map<string, number>();
  const unreadable = new Set<string>();
  const locked = new Map<string, string>();
  const stale = new Set<string>();
  let index: Index | undefined;
  const indexed = (): Index => (index ??= buildIndex(sources, destinations));

  return {
    accept(record) {
      const key = record.key?.toString() ?? '';
      const decoded = decodeEntry(record, secretKeys);
      versions.set(key, record.offset);
      locked.delete(key);
      if ('problem' in decoded) {
        unreadable.add(key);
        if (decoded.locked) locked.set(key, decoded.problem);
        return { outcome: 'unreadable', key, ...decoded };
      }
      unreadable.delete(key);
      if (decoded.stale) stale.add(key);
      else stale.delete(key);
      if (decoded.entry === null) versions.delete(key);
      const { kind, id, entry } = decoded;
      if (entry === null) (kind === 'source' ? sources : destinations).delete(id);
      else if (kind === 'source') sources.set(id, entry);
      else destinations.set(id, entry);
      index = undefined;
      return { outcome: 'changed', kind, id };
    },
    isUnreadable: (kind, id) => unreadable.has(entryKey(kind, id)),
    isStale: (kind, id) => stale.has(entryKey(kind, id)),
    locked,
    lookup: {
      source: (id) => sources.get(id),
      sourceByWriteKey: (writeKey) => indexed().byWriteKey.get(writeKey),
      destination: (id) => destinations.get(id),
      destinationsOf: (sourceId) => indexed().connected.get(sourceId) ?? none,
      sources: () => indexed().sources,
      destinations: () => indexed().destinations,
      version: (kind, id) =>
        (kind === 'source' ? sources : destinations).has(id) ? versions.get(entryKey(kind, id)) : undefined,
    },
  };
}

function buildIndex(
  sourcesById: ReadonlyMap<string, Source>,
  destinationsById: ReadonlyMap<string, Destination>,
): Index {
  const sources = [...sourcesById.values()].sort(byId);
  const destinations = [...destinationsById.values()].sort(byId);

  const byWriteKey = new Map<string, Source>();
  for (const source of sources) {
    for (const writeKey of source.writeKeys) {
      const before = byWriteKey.get(writeKey);
      if (!before || (!before.enabled && source.enabled)) byWriteKey.set(writeKey, source);
    }
  }

  const connected = new Map<string, Destination[]>(sources.map(({ id }) => [id, []]));
  for (const destination of destinations) {
    if (!destination.enabled) continue;
    for (const sourceId of destination.sources) connected.get(sourceId)?.push(destination);
  }
  return { sources, destinations, byWriteKey, connected };
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}
