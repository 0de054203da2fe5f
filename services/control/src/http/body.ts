/** Bodies, which lie in the topics and nowhere else. */
import { parseJson } from '@tailrace/events';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import type { Role } from './auth.ts';
import { maskValues } from './mask.ts';

/** The record at this place; undefined where it has expired. */
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
  /** Whether its values are hidden from whoever asked. */
  readonly masked: boolean;
  readonly body: unknown;
  /** Byte for byte as it is signed and sent; only where nothing is hidden. */
  readonly text?: string;
}

/** The body as far as `role` may see it. */
export function showBody(value: Buffer | null, role: Role | undefined): ShownBody {
  const text = value?.toString() ?? '';
  const body = parse(text);
  return role === 'admin' ? { masked: false, body, text } : { masked: true, body: maskValues(body) };
}

/** What somebody else wrote to a topic need not be JSON, and is then a text. */
function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
