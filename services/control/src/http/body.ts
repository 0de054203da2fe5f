/** Reads records of which only the topics have the body, and shows bodies as far as the role allows. */
import { parseJson } from '@tailrace/events';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import type { Role } from '../access/authenticate.ts';
import { Places, type Asker } from '../access/places.ts';
import { isMaskedFor, maskValues } from './mask.ts';

export interface RecordReader {
  /** The record at an offset; undefined once it has expired. @throws TailraceError `too-many-at-once`, `kafka-unavailable` */
  at(
    asker: Asker,
    place: Pick<ConsumedRecord, 'topic' | 'partition' | 'offset'>,
  ): Promise<ConsumedRecord | undefined>;
}

export function createRecordReader(kafka: Pick<Kafka, 'scan'>): RecordReader {
  /** Each opens a connection. */
  const places = new Places('records');
  return {
    async at(asker, { topic, partition, offset }) {
      using _place = places.take(asker);
      const starts = new Map([[partition, offset]]);
      const ends = new Map([[partition, offset + 1]]);
      for await (const records of await kafka.scan({ topic, starts, ends })) {
        const found = records.find((record) => record.offset === offset);
        if (found) return found;
      }
      return undefined;
    },
  };
}

export interface ShownBody {
  /** Whether the values are masked for this caller. */
  readonly masked: boolean;
  readonly body: unknown;
  /** The exact bytes that are signed and sent; only in an unmasked body. */
  readonly text?: string;
}

/** The body, masked for callers that may only read. */
export function showBody(value: Buffer | null, role: Role | undefined): ShownBody {
  const text = value?.toString() ?? '';
  const body = parse(text);
  return isMaskedFor(role) ? { masked: true, body: maskValues(body) } : { masked: false, body, text };
}

/** A record by another producer need not be JSON; it is shown as text. */
function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
