/**
 * The tracking calls of the bench: `track`, about 1 KB, all of the same length, each with a number that the receiver reads.
 * They are built from a template, because the load generator takes CPU time from the services on the same machine.
 */
import { randomBytes } from 'node:crypto';

/** The text in the webhook body before the call's eight digits. */
export const numberMarker = '"sequence":"';
export const numberDigits = 8;

/** The number of users in turn, which spreads the calls over all partitions. */
const users = 1_000;
const callBytes = 1_024;

/**
 * The body of call `number`, as JSON text of 1,024 bytes.
 *
 * @param writeKeyOf returns the write key of a call, of the same length for all; default: none in the body
 */
export function createCalls(writeKeyOf?: (number: number) => string): (number: number) => string {
  // Message ids of an earlier run on the same topics would be dropped as repeats.
  const run = randomBytes(6).toString('hex');
  const keyOf = (number: number): string => (writeKeyOf ? `"writeKey":"${writeKeyOf(number)}",` : '');
  const padding = 'x'.repeat(callBytes - render(0, '', run, keyOf(0)).length);
  return (number) => render(number, padding, run, keyOf(number));
}

function render(number: number, padding: string, run: string, writeKey: string): string {
  const digits = String(number).padStart(numberDigits, '0');
  const user = String(number % users).padStart(4, '0');
  return (
    `{${writeKey}"messageId":"bench-${run}-${digits}","type":"track","userId":"user-${user}","event":"Order Completed",` +
    `"properties":{${numberMarker}${digits}","orderId":"o-${digits}","currency":"EUR","total":129.95,` +
    '"products":[{"sku":"A-1201","name":"Desk lamp","price":49.95,"quantity":1},' +
    '{"sku":"B-0077","name":"Office chair","price":80,"quantity":1}],' +
    `"note":"${padding}"},` +
    '"context":{"ip":"203.0.113.7","locale":"de-CH","timezone":"Europe/Zurich",' +
    '"library":{"name":"bench","version":"1.0.0"},' +
    '"page":{"path":"/checkout","title":"Checkout","url":"https://shop.example.com/checkout"},' +
    '"userAgent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36"},' +
    '"integrations":{"All":true},"timestamp":"2026-11-21T07:29:33.479Z"}'
  );
}

const marker = Buffer.from(numberMarker);

/** The number of the call that a webhook body came from; NaN if it has none. */
export function numberOf(body: Buffer): number {
  const at = body.indexOf(marker);
  if (at < 0) return NaN;
  const start = at + marker.length;
  return Number(body.toString('latin1', start, start + numberDigits));
}
