/**
 * What happened to an event. Of one that was routed, the history knows. Any other is looked for in the topics: among the
 * rejected, which say why, and in `events`, whose call together with the configuration says why it went nowhere.
 */
import type { ConfigView, Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { isSelected, parseJson, wholeDigits, type JsonObject } from '@tailrace/events';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';

export type EventOutcome = 'rejected' | 'filtered' | 'no-destination' | 'not-routed' | 'unknown';

export interface Rejected {
  readonly code: string;
  readonly message: string;
  readonly at: number;
}

/** The call as it lies in `events`. */
export interface Accepted {
  readonly partition: number;
  readonly offset: number;
  readonly at: number;
  readonly sourceId: string | undefined;
  readonly type: string | undefined;
  readonly event: string | undefined;
}

export interface Explanation {
  readonly outcome: EventOutcome;
  /** In a sentence or two. */
  readonly explanation: string;
  readonly rejections: readonly Rejected[];
  readonly accepted: Accepted | undefined;
  /** Whether the topics were read from `since` to their ends; else the time was over first. */
  readonly searchedAll: boolean;
}

export interface Explainer {
  /**
   * Explains why there are no deliveries of an event, from what came since a time.
   *
   * @throws TailraceError `overloaded` where many ask at once; `kafka-unavailable`
   */
  explain(eventId: string, since: number): Promise<Explanation>;
}

export interface ExplainerDependencies {
  readonly kafka: Pick<Kafka, 'scan'>;
  readonly names: Pick<TopicNames, 'events' | 'eventsRejected'>;
  readonly config: Pick<ConfigView, 'source' | 'sourceByWriteKey' | 'destinationsOf'>;
  /** Ends searches. */
  readonly signal: AbortSignal;
}

/** Each reads topics from end to end. */
const mostAtOnce = 2;
const searchForMs = 20_000;
const enough = 20;

export function createExplainer({ kafka, names, config, signal }: ExplainerDependencies): Explainer {
  let searching = 0;

  const search = async (eventId: string, since: number) => {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(searchForMs)]);
    const ofEvent = recordsOf(eventId);
    const [rejected, accepted] = await Promise.all(
      [names.eventsRejected, names.events].map((topic) => find(kafka, topic, since, timeout, ofEvent)),
    );
    return { rejected: rejected ?? [], accepted: accepted?.[0], searchedAll: !timeout.aborted };
  };

  return {
    async explain(eventId, since) {
      if (searching >= mostAtOnce) {
        throw new TailraceError(
          'too-many-at-once',
          'Events are being looked for in the topics already, as many at a time as may be. Ask again in some seconds.',
        );
      }
      searching += 1;
      try {
        const { rejected, accepted, searchedAll } = await search(eventId, since);
        return { ...judge(config, rejected, accepted), searchedAll };
      } finally {
        searching -= 1;
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
      if (signal.aborted || found.length >= enough) break;
    }
  } finally {
    signal.removeEventListener('abort', close);
  }
  return found;
}

/** With bytes of its own: those it came with are a slice of all that was fetched with it. */
function detach(record: ConsumedRecord): ConsumedRecord {
  const { value, headers } = record;
  return {
    ...record,
    value: value && Buffer.from(value),
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
  };
}

/** Only of records that have the id somewhere in their bytes, more is read than that. */
function recordsOf(eventId: string): (record: ConsumedRecord) => boolean {
  const written = Buffer.from(JSON.stringify(eventId).slice(1, -1));
  return ({ value }) => {
    if (value?.includes(written) !== true) return false;
    const call = parse(value);
    // What is in another format than JSON has the id among its bytes, and that is all that can be told.
    return call === undefined || textOrDigits(call['messageId']) === eventId;
  };
}

function judge(
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
  const source = record && sourceOf(config, record, call);
  const accepted = record && {
    partition: record.partition,
    offset: record.offset,
    at: record.timestamp,
    sourceId: source?.id ?? record.headers['source-id']?.toString(),
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
  if (!record || !call) {
    return answer(
      'unknown',
      'It is neither among the deliveries, nor among the rejected records, nor in events.',
    );
  }
  if (source?.enabled !== true) {
    return answer('not-routed', 'It is in events; there is no enabled source now that it could be from.');
  }
  const destinations = config.destinationsOf(source.id);
  if (destinations.length === 0) {
    return answer('no-destination', `No enabled destination is connected to the source ${source.id}.`);
  }
  if (call['type'] === 'track' && isBlocked(source, textOrDigits(call['event']))) {
    return answer(
      'filtered',
      `The source ${source.id} blocks the event ${textOrDigits(call['event']) ?? ''}.`,
    );
  }
  const integrations = call['integrations'] as JsonObject | undefined;
  if (!destinations.some(({ type }) => isSelected(type, integrations ?? {}))) {
    return answer('filtered', 'The integrations of the call turn off all destinations of its source.');
  }
  return answer(
    'not-routed',
    'It is in events, and as the configuration is now it would be delivered: the router has not got to it yet, or the ' +
      'configuration was another when it did, or its deliveries are older than the history goes back.',
  );
}

function sourceOf(
  config: ExplainerDependencies['config'],
  { headers }: ConsumedRecord,
  call: JsonObject | undefined,
): Source | undefined {
  // As the router does it: what is empty names nothing.
  const id = headers['source-id']?.toString();
  if (id) return config.source(id);
  const writeKey = [headers['write-key']?.toString(), textOr(call?.['writeKey'])].find(Boolean);
  return writeKey === undefined ? undefined : config.sourceByWriteKey(writeKey);
}

function isBlocked({ schema }: Source, event: string | undefined): boolean {
  return event !== undefined && schema?.track?.blocked.includes(event) === true;
}

function textOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** An id or a name, which a direct producer may have written as a number. */
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
