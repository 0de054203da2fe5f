/** Which records of a partition keep their order: those of one key and one source. */
import type { ConfigView } from '@tailrace/config';
import type { ConsumedRecord } from '@tailrace/kafka';
import { lookUpSource, sourceReference } from '@tailrace/routing';

export interface RecordOrder {
  /** The id of the source, or how the headers name one that is unknown; empty where they name none. */
  readonly source: string;
  readonly key: Buffer;
}

/** Finds the order of a record. Undefined where it has no key, and so no order, neither here nor in Kafka. */
export type OrderOf = (record: Pick<ConsumedRecord, 'key' | 'headers'>) => RecordOrder | undefined;

export function createOrderOf(config: Pick<ConfigView, 'source' | 'sourceByWriteKey'>): OrderOf {
  return ({ key, headers }) => {
    if (key === null) return undefined;
    const reference = sourceReference(headers, undefined);
    if (!reference) return { source: '', key };
    const found = lookUpSource(reference, config);
    return { source: found.outcome === 'unknown' ? reference.value : found.source.id, key };
  };
}
