/**
 * Reads the topic `audit` from its end towards its beginning, in slices. A request reads a bounded number of records; where
 * these do not fill a page, the answer has a cursor from which the next request continues.
 */
import type { Kafka } from '@tailrace/kafka';
import { decodeAudit, type AuditRecord } from '@tailrace/records';

export type AuditKafka = Pick<Kafka, 'offsets' | 'offsetsAt' | 'scan'>;

export interface AuditFilter {
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly actor?: string | undefined;
  readonly outcome?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Milliseconds since the epoch, exclusive. */
  readonly until?: number | undefined;
}

export interface AuditPage {
  /** Newest first. */
  readonly records: readonly AuditRecord[];
  /** The offset to continue before; undefined at the end of the list. */
  readonly before: number | undefined;
}

/** The first slice is short, because most requests are for the latest page. */
const slices = [500, 2_000, 5_000, 10_000];

/** @param before the offset to begin before; by default the end of the topic */
export async function readAudit(
  kafka: AuditKafka,
  topic: string,
  filter: AuditFilter,
  limit: number,
  before?: number,
): Promise<AuditPage> {
  const { low = 0, high = 0 } = (await kafka.offsets(topic)).get(0) ?? {};
  const first =
    filter.since === undefined ? low : ((await kafka.offsetsAt(topic, filter.since)).get(0) ?? high);
  const records: AuditRecord[] = [];
  let end = Math.min(before ?? high, high);
  for (const size of slices) {
    const start = Math.max(first, end - size);
    if (start >= end) break;
    const found = await readSlice(kafka, topic, start, end);
    for (const { offset, record } of found.reverse()) {
      if (!record || !isWanted(record, filter)) continue;
      if (records.length === limit) return { records, before: offset + 1 };
      records.push(record);
    }
    end = start;
  }
  return { records, before: end > first ? end : undefined };
}

async function readSlice(kafka: Pick<Kafka, 'scan'>, topic: string, start: number, end: number) {
  const found: { readonly offset: number; readonly record: AuditRecord | undefined }[] = [];
  const scan = await kafka.scan({ topic, starts: new Map([[0, start]]), ends: new Map([[0, end]]) });
  for await (const batch of scan) {
    for (const { offset, value } of batch) found.push({ offset, record: decodeAudit(value) });
  }
  return found;
}

function isWanted(
  record: AuditRecord,
  { action, target, actor, outcome, since, until }: AuditFilter,
): boolean {
  const at = Date.parse(record.at);
  return (
    (action === undefined || record.action === action) &&
    (target === undefined || record.target === target) &&
    (actor === undefined || record.actor.name === actor) &&
    (outcome === undefined || record.outcome === outcome) &&
    (since === undefined || at >= since) &&
    (until === undefined || at < until)
  );
}
