/**
 * Explains an event that has neither deliveries nor a decision in the history. Searches `events.rejected` for its rejection, and
 * `events` and `events.waiting` for its call. Nothing is concluded from the current configuration, which may have changed.
 */
import type { ConfigView } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import { parseJson, wholeDigits, type JsonObject } from '@tailrace/events';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { lookUpSource, sourceReference } from '@tailrace/routing';
import type { TopicNames } from '@tailrace/topology';
import { scanUntil } from '../records/deadline.ts';

type EventOutcome =
  | 'rejected'
  /** The router has not finished it. */
  | 'not-routed'
  /** The router has finished it, and left neither deliveries nor a decision that are known. */
  | 'not-recorded'
  | 'not-searched'
  | 'unknown';

interface Rejected {
  readonly code: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The call as it is in `events`. */
export interface Accepted {
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly sourceId: string | undefined;
  readonly type: string | undefined;
  readonly event: string | undefined;
}

export interface Explanation {
  readonly outcome: EventOutcome;
  readonly explanation: string;
  readonly rejections: readonly Rejected[];
  readonly accepted: Accepted | undefined;
  /** Whether the topics were read from `since` to their ends; false where the search timed out. */
  readonly searchedAll: boolean;
}

export type SourceLookUp = Pick<ConfigView, 'source' | 'sourceByWriteKey'>;

export interface ExplainerDependencies {
  readonly kafka: Pick<Kafka, 'scan' | 'inspectGroup'>;
  readonly names: Pick<TopicNames, 'events' | 'eventsWaiting' | 'eventsRejected'>;
  /** The consumer group of the router. */
  readonly routerGroup: string;
  readonly config: SourceLookUp;
  /** Ends running searches. */
  readonly signal: AbortSignal;
}

const maxRecords = 20;

/**
 * Explains why an event has neither deliveries nor a decision, from the records written since a time.
 *
 * @throws TailraceError `kafka-unavailable`
 */
export async function explainEvent(
  { kafka, names, routerGroup, config, signal }: ExplainerDependencies,
  eventId: string,
  since: number,
): Promise<Explanation> {
  const mayBeOfEvent = recordsOf(eventId);
  const [rejected = [], [accepted] = [], [waiting] = []] = await Promise.all(
    [names.eventsRejected, names.events, names.eventsWaiting].map((topic) =>
      find(kafka, { topic, since }, signal, mayBeOfEvent),
    ),
  );
  const found = { rejected, accepted, waiting, searchedAll: !signal.aborted };
  const records = [accepted, waiting].filter((record) => record !== undefined);
  const finished = records.length > 0 ? await isFinished(kafka, routerGroup, records) : undefined;
  return { ...explainRecords(config, found, finished), searchedAll: found.searchedAll };
}

/** Whether the router has committed an offset above each of the records; undefined where Kafka does not say. */
async function isFinished(
  kafka: Pick<Kafka, 'inspectGroup'>,
  routerGroup: string,
  records: readonly ConsumedRecord[],
): Promise<boolean | undefined> {
  try {
    const topics = new Set(records.map(({ topic }) => topic));
    const { heads } = await kafka.inspectGroup(routerGroup, [...topics]);
    return records.every(
      ({ topic, partition, offset }) => (heads.get(topic)?.get(partition) ?? Infinity) > offset,
    );
  } catch (error) {
    if (isTailraceError(error)) return undefined;
    throw error;
  }
}

async function find(
  kafka: Pick<Kafka, 'scan'>,
  from: { readonly topic: string; readonly since: number },
  signal: AbortSignal,
  isWanted: (record: ConsumedRecord) => boolean,
): Promise<ConsumedRecord[]> {
  const found: ConsumedRecord[] = [];
  for await (const records of scanUntil(signal, kafka, from)) {
    for (const record of records) if (isWanted(record)) found.push(detach(record));
    if (found.length >= maxRecords) break;
  }
  return found;
}

/** Copies the bytes of a record, which are a slice of the whole fetch response and would keep it in memory. */
function detach(record: ConsumedRecord): ConsumedRecord {
  const { value, headers } = record;
  return {
    ...record,
    value: value && Buffer.from(value),
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
  };
}

/** Parses only the records whose bytes contain the id. */
function recordsOf(eventId: string): (record: ConsumedRecord) => boolean {
  const written = Buffer.from(JSON.stringify(eventId).slice(1, -1));
  return ({ value }) => {
    if (value?.includes(written) !== true) return false;
    const call = parse(value);
    // A value in another format than JSON cannot be parsed here; the id among its bytes has to be enough.
    return call === undefined || textOrDigits(call['messageId']) === eventId;
  };
}

interface Found {
  readonly rejected: readonly ConsumedRecord[];
  readonly accepted: ConsumedRecord | undefined;
  /** The record that waits, or waited, for its schema. */
  readonly waiting: ConsumedRecord | undefined;
  readonly searchedAll: boolean;
}

function explainRecords(
  config: SourceLookUp,
  { rejected, accepted, waiting, searchedAll }: Found,
  finished: boolean | undefined,
): Omit<Explanation, 'searchedAll'> {
  const rejections = rejected.map(({ headers, timestamp }) => ({
    code: headers['error-code']?.toString() ?? 'unknown',
    message: headers['error-message']?.toString() ?? '',
    at: timestamp,
  }));
  const answer = (outcome: EventOutcome, explanation: string) => ({
    outcome,
    explanation,
    rejections,
    accepted: accepted && describeCall(config, accepted),
  });

  const [rejection] = rejections;
  if (rejection) return answer('rejected', rejection.message);
  if (!accepted && !waiting) {
    return searchedAll
      ? answer(
          'unknown',
          'The event has neither deliveries nor a decision in the history, and is in none of events, events.waiting and events.rejected.',
        )
      : answer('not-searched', 'The event was not found so far, but the search timed out, so it may exist.');
  }
  if (finished === true) {
    return answer(
      'not-recorded',
      'The router has read the event, but neither deliveries nor a decision of it are known. Either it repeated an earlier call, ' +
        'or a router of the release before read it, which recorded no decisions, or the history no longer has them.',
    );
  }
  if (finished === undefined) {
    return answer('not-routed', 'The event is in events. Kafka did not say whether the router has read it.');
  }
  return answer(
    'not-routed',
    waiting
      ? 'The event waits in events.waiting for its schema.'
      : 'The event is in events, and the router has not finished it yet.',
  );
}

/** The source is the one that the record names; that of a write key by the current configuration. */
export function describeCall(config: SourceLookUp, record: ConsumedRecord): Accepted {
  const call = parse(record.value) ?? {};
  const reference = sourceReference(record.headers, call);
  const lookup = reference && lookUpSource(reference, config);
  return {
    partition: record.partition,
    offset: record.offset,
    at: record.timestamp,
    sourceId:
      lookup === undefined || lookup.outcome === 'unknown'
        ? record.headers['source-id']?.toString()
        : lookup.source.id,
    type: textOr(call['type']),
    event: textOrDigits(call['event']),
  };
}

function textOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** An id or a name; a direct producer may have written it as a number. */
export function textOrDigits(value: unknown): string | undefined {
  return textOr(value) ?? wholeDigits(value);
}

export function parse(value: Buffer | null): JsonObject | undefined {
  try {
    const parsed: unknown = parseJson(value?.toString() ?? '');
    return typeof parsed === 'object' && parsed !== null ? (parsed as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
