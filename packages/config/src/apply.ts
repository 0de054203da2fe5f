/** Applies a configuration to the topic, writing only the entries that differ. */
import { isDeepStrictEqual } from 'node:util';
import { TailraceError } from '@tailrace/errors';
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import { checkConfiguration, missingSources } from './rules/check.ts';
import { openConfigEditor, type ConfigSnapshot } from './topic/editor.ts';
import { problemsError, type ParsedConfiguration } from './file.ts';
import { field, formatPath, type FieldPath, type Problem } from './rules/problem.ts';
import type { Entry, EntryKind } from './topic/record.ts';
import { redactDestination, redactSource } from './secrets/redact.ts';
import type { Configuration, Destination, Source } from './rules/schema.ts';
import type { SecretKeys } from './secrets/encryption.ts';

/** `left`: in the topic but not in the configuration, and kept because `prune` is not set. */
export type EntryOutcome = 'created' | 'updated' | 'unchanged' | 'deleted' | 'left';

export interface EntryChange {
  readonly kind: EntryKind;
  readonly id: string;
  readonly outcome: EntryOutcome;
  /** For an update, the fields that differ, such as `settings.webhooks[0].url`. */
  readonly fields: readonly string[];
  /** The same fields with both values, redacted: both values of a changed secret look the same. */
  readonly differences: readonly FieldDifference[];
}

/** Undefined stands for an absent value. */
export interface FieldDifference {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface ApplyOptions {
  /** Also deletes entries that the configuration does not contain. Default false. */
  readonly prune?: boolean | undefined;
  /** Returns the changes without writing them. Default false. */
  readonly dryRun?: boolean | undefined;
  /** Without a current key, secrets are written in plain text. */
  readonly secretKeys?: SecretKeys | undefined;
  readonly log?: Pick<KafkaLog, 'warn'> | undefined;
}

/** A configuration, with the places of its fields if it was read from a file. */
export type WantedConfiguration = Configuration & Partial<Pick<ParsedConfiguration, 'placeOf'>>;

type PlannedChange = EntryChange & Entry;

/**
 * Applies `wanted` to the configuration topic `topic`. Resolves with the outcome of each entry once
 * everything is acknowledged.
 *
 * @throws TailraceError `invalid-configuration` with every problem, before anything is written;
 *   `topic-missing`, `kafka-unavailable`, `kafka-refused-credentials`; `secret-locked` if secrets are encrypted and no
 *   current key is given
 */
export async function applyConfiguration(
  kafka: Pick<Kafka, 'follow' | 'listTopics' | 'exclusivePublisher' | 'publisher'>,
  topic: string,
  wanted: WantedConfiguration,
  { prune = false, dryRun = false, secretKeys = {}, log = { warn: () => undefined } }: ApplyOptions = {},
): Promise<readonly EntryChange[]> {
  const { sources, destinations, placeOf } = wanted;
  const checked = checkConfiguration({ sources, destinations });
  if ('problems' in checked) throw problemsError(checked.problems, placeOf);
  const { value } = checked;
  // Following a missing topic would wait for it; this command reports it instead.
  if (!(await kafka.listTopics()).includes(topic)) {
    throw new TailraceError(
      'topic-missing',
      `The topic ${topic} does not exist. Create the topics with \`npx tailrace topics apply\`.`,
    );
  }

  const plan = (current: ConfigSnapshot): PlannedChange[] => {
    const problems = conflicts(value, prune ? [] : current.sources());
    if (problems.length > 0) throw problemsError(problems, placeOf);
    return planChanges(value, current, prune);
  };
  const editor = await openConfigEditor(kafka, topic, log, {
    secretKeys,
    withoutKey: 'write',
    withoutTransactions: 'write',
    mayReplaceLocked: true,
  });
  try {
    const planned = dryRun
      ? plan(editor)
      : (await editor.change((current) => decisionOf(plan(current)))).result;
    return planned.map(({ kind, id, outcome, fields, differences }) => ({
      ...{ kind, id, outcome, fields, differences },
    }));
  } finally {
    await editor.close();
  }
}

function decisionOf(planned: readonly PlannedChange[]) {
  const writes = planned.filter(({ outcome }) => outcome !== 'unchanged' && outcome !== 'left');
  return { writes, result: planned };
}

/** The conflicts between the wanted entries and the remaining sources of the topic. */
function conflicts({ sources, destinations }: Configuration, existing: readonly Source[]): Problem[] {
  const wantedIds = new Set(sources.map(({ id }) => id));
  const staying = existing.filter(({ id }) => !wantedIds.has(id));
  const owners = new Map(staying.flatMap(({ id, writeKeys }) => writeKeys.map((key) => [key, id])));
  const taken = sources.flatMap((source, index) =>
    source.writeKeys.flatMap((key, position): Problem[] => {
      const owner = owners.get(key);
      if (owner === undefined) return [];
      const path: FieldPath = ['sources', index, 'writeKeys', position];
      const message = `is already a write key of the source ${JSON.stringify(owner)}, which is not in this configuration`;
      return [{ path, message, about: 'value' }];
    }),
  );
  const ids = [...wantedIds, ...staying.map(({ id }) => id)];
  return [...taken, ...missingSources(destinations, ids)];
}

/** In the order in which readers apply them: no entry refers to one that does not exist yet or any more. */
function planChanges(
  { sources, destinations }: Configuration,
  current: ConfigSnapshot,
  prune: boolean,
): PlannedChange[] {
  const outcomeOf = (
    { kind, id, entry }: Entry,
    before: Source | Destination | undefined,
  ): Omit<EntryChange, 'kind' | 'id'> => {
    if (!before) return { outcome: 'created', fields: [], differences: [] };
    const paths = changedFields(before, entry, []);
    const isDue = paths.length > 0 || current.isUnreadable(kind, id) || current.isStale(kind, id);
    const [shownBefore, shownAfter] = [redact(before), entry && redact(entry)];
    const differences = paths.map((path) => ({
      field: formatPath(path),
      before: valueAt(shownBefore, path),
      after: valueAt(shownAfter, path),
    }));
    return {
      outcome: isDue ? 'updated' : 'unchanged',
      fields: differences.map((difference) => difference.field),
      differences,
    };
  };
  const wanted = (entry: Entry, before: Source | Destination | undefined): PlannedChange => ({
    ...entry,
    ...outcomeOf(entry, before),
  });
  const others = (
    kind: EntryKind,
    present: readonly (Source | Destination)[],
    entries: readonly (Source | Destination)[],
  ): PlannedChange[] => {
    const ids = new Set(entries.map(({ id }) => id));
    const outcome = prune ? 'deleted' : 'left';
    return present
      .filter(({ id }) => !ids.has(id))
      .map(({ id }) => ({ kind, id, outcome, fields: [], differences: [], entry: null }));
  };
  return [
    ...sources.map((entry) => wanted({ kind: 'source', id: entry.id, entry }, current.source(entry.id))),
    ...destinations.map((entry) =>
      wanted({ kind: 'destination', id: entry.id, entry }, current.destination(entry.id)),
    ),
    ...others('destination', current.destinations(), destinations),
    ...others('source', current.sources(), sources),
  ];
}

/** The innermost fields in which two values differ; lists of different length differ as a whole. */
function changedFields(before: unknown, after: unknown, path: FieldPath): FieldPath[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return after.flatMap((item, index) => changedFields(before[index], item, [...path, index]));
  }
  if (isMapping(before) && isMapping(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => changedFields(before[key], after[key], [...path, key]));
  }
  return [path];
}

function redact(entry: Source | Destination): Source | Destination {
  return 'writeKeys' in entry ? redactSource(entry) : redactDestination(entry);
}

function valueAt(value: unknown, path: FieldPath): unknown {
  return path.reduce((part, step) => field(part, String(step)), value);
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
