/**
 * The signatures of a webhook. `X-Signature` (docs/specification.md, rule 8.1) is HMAC-SHA1 (RFC 2104) over the exact
 * bytes of the body, as lowercase hex. Both sides of it are here, so that receivers written in TypeScript can
 * use the same code that the service's own tests use. Of Standard Webhooks only the signing side is here:
 * receivers have public libraries for it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The value of `X-Signature`: 40 lowercase hex digits. `secret` is used as its UTF-8 bytes; so is a text body.
 *
 * @throws TypeError where the secret is empty
 */
export function sign(secret: string, body: Buffer | string): string {
  assertNotEmpty(secret);
  return createHmac('sha1', secret).update(body).digest('hex');
}

/**
 * Whether `header`, the received value of `X-Signature`, is the signature of `body`, the bytes as received.
 * How long it takes tells nothing about how much of a wrong signature is right.
 *
 * @throws TypeError where the secret is empty, whatever the header is: a receiver whose secret is not set would
 *   otherwise accept what anyone can sign
 */
export function verifySignature(
  secret: string,
  body: Buffer | string,
  header: string | undefined | null,
): boolean {
  assertNotEmpty(secret);
  if (header === undefined || header === null) return false;
  const expected = Buffer.from(sign(secret, body));
  const received = Buffer.from(header);
  return received.length === expected.length && timingSafeEqual(received, expected);
}

/** A message as Standard Webhooks 1.0.0 signs it. */
export interface StandardWebhook {
  /** `webhook-id`: the same whenever the message is sent again. */
  readonly id: string;
  /** `webhook-timestamp`: of this attempt, in whole seconds since the epoch. */
  readonly timestamp: number;
  readonly body: Buffer | string;
}

/**
 * The value of `webhook-signature`: for each secret `v1,` and the HMAC-SHA256 of `<id>.<timestamp>.<body>` in
 * base64, separated by spaces. The key of a secret that begins with `whsec_` is what follows, decoded from base64;
 * that of any other is its UTF-8 bytes, as for `X-Signature`.
 *
 * @throws TypeError where there is no secret, or the key of one is empty
 */
export function signStandardWebhook(
  secrets: readonly string[],
  { id, timestamp, body }: StandardWebhook,
): string {
  if (secrets.length === 0) throw new TypeError('There is no secret to sign with.');
  return secrets
    .map((secret) => {
      const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
      assertNotEmpty(key);
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}

/** Also where there is none, which types do not keep JavaScript from passing. */
function assertNotEmpty(key: Pick<string | Buffer, 'length'> | undefined): void {
  if (!key?.length) throw new TypeError('The secret is empty. Give the shared secret of the destination.');
}
