/** The changes of the configuration that have not been reported, from the topic `config`. */
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';

interface ConfigEntryChange {
  /** `source`, `destination`; a later release may add others. */
  readonly kind: string;
  readonly id: string;
  readonly change: 'created' | 'updated' | 'deleted';
}

/** The entries that one change wrote together. */
export interface ConfigChangeGroup {
  /** The id of the change; absent where a release before wrote it. */
  readonly changeId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The offset of its last record. */
  readonly offset: number;
  /** All entries by what happened to them. */
  readonly counts: Readonly<Record<ConfigEntryChange['change'], number>>;
  /** The first of the entries. */
  readonly entries: readonly ConfigEntryChange[];
}

/** Entries that an event lists. */
const maxEntries = 20;
/** Changes that are kept until they are reported; the oldest are forgotten first. */
const maxGroups = 1_000;

export type ConfigChanges = Awaited<ReturnType<typeof openConfigChanges>>;

/** Resolves once the topic is read to its end. */
export async function openConfigChanges(kafka: Pick<Kafka, 'follow'>, topic: string) {
  /** The keys of the entries that exist: a record of another entry creates it. */
  const existing = new Set<string>();
  let groups: ConfigChangeGroup[] = [];
  let latest = -1;

  const onRecord = ({ key: bytes, value, headers, offset, timestamp }: ConsumedRecord): void => {
    const key = bytes?.toString() ?? '';
    const [, kind, id] = /^([a-z]+)\/(.+)$/s.exec(key) ?? [];
    latest = offset;
    if (kind === undefined || id === undefined) return;
    const change = value === null ? 'deleted' : existing.has(key) ? 'updated' : 'created';
    if (value === null) existing.delete(key);
    else existing.add(key);
    const changeId = headers['change-id']?.toString();
    const last = groups.at(-1);
    const isSame = changeId !== undefined && last?.changeId === changeId;
    const group = isSame ? last : { changeId, counts: { created: 0, updated: 0, deleted: 0 }, entries: [] };
    const counts = { ...group.counts, [change]: group.counts[change] + 1 };
    const entries =
      group.entries.length < maxEntries ? [...group.entries, { kind, id, change } as const] : group.entries;
    if (isSame) groups.pop();
    groups.push({ changeId, at: timestamp, offset, counts, entries });
    if (groups.length > maxGroups) groups = groups.slice(-maxGroups / 2);
  };

  const follower = await kafka.follow({ topic, onRecord });
  return {
    /** The offset of the latest record that was read; -1 without one. */
    get offset(): number {
      return latest;
    },
    /** Those that are not forgotten, oldest first. */
    all: (): readonly ConfigChangeGroup[] => groups,
    /** Forgets the changes up to `offset`. */
    forget(offset: number): void {
      groups = groups.filter((group) => group.offset > offset);
    },
    close: () => follower.close(),
  };
}
