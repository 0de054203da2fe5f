/**
 * Brings the topic to what a configuration says, writing only what differs. Two that apply at the same moment
 * do not see each other: of one entry, the last to write wins.
 */
import { isDeepStrictEqual } from 'node:util';
import { TailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import { checkConfiguration, missingSources } from './check.ts';
import { problemsError, type ParsedConfiguration } from './file.ts';
import { formatPath, type FieldPath, type Problem } from './problem.ts';
import { encodeEntry, type EntryKind } from './record.ts';
import type { Configuration, Destination, Source } from './schema.ts';
import { createState, type ConfigState } from './state.ts';

/**
 * `left`: in the topic and not in the configuration, and left as it is because `prune` was not asked for.
 */
export type EntryOutcome = 'created' | 'updated' | 'unchanged' | 'deleted' | 'left';

export interface EntryChange {
  readonly kind: EntryKind;
  readonly id: string;
  readonly outcome: EntryOutcome;
  /** Of an update, the fields that differ, such as `settings.webhooks[0].url`; never their values. */
  readonly fields: readonly string[];
}

export interface ApplyOptions {
  /** Also removes what the configuration does not have. Default false. */
  readonly prune?: boolean | undefined;
  /** Says what would be done, and does nothing. Default false. */
  readonly dryRun?: boolean | undefined;
}

/** A configuration, and where its entries stand in a file where it comes from one. */
export type WantedConfiguration = Configuration & Partial<Pick<ParsedConfiguration, 'placeOf'>>;

interface PlannedChange extends EntryChange {
  readonly entry: Source | Destination | null;
}

/** What is not acknowledged by then is reported; to apply again is harmless. */
const giveUpAfterMs = 10_000;

/**
 * Applies `wanted` to the configuration topic `topic`. Resolves, once all is acknowledged, with what became of
 * each entry.
 *
 * @throws TailraceError `invalid-configuration` with every problem, before anything is written;
 *   `topic-missing`, `kafka-unavailable`, `kafka-refused-credentials`
 */
export async function applyConfiguration(
  kafka: Pick<Kafka, 'follow' | 'listTopics' | 'publisher'>,
  topic: string,
  wanted: WantedConfiguration,
  { prune = false, dryRun = false }: ApplyOptions = {},
): Promise<readonly EntryChange[]> {
  const { sources, destinations, placeOf } = wanted;
  const checked = checkConfiguration({ sources, destinations });
  if ('problems' in checked) throw problemsError(checked.problems, placeOf);

  const state = await readState(kafka, topic);
  const problems = conflicts(checked.value, prune ? [] : state.lookup.sources());
  if (problems.length > 0) throw problemsError(problems, placeOf);

  const plan = planChanges(checked.value, state, prune);
  if (!dryRun) await write(kafka, topic, plan);
  return plan.map(({ kind, id, outcome, fields }) => ({ kind, id, outcome, fields }));
}

async function readState(kafka: Pick<Kafka, 'follow' | 'listTopics'>, topic: string): Promise<ConfigState> {
  // To follow a topic is to wait for it; whoever applies wants to be told.
  if (!(await kafka.listTopics()).includes(topic)) {
    throw new TailraceError(
      'topic-missing',
      `The topic ${topic} does not exist. Create the topics with \`npx tailrace topics apply\`.`,
    );
  }
  const state = createState();
  const follower = await kafka.follow({ topic, onRecord: (record) => void state.accept(record) });
  await follower.close();
  return state;
}

/** What would be wrong between the entries that are wanted and the sources of the topic that stay. */
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

/** In the order in which it is to be written: nothing refers to what is not there yet, or not any more. */
function planChanges(
  { sources, destinations }: Configuration,
  state: ConfigState,
  prune: boolean,
): PlannedChange[] {
  const wanted = (
    kind: EntryKind,
    entry: Source | Destination,
    current?: Source | Destination,
  ): PlannedChange => {
    const { id } = entry;
    if (!current) return { kind, id, outcome: 'created', fields: [], entry };
    const fields = changedFields(current, entry, []);
    const isSame = fields.length === 0 && !state.isUnreadable(kind, id);
    return { kind, id, outcome: isSame ? 'unchanged' : 'updated', fields, entry };
  };
  const others = (
    kind: EntryKind,
    current: readonly (Source | Destination)[],
    entries: readonly (Source | Destination)[],
  ): PlannedChange[] => {
    const ids = new Set(entries.map(({ id }) => id));
    const outcome = prune ? 'deleted' : 'left';
    return current
      .filter(({ id }) => !ids.has(id))
      .map(({ id }) => ({ kind, id, outcome, fields: [], entry: null }));
  };
  return [
    ...sources.map((entry) => wanted('source', entry, state.lookup.source(entry.id))),
    ...destinations.map((entry) => wanted('destination', entry, state.lookup.destination(entry.id))),
    ...others('destination', state.lookup.destinations(), destinations),
    ...others('source', state.lookup.sources(), sources),
  ];
}

/** Handed over together, records mostly travel in one request, and readers see them all at once. */
async function write(
  kafka: Pick<Kafka, 'publisher'>,
  topic: string,
  plan: readonly PlannedChange[],
): Promise<void> {
  const toWrite = plan.filter(({ outcome }) => outcome !== 'unchanged' && outcome !== 'left');
  if (toWrite.length === 0) return;
  const publisher = kafka.publisher({ giveUpAfterMs });
  try {
    await Promise.all(
      toWrite.map(({ kind, id, entry }) => publisher.publish(encodeEntry(topic, kind, id, entry))),
    );
  } finally {
    await publisher.close();
  }
}

/** The innermost fields in which two values differ; lists of different length differ as a whole. */
function changedFields(before: unknown, after: unknown, path: FieldPath): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return after.flatMap((item, index) => changedFields(before[index], item, [...path, index]));
  }
  if (isMapping(before) && isMapping(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => changedFields(before[key], after[key], [...path, key]));
  }
  return [formatPath(path)];
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
