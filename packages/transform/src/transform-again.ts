/** Makes the body again of a delivery whose transform has failed, with the transform that its destination has today. */
import type { ConfigLookup } from '@tailrace/config';
import { readBack, type ConsumedRecord } from '@tailrace/kafka';
import { decodeDelivery, encodeDelivery, transformFailedHeader } from '@tailrace/records';
import { hasTransform, transformDelivery, withBody, withFailure } from './transform-delivery.ts';
import type { Transforms } from './transforms.ts';

export interface AgainDependencies {
  readonly config: Pick<ConfigLookup, 'destination'>;
  readonly transforms: Pick<Transforms, 'run'>;
}

/**
 * The record of the delivery as it can be sent. Where the transform fails again, or filters the event now, the record says so and becomes a
 * dead letter again. Other records stay as they are.
 */
export async function transformAgain(
  { config, transforms }: AgainDependencies,
  record: ConsumedRecord,
): Promise<ConsumedRecord> {
  if (record.headers[transformFailedHeader] === undefined) return record;
  const delivery = decodeDelivery(record);
  const destination = typeof delivery === 'string' ? undefined : config.destination(delivery.destinationId);
  if (typeof delivery === 'string' || !destination) return record;
  const made = hasTransform(destination)
    ? ((await transformDelivery(transforms, delivery, destination)) ??
      withFailure(delivery, destination, 'it returned null, so nothing was sent'))
    : withBody(delivery, delivery.body.toString(), destination);
  const { headers } = encodeDelivery(record.topic, made);
  return { ...record, value: made.body, ...readBack(headers) };
}
