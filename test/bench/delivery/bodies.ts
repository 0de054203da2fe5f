/**
 * Makes the records that the bench writes to `deliveries`, as the router would write them for a track call of about
 * 1 KB. Each carries a number, by which the receiver and the account identify it.
 */
import { randomBytes } from 'node:crypto';
import { type Delivery, deliveryKey } from '@tailrace/records';
import { numberDigits, numberMarker } from '../load/calls.ts';

/** Users of each destination, in turn; this spreads deliveries over all partitions. */
const users = 1_000;
const bodyBytes = 1_024;
const idPrefix = 'bench-';

/**
 * Pads bodies with base64 noise, so that a request of five hundred records is compressed to about a third. If records
 * compressed to almost nothing, one fetch would hold thousands of them.
 */
const noise = Buffer.from(randomBytes(2 ** 20).toString('base64'));

const template = Buffer.from(
  `{"version":1,"type":"track","event":"Order Completed","userId":"user-0001","properties":{${numberMarker}` +
    `${'0'.repeat(numberDigits)}","currency":"EUR","total":129.95,` +
    '"products":[{"sku":"A-1201","name":"Desk lamp","price":49.95,"quantity":1},' +
    '{"sku":"B-0077","name":"Office chair","price":80,"quantity":1}]},' +
    '"context":{"ip":"203.0.113.7","locale":"de-CH","timezone":"Europe/Zurich",' +
    '"page":{"path":"/checkout","title":"Checkout","url":"https://shop.example.com/checkout"},' +
    '"userAgent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36"},' +
    '"timestamp":"2026-11-21T07:29:33.479Z","note":"PADDING"}',
);
const paddingBytes = bodyBytes - template.length + 'PADDING'.length;
const body = Buffer.from(template.toString().replace('PADDING', ' '.repeat(paddingBytes)));
const paddingAt = body.length - '"}'.length - paddingBytes;
const numberAt = body.indexOf(numberMarker) + numberMarker.length;

/** A delivery as the router writes it, with `changes` applied. */
export function deliveryOf(number: number, destinationId: string, changes: Partial<Delivery> = {}): Delivery {
  const digits = String(number).padStart(numberDigits, '0');
  const own = Buffer.from(body);
  own.write(digits, numberAt, 'latin1');
  const noiseAt = (number * paddingBytes) % (noise.length - paddingBytes);
  noise.copy(own, paddingAt, noiseAt, noiseAt + paddingBytes);
  return {
    deliveryId: idPrefix + digits,
    eventId: `event-${digits}`,
    sourceId: 'bench',
    destinationId,
    type: 'track',
    attempt: 0,
    step: 0,
    deferrals: 0,
    closedUrls: [],
    key: deliveryKey(destinationId, `user-${number % users}`),
    body: own,
    ...changes,
  };
}

/** The number of the delivery with this id; NaN if the bench did not write it. */
export function numberOfId(deliveryId: string): number {
  return deliveryId.startsWith(idPrefix) ? Number(deliveryId.slice(idPrefix.length)) : NaN;
}
