/** The receiving side: verifies the signature of a webhook (docs/specification.md, rule 8.2). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { AnalyticsError } from '../core/errors.ts';

/** How a destination signs, as its `settings.signature`. */
export interface SignatureScheme {
  /** Default `hmac-sha1`. */
  readonly algorithm?: 'hmac-sha1' | 'hmac-sha256' | 'hmac-sha512';
  /** Default `hex`. */
  readonly encoding?: 'hex' | 'base64';
  /** Default: none, with `timestamp` `v1=`. */
  readonly prefix?: string;
  /** Default false. */
  readonly timestamp?: boolean;
  /** With `timestamp`: how far the time of the request may be from now. Default 300. */
  readonly toleranceSeconds?: number;
}

/**
 * Whether `header`, the received `X-Signature` or the header of the `scheme`, is a signature of `body`. Compares in
 * constant time.
 *
 * @param secret the destination's shared secret
 * @param body the bytes as received; JSON that was parsed and written again usually differs
 * @param header as node:http provides it; several headers are refused
 * @param scheme by default the lowercase hexadecimal HMAC-SHA1
 * @throws AnalyticsError `invalid-options` where the secret is empty, for any header: otherwise a receiver without
 *   a configured secret would accept a signature that anyone can make
 */
export function verifySignature(
  secret: string,
  body: Uint8Array | string,
  header: string | readonly string[] | undefined | null,
  { algorithm = 'hmac-sha1', encoding = 'hex', ...scheme }: SignatureScheme = {},
): boolean {
  if (!secret) {
    const message = 'The secret is empty. Give the shared secret of the destination.';
    throw new AnalyticsError('invalid-options', message, { field: 'secret' });
  }
  if (typeof header !== 'string') return false;
  const { timestamp: isTimed = false, prefix = isTimed ? 'v1=' : '', toleranceSeconds = 300 } = scheme;
  const hmac = createHmac(algorithm.replace('hmac-', ''), secret);
  let given = [header];
  if (isTimed) {
    const [time = '', ...signatures] = header.split(',');
    const seconds = /^t=(\d{1,12})$/.exec(time)?.[1];
    if (seconds === undefined || Math.abs(Date.now() / 1_000 - Number(seconds)) > toleranceSeconds)
      return false;
    hmac.update(`${seconds}.`);
    given = signatures;
  }
  const expected = Buffer.from(`${prefix}${hmac.update(body).digest(encoding)}`);
  return given.some((signature) => {
    const received = Buffer.from(signature);
    return received.length === expected.length && timingSafeEqual(received, expected);
  });
}
