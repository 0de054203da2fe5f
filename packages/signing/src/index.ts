/**
 * The signatures of a webhook. `X-Signature` (docs/specification.md, rule 8.1) is the HMAC-SHA1 (RFC 2104) of the
 * exact bytes of the body, as lowercase hex. Signing and verifying are both here, so that receivers in TypeScript
 * can use the code that the service's tests use. For Standard Webhooks there is only signing, because receivers
 * have public libraries for it.
 */
import { createHmac, sign as signWithKey, timingSafeEqual, type KeyObject } from 'node:crypto';

/**
 * The value of `X-Signature`: 40 lowercase hex digits. `secret` and a text `body` are used as UTF-8 bytes.
 *
 * @throws TypeError where the secret is empty
 */
export function sign(secret: string, body: Buffer | string): string {
  assertNotEmpty(secret);
  return createHmac('sha1', secret).update(body).digest('hex');
}

/**
 * Whether `header`, the received value of `X-Signature`, is the signature of `body`, the bytes as received.
 * Compares in constant time.
 *
 * @throws TypeError where the secret is empty, for any header: otherwise a receiver without a configured secret
 *   would accept a signature that anyone can make
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
  /** `webhook-id`: the same for every attempt of a delivery. */
  readonly id: string;
  /** `webhook-timestamp`: the time of this attempt, in whole seconds since the epoch. */
  readonly timestamp: number;
  readonly body: Buffer | string;
}

/**
 * The value of `webhook-signature`: for each secret `v1,` and the HMAC-SHA256 of `<id>.<timestamp>.<body>` in
 * base64, separated by spaces. The key of a secret that begins with `whsec_` is the rest, decoded from base64. The
 * key of any other secret is its UTF-8 bytes, as for `X-Signature`.
 *
 * @throws TypeError where there is no secret, or the key of one is empty
 */
export function signStandardWebhook(
  secrets: readonly string[],
  { id, timestamp, body }: StandardWebhook,
): string {
  if (secrets.length === 0) throw noSecret();
  return secrets
    .map((secret) => {
      const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
      assertNotEmpty(key);
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}

/** The same with Ed25519 keys: for each `v1a,` and the signature of the same text in base64. None for no key. */
export function signEd25519(keys: readonly KeyObject[], { id, timestamp, body }: StandardWebhook): string[] {
  const message = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(body)]);
  return keys.map((key) => `v1a,${signWithKey(null, message, key).toString('base64')}`);
}

/** `settings.signature` of a destination. */
export interface SignatureScheme {
  readonly algorithm?: 'hmac-sha1' | 'hmac-sha256' | 'hmac-sha512';
  readonly encoding?: 'hex' | 'base64';
  /** Before the signature. By default none, with `timestamp` `v1=`. */
  readonly prefix?: string;
  /** Whether `<timestamp>.` is signed in front of the body. */
  readonly timestamp?: boolean;
}

/**
 * The value of the header of a scheme: prefix and signature, of the first secret; with `timestamp`
 * `t=<timestamp>,<prefix><signature>`, and a further `,<prefix><signature>` for each further secret. The keys are the UTF-8 bytes
 * of the secrets.
 *
 * @throws TypeError where there is no secret, or one is empty
 */
export function signWith(
  { algorithm = 'hmac-sha1', encoding = 'hex', prefix, timestamp: isTimed = false }: SignatureScheme,
  secrets: readonly string[],
  { timestamp, body }: Omit<StandardWebhook, 'id'>,
): string {
  const signatures = (isTimed ? secrets : secrets.slice(0, 1)).map((secret) => {
    assertNotEmpty(secret);
    const hmac = createHmac(algorithm.replace('hmac-', ''), secret).update(isTimed ? `${timestamp}.` : '');
    return `${prefix ?? (isTimed ? 'v1=' : '')}${hmac.update(body).digest(encoding)}`;
  });
  if (signatures.length === 0) throw noSecret();
  return (isTimed ? [`t=${timestamp}`, ...signatures] : signatures).join(',');
}

function noSecret(): TypeError {
  return new TypeError('There is no secret to sign with. Pass at least one.');
}

/** Also checks for a missing key, which JavaScript callers can pass. */
function assertNotEmpty(key: Pick<string | Buffer, 'length'> | undefined): void {
  if (!key?.length) throw new TypeError('The secret is empty. Give the shared secret of the destination.');
}
