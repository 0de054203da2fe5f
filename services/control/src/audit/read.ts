/** Reads the topic `audit` from its end towards its beginning. */
import type { Kafka } from '@tailrace/kafka';
import { decodeAudit, type AuditRecord } from '@tailrace/records';
import { readBackward, type BackwardPage } from '../records/backward.ts';
import { unlessAborted } from '../records/deadline.ts';

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

/** @param before the offset to begin before; by default the end of the topic */
export async function readAudit(
  kafka: AuditKafka,
  topic: string,
  filter: AuditFilter,
  {
    limit,
    before,
    signal,
  }: { readonly limit: number; readonly before: number | undefined; readonly signal: AbortSignal },
): Promise<BackwardPage<AuditRecord>> {
  const { since } = filter;
  const first =
    since === undefined ? undefined : (await unlessAborted(signal, kafka.offsetsAt(topic, since))).get(0);
  return readBackward(kafka, { topic, partition: 0, limit, before, first, signal }, ({ value }) => {
    const record = decodeAudit(value);
    return record && isWanted(record, filter) ? record : undefined;
  });
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
