/**
 * The state that the records of the topic describe. It depends only on the last readable record of each key, so that all
 * processes reach the same state.
 *
 * Lists are made at the first look-up after a change instead of at each record, so that reading a topic of n entries
 * is linear. The look-up for an event is an access to a map, and another entry's change does not make it slower.
 */
import type { ConsumedRecord } from '@tailrace/kafka';
import { TailraceError } from '@tailrace/errors';
import { decodeEntry, entryKey, ownerKey, queriesSealedKey, type EntryKind } from './record.ts';
import { Connections, notConnected, sortedById, type Connected } from './connections.ts';
import { builtInSource } from '../rules/source/built-in.ts';
import { unmetBy, type Reader, type Requirement } from '../rules/level.ts';
import type { Notification } from '../rules/notification/schema.ts';
import type { Destination, Source } from '../rules/schema.ts';
import type { Token } from '../rules/token.ts';
import type { SecretKeys } from '../secrets/encryption.ts';
import type { QuerySealing } from '../secrets/secrets.ts';

export interface ConfigChange {
  readonly kind: EntryKind;
  readonly id: string;
}

export type Accepted =
  | ({ readonly outcome: 'changed' } & ConfigChange)
  | { readonly outcome: 'about-all' }
  | {
      readonly outcome: 'unreadable';
      readonly key: string;
      readonly problem: string;
      readonly locked: boolean;
    };

export interface ConfigLookup {
  /** Also the built-in source. */
  source(id: string): Source | undefined;
  /**
   * The source with this write key, enabled or not. `apply` prevents that several have it; if they do, an
   * enabled one comes before a disabled one, and then the lowest id.
   */
  sourceByWriteKey(writeKey: string): Source | undefined;
  destination(id: string): Destination | undefined;
  /** The enabled destinations that are connected to the source, ordered by id; none for an unknown source. */
  destinationsOf(sourceId: string): readonly Destination[];
  /** The disabled ones; {@link destinationsOf} has the others. Both are the very same arrays until one of them changes. */
  disabledDestinationsOf(sourceId: string): readonly Destination[];
  /** All stored ones, ordered by id. */
  sources(): readonly Source[];
  destinations(): readonly Destination[];
  notification(id: string): Notification | undefined;
  /** All, ordered by id; the very same array until one changes. */
  notifications(): readonly Notification[];
  /** A token of the API, expired or not. */
  token(id: string): Token | undefined;
  /** All, ordered by id. */
  tokens(): readonly Token[];
  /** The version of the entry: the offset of its last record. Undefined if there is no such entry. */
  version(kind: EntryKind, id: string): number | undefined;
}

export type ConfigState = ReturnType<typeof createState>;

/**
 * @param secretKeys absent if the service does not need secrets
 * @param holds whether destinations that delivery must hold back are paused; not for a writer, which would store it
 * @param owner the installation of this process; by default it may be any
 */
export function createState(
  secretKeys?: SecretKeys,
  { holds = false, owner: own }: { readonly holds?: boolean; readonly owner?: string | undefined } = {},
) {
  let owner: string | undefined;
  const sources = new Map<string, Source>();
  const destinations = new Map<string, Destination>();
  const notifications = new Map<string, Notification>();
  const tokens = new Map<string, Token>();
  const byKind = { source: sources, destination: destinations, notification: notifications, token: tokens };
  const versions = new Map<string, number>();
  const unreadable = new Map<string, string>();
  const locked = new Map<string, string>();
  const stale = new Set<string>();
  const unmet = new Map<string, readonly Requirement[]>();
  const hold = (destination: Destination): Destination => {
    // A disabled one gets nothing, whatever it requires.
    const requires = destination.enabled ? unmetBy(destination) : [];
    if (requires.length === 0) unmet.delete(destination.id);
    else unmet.set(destination.id, requires);
    return holds && requires.some(({ by }) => by === 'delivery')
      ? { ...destination, paused: true }
      : destination;
  };
  const plainQueries = new Set<string>();
  const sealedQueries = new Set<string>();
  let isEmpty = true;
  let areQueriesSealed = false;
  const sealsQueries = (): boolean => isEmpty || areQueriesSealed || sealedQueries.size > 0;
  const markQueries = (key: string, queries: QuerySealing | undefined): void => {
    mark(plainQueries, key, queries === 'plain' || queries === 'mixed');
    mark(sealedQueries, key, queries === 'sealed' || queries === 'mixed');
  };
  const connections = new Connections();
  const sorted = {
    source: new Lazy(() => sortedById(sources)),
    destination: new Lazy(() => sortedById(destinations)),
    notification: new Lazy(() => sortedById(notifications)),
    token: new Lazy(() => sortedById(tokens)),
  };
  const writeKeys = new Lazy(() => byWriteKey(sorted.source.value));
  // A source of this id that was created before the id was reserved stays in force.
  const source = (id: string): Source | undefined =>
    sources.get(id) ?? (id === builtInSource.id ? builtInSource : undefined);
  const connectedTo = (sourceId: string): Connected =>
    source(sourceId) ? connections.of(sourceId) : notConnected;
  const lookup: ConfigLookup = {
    source,
    sourceByWriteKey: (writeKey) => writeKeys.value.get(writeKey),
    destination: (id) => destinations.get(id),
    destinationsOf: (sourceId) => connectedTo(sourceId).enabled,
    disabledDestinationsOf: (sourceId) => connectedTo(sourceId).disabled,
    sources: () => sorted.source.value,
    destinations: () => sorted.destination.value,
    notification: (id) => notifications.get(id),
    notifications: () => sorted.notification.value,
    token: (id) => tokens.get(id),
    tokens: () => sorted.token.value,
    version: (kind, id) => (byKind[kind].has(id) ? versions.get(entryKey(kind, id)) : undefined),
  };

  return {
    /** Applies the next record of the topic. A record that cannot be read does not change the entry. */
    accept(record: Pick<ConsumedRecord, 'key' | 'value' | 'offset'>): Accepted {
      const key = record.key?.toString() ?? '';
      if (key === ownerKey) {
        owner = record.value?.toString();
        return { outcome: 'about-all' };
      }
      isEmpty = false;
      if (key === queriesSealedKey) {
        areQueriesSealed = record.value !== null;
        return { outcome: 'about-all' };
      }
      const decoded = decodeEntry(record, secretKeys);
      versions.set(key, record.offset);
      locked.delete(key);
      if ('problem' in decoded) {
        const { problem, locked: isLocked } = decoded;
        unreadable.set(key, problem);
        if (isLocked) {
          locked.set(key, problem);
          markQueries(key, decoded.queries);
        }
        return { outcome: 'unreadable', key, problem, locked: isLocked };
      }
      unreadable.delete(key);
      mark(stale, key, decoded.stale);
      markQueries(key, decoded.queries);
      if (decoded.entry === null) versions.delete(key);
      const { kind, id, entry } = decoded;
      const before = destinations.get(id);
      if (entry === null) {
        byKind[kind].delete(id);
        if (kind === 'destination') unmet.delete(id);
      } else if (kind === 'source') sources.set(id, entry);
      else if (kind === 'destination') destinations.set(id, hold(entry));
      else if (kind === 'notification') notifications.set(id, entry);
      else tokens.set(id, entry);
      sorted[kind].forget();
      if (kind === 'destination') connections.replace(before, destinations.get(id));
      else if (kind === 'source') writeKeys.forget();
      return { outcome: 'changed', kind, id };
    },
    /** Whether the entry's last record could not be read, so that the entry must be written again. */
    isUnreadable: (kind: EntryKind, id: string): boolean => unreadable.has(entryKey(kind, id)),
    /** By destination, the features that this release does not have and the reader would do harm without. */
    unmet: (reader: Reader): ReadonlyMap<string, readonly Requirement[]> =>
      new Map([...unmet].filter(([, requires]) => requires.some(({ by }) => by === reader))),
    /** Whether the entry has secrets that are not encrypted with the current key; queries of URLs only if they are sealed. */
    isStale: (kind: EntryKind, id: string): boolean => {
      const key = entryKey(kind, id);
      return stale.has(key) || (sealsQueries() && plainQueries.has(key));
    },
    /** How the queries of the URLs of a destination are stored. */
    queries: (id: string): QuerySealing => {
      const key = entryKey('destination', id);
      if (plainQueries.has(key)) return sealedQueries.has(key) ? 'mixed' : 'plain';
      return sealedQueries.has(key) ? 'sealed' : 'none';
    },
    /**
     * Whether queries of URLs are sealed: a record says so, or those of one entry are, so every service opens them; or nothing was
     * written yet, so no release before this one reads them.
     */
    get sealsQueries(): boolean {
      return sealsQueries();
    },
    /** Whether the record says so. */
    get areQueriesSealed(): boolean {
      return areQueriesSealed;
    },
    /** Whether the topics belong to nobody yet. */
    get isUnowned(): boolean {
      return own !== undefined && owner === undefined;
    },
    /** `other-owner` where they belong to another installation. */
    get ownedByOther(): TailraceError | undefined {
      if (own === undefined || owner === undefined || own === owner) return undefined;
      return new TailraceError(
        'other-owner',
        `The topics belong to the installation ${JSON.stringify(owner)}, and this one is ${JSON.stringify(own)}. ` +
          `Set another TAILRACE_TOPIC_PREFIX, or, to take the topics over, TAILRACE_OWNER to ${owner}.`,
      );
    },
    /** The keys of the records that cannot be read, with the reason. */
    unreadable: unreadable as ReadonlyMap<string, string>,
    /** The entries that cannot be read because a key is missing, with the reason. */
    locked: locked as ReadonlyMap<string, string>,
    lookup,
  };
}

function mark(keys: Set<string>, key: string, isMarked: boolean): void {
  if (isMarked) keys.add(key);
  else keys.delete(key);
}

/** Made at the first look-up after a change. */
class Lazy<Value> {
  readonly #make: () => Value;
  #value: Value | undefined;

  constructor(make: () => Value) {
    this.#make = make;
  }

  get value(): Value {
    return (this.#value ??= this.#make());
  }

  forget(): void {
    this.#value = undefined;
  }
}

function byWriteKey(sources: readonly Source[]): ReadonlyMap<string, Source> {
  const found = new Map<string, Source>();
  for (const source of sources) {
    for (const writeKey of source.writeKeys) {
      const before = found.get(writeKey);
      if (!before || (!before.enabled && source.enabled)) found.set(writeKey, source);
    }
  }
  return found;
}
