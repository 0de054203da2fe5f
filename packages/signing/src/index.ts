/**
 * The signature of a webhook: HMAC-SHA1 (RFC 2104) over the exact bytes of the body, as lowercase hex, in
 * the header `X-Signature` (specification, section 5). Both sides are here, so that receivers written in
 * TypeScript can use the same code that the service's own tests use.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The value of `X-Signature`: 40 lowercase hex digits. `secret` is used as its UTF-8 bytes; so is a text body. */
export function sign(secret: string, body: Buffer | string): string {
  return createHmac('sha1', secret).update(body).digest('hex');
}

/**
 * Whether `header`, the received value of `X-Signature`, is the signature of `body`, the bytes as received.
 * How long it takes tells nothing about how much of a wrong signature is right.
 */
export function verifySignature(
  secret: string,
  body: Buffer | string,
  header: string | undefined | null,
): boolean {
  if (header === undefined || header === null) return false;
  const expected = Buffer.from(sign(secret, body));
  const received = Buffer.from(header);
  return received.length === expected.length && timingSafeEqual(received, expected);
}
