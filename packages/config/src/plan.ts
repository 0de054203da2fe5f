/** Plans a change of the whole configuration: compares the wanted entries with those of the topic. Pure. */
import { differencesOf, type FieldDifference } from './differences.ts';
import { missingSources } from './rules/check.ts';
import { missingSubjects } from './rules/notification/rules.ts';
import type { Notification } from './rules/notification/schema.ts';
import type { FieldPath, Problem } from './rules/problem.ts';
import type { Configuration, Destination, Source } from './rules/schema.ts';
import { withServerFields } from './rules/destination/server-fields.ts';
import type { ConfigSnapshot, Decision } from './topic/editor.ts';
import type { Entry, EntryKind } from './topic/record.ts';

/** `left`: in the topic but not in the configuration, and kept because `prune` is not set. */
export type EntryOutcome = 'created' | 'updated' | 'unchanged' | 'deleted' | 'left';

type AnyEntry = Source | Destination | Notification;

export interface EntryChange {
  readonly kind: EntryKind;
  readonly id: string;
  readonly outcome: EntryOutcome;
  /** For an update, the fields that differ, such as `settings.webhooks[0].url`. */
  readonly fields: readonly string[];
  /** The same fields with both values, redacted: both values of a changed secret look the same. */
  readonly differences: readonly FieldDifference[];
}

export type PlannedChange = EntryChange & Entry;

/** Writes the entries that differ. */
export function decisionOf(planned: readonly PlannedChange[]): Decision<readonly PlannedChange[]> {
  const writes = planned.filter(({ outcome }) => outcome !== 'unchanged' && outcome !== 'left');
  return { writes, result: planned };
}

/** The changes without the entries. */
export function changesOf(planned: readonly PlannedChange[]): EntryChange[] {
  return planned.map(({ entry: _entry, ...change }) => change);
}

/** The conflicts between the wanted entries and the remaining ones of the topic. */
export function conflicts(
  { sources, destinations, notifications = [] }: Configuration,
  existing: Configuration,
): Problem[] {
  const sourceIds = [...sources, ...existing.sources].map(({ id }) => id);
  const known = new Set(sourceIds);
  const destinationIds = new Set([...destinations, ...existing.destinations].map(({ id }) => id));
  const exists = {
    source: (id: string) => known.has(id),
    destination: (id: string) => destinationIds.has(id),
  };
  return [
    ...takenWriteKeys(sources, existing.sources),
    ...missingSources(destinations, sourceIds),
    ...notifications.flatMap((entry, index) => missingSubjects(entry, exists, ['notifications', index])),
  ];
}

/** A problem for each wanted write key that belongs to a remaining source of the topic. */
export function takenWriteKeys(sources: readonly Source[], existing: readonly Source[]): Problem[] {
  const staying = stayingBeside(sources, existing);
  const owners = new Map(staying.flatMap(({ id, writeKeys }) => writeKeys.map((key) => [key, id])));
  return sources.flatMap((source, index) =>
    source.writeKeys.flatMap((key, position): Problem[] => {
      const owner = owners.get(key);
      if (owner === undefined) return [];
      const path: FieldPath = ['sources', index, 'writeKeys', position];
      const message = `is already a write key of the source ${JSON.stringify(owner)}, which is not in this configuration`;
      return [{ path, message, about: 'value' }];
    }),
  );
}

function stayingBeside(sources: readonly Source[], existing: readonly Source[]): readonly Source[] {
  const wantedIds = new Set(sources.map(({ id }) => id));
  return existing.filter(({ id }) => !wantedIds.has(id));
}

/** In the order in which readers apply them: no entry refers to one that does not exist yet or any more. */
export function planChanges(
  { sources, destinations, notifications }: Configuration,
  current: ConfigSnapshot,
  prune: boolean,
): PlannedChange[] {
  const outcomeOf = (
    { kind, id, entry }: Entry,
    before: AnyEntry | undefined,
  ): Omit<EntryChange, 'kind' | 'id'> => {
    if (!before) return { outcome: 'created', fields: [], differences: [] };
    const differences = differencesOf(before, entry);
    const isDue = differences.length > 0 || current.isUnreadable(kind, id) || current.isStale(kind, id);
    return {
      outcome: isDue ? 'updated' : 'unchanged',
      fields: differences.map((difference) => difference.field),
      differences,
    };
  };
  const wanted = (entry: Entry, before: AnyEntry | undefined): PlannedChange => ({
    ...entry,
    ...outcomeOf(entry, before),
  });
  const others = (
    kind: EntryKind,
    present: readonly AnyEntry[],
    entries: readonly AnyEntry[],
  ): PlannedChange[] => {
    const ids = new Set(entries.map(({ id }) => id));
    const outcome = prune ? 'deleted' : 'left';
    return present
      .filter(({ id }) => !ids.has(id))
      .map(({ id }) => ({ kind, id, outcome, fields: [], differences: [], entry: null }));
  };
  return [
    ...sources.map((entry) => wanted({ kind: 'source', id: entry.id, entry }, current.source(entry.id))),
    ...destinations.map((given) => {
      const before = current.destination(given.id);
      return wanted({ kind: 'destination', id: given.id, entry: withServerFields(given, before) }, before);
    }),
    ...(notifications ?? []).map((entry) =>
      wanted({ kind: 'notification', id: entry.id, entry }, current.notification(entry.id)),
    ),
    ...(notifications ? others('notification', current.notifications(), notifications) : []),
    ...others('destination', current.destinations(), destinations),
    ...others('source', current.sources(), sources),
  ];
}
