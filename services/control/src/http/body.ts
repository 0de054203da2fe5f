/** Reads the body of a delivery, which only the topics store, and shows it as far as the role allows. */
import { parseJson } from '@tailrace/events';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import type { Role } from '../access/authenticate.ts';
import { isMaskedFor, maskValues } from './mask.ts';

/** The record at an offset; undefined once it has expired. */
export async function recordAt(
  kafka: Pick<Kafka, 'scan'>,
  { topic, partition, offset }: Pick<ConsumedRecord, 'topic' | 'partition' | 'offset'>,
): Promise<ConsumedRecord | undefined> {
  const starts = new Map([[partition, offset]]);
  const ends = new Map([[partition, offset + 1]]);
  for await (const records of await kafka.scan({ topic, starts, ends })) {
    const found = records.find((record) => record.offset === offset);
    if (found) return found;
  }
  return undefined;
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
