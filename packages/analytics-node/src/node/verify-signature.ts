/** The receiving side: verifies the signature of a webhook (docs/specification.md, rule 8.2). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { AnalyticsError } from '../core/errors.ts';

/**
 * Whether `header`, the received `X-Signature`, is the lowercase hexadecimal HMAC-SHA1 of `body`. Compares in
 * constant time.
 *
 * @param secret the destination's shared secret
 * @param body the bytes as received; JSON that was parsed and written again usually differs
 * @param header as node:http provides it; several headers are refused
 * @throws AnalyticsError `invalid-options` where the secret is empty, for any header: otherwise a receiver without
 *   a configured secret would accept a signature that anyone can make
 */
export function verifySignature(
  secret: string,
  body: Uint8Array | string,
  header: string | readonly string[] | undefined | null,
): boolean {
  if (!secret) {
    const message = 'The secret is empty. Give the shared secret of the destination.';
    throw new AnalyticsError('invalid-options', message, { field: 'secret' });
  }
  if (typeof header !== 'string') return false;
  const expected = Buffer.from(createHmac('sha1', secret).update(body).digest('hex'));
  const received = Buffer.from(header);
  return received.length === expected.length && timingSafeEqual(received, expected);
}
