/**
 * Explains why an event has no deliveries in the history. Searches `events.rejected` for its rejection and `events` for its
 * call; the call and the current configuration show whether and where it would be routed.
 */
import type { ConfigView } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { parseJson, readCall, recordMessageId, wholeDigits, type JsonObject } from '@tailrace/events';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { lookUpSource, routeEvent, sourceReference, type RoutableEvent } from '@tailrace/routing';
import type { TopicNames } from '@tailrace/topics';

export type EventOutcome = 'rejected' | 'filtered' | 'no-destination' | 'not-routed' | 'unknown';

export interface Rejected {
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
  /** One or two sentences. */
  readonly explanation: string;
  readonly rejections: readonly Rejected[];
  readonly accepted: Accepted | undefined;
  /** Whether the topics were read from `since` to their ends; false where the search timed out. */
  readonly searchedAll: boolean;
}

export interface Explainer {
  /**
   * Explains why an event has no deliveries, from the records written since a time.
   *
   * @throws TailraceError `too-many-at-once` while the maximum number of searches is running; `kafka-unavailable`
   */
  explain(eventId: string, since: number): Promise<Explanation>;
}

export interface ExplainerDependencies {
  readonly kafka: Pick<Kafka, 'scan'>;
  readonly names: Pick<TopicNames, 'events' | 'eventsRejected'>;
  readonly config: Pick<ConfigView, 'source' | 'sourceByWriteKey' | 'destinationsOf'>;
  /** Ends running searches. */
  readonly signal: AbortSignal;
}

/** Each search reads two topics to their ends. */
const maxSearches = 2;
const searchTimeoutMs = 20_000;
const maxRecords = 20;

export function createExplainer({ kafka, names, config, signal }: ExplainerDependencies): Explainer {
  let searches = 0;

  const search = async (eventId: string, since: number) => {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(searchTimeoutMs)]);
    const mayBeOfEvent = recordsOf(eventId);
    const [rejected, accepted] = await Promise.all(
      [names.eventsRejected, names.events].map((topic) => find(kafka, topic, since, timeout, mayBeOfEvent)),
    );
    return { rejected: rejected ?? [], accepted: accepted?.[0], searchedAll: !timeout.aborted };
  };

  return {
    async explain(eventId, since) {
      if (searches >= maxSearches) {
        throw new TailraceError(
          'too-many-at-once',
          `${maxSearches} searches for events are running, which is the maximum. Send the request again in a few seconds.`,
        );
      }
      searches += 1;
      try {
        const { rejected, accepted, searchedAll } = await search(eventId, since);
        return { ...explainRecords(config, rejected, accepted), searchedAll };
      } finally {
        searches -= 1;
      }
    },
  };
}

async function find(
  kafka: Pick<Kafka, 'scan'>,
  topic: string,
  since: number,
  signal: AbortSignal,
  isWanted: (record: ConsumedRecord) => boolean,
): Promise<ConsumedRecord[]> {
  const found: ConsumedRecord[] = [];
  const scan = await kafka.scan({ topic, since });
  const close = (): void => void scan.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    for await (const records of scan) {
      for (const record of records) if (isWanted(record)) found.push(detach(record));
      if (signal.aborted || found.length >= maxRecords) break;
    }
  } finally {
    signal.removeEventListener('abort', close);
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

function explainRecords(
  config: ExplainerDependencies['config'],
  rejectedRecords: readonly ConsumedRecord[],
  record: ConsumedRecord | undefined,
): Omit<Explanation, 'searchedAll'> {
  const rejections = rejectedRecords.map(({ headers, timestamp }) => ({
    code: headers['error-code']?.toString() ?? 'unknown',
    message: headers['error-message']?.toString() ?? '',
    at: timestamp,
  }));
  const call = record && (parse(record.value) ?? {});
  const reference = record && sourceReference(record.headers, call);
  const lookup = reference && lookUpSource(reference, config);
  const source = lookup?.outcome === 'enabled' ? lookup.source : undefined;
  const accepted = record && {
    partition: record.partition,
    offset: record.offset,
    at: record.timestamp,
    sourceId:
      lookup === undefined || lookup.outcome === 'unknown'
        ? record.headers['source-id']?.toString()
        : lookup.source.id,
    type: textOr(call?.['type']),
    event: textOrDigits(call?.['event']),
  };
  const answer = (outcome: EventOutcome, explanation: string) => ({
    outcome,
    explanation,
    rejections,
    accepted,
  });

  const [rejection] = rejections;
  if (rejection) return answer('rejected', rejection.message);
  if (!record) {
    return answer(
      'unknown',
      'The event has no deliveries in the history and is neither in events.rejected nor in events.',
    );
  }
  if (!source) {
    return answer('not-routed', 'The event is in events, but its source is disabled or does not exist.');
  }
  const event = routableEvent(call, record);
  const routing = routeEvent(event, source, config.destinationsOf(source.id));
  switch (routing.outcome) {
    case 'no-destination':
      return answer('no-destination', `No enabled destination is connected to the source ${source.id}.`);
    case 'filtered':
      return answer(
        'filtered',
        routing.blocked
          ? `The source ${source.id} blocks the event ${event.event ?? ''}.`
          : 'The integrations of the call turn off all destinations of its source.',
      );
    case 'routed':
      return answer(
        'not-routed',
        'The event is in events, and the current configuration routes it. Either the router has not read it yet, or the ' +
          'configuration was different when it did, or its deliveries are older than the history.',
      );
  }
}

/** The event as the router reads it; without fields where its value is not a valid call in JSON. */
function routableEvent(call: unknown, record: ConsumedRecord): RoutableEvent {
  const reading = readCall(call, {
    ...{ enriched: true, receivedAt: 0 },
    fallbackMessageId: () => recordMessageId(record),
  });
  return reading.ok ? reading.event : {};
}

function textOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** An id or a name; a direct producer may have written it as a number. */
function textOrDigits(value: unknown): string | undefined {
  return textOr(value) ?? wholeDigits(value);
}

function parse(value: Buffer | null): JsonObject | undefined {
  try {
    const parsed: unknown = parseJson(value?.toString() ?? '');
    return typeof parsed === 'object' && parsed !== null ? (parsed as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
