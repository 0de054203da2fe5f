/** The receiving side: verifies the signature of a webhook (docs/specification.md, rule 8.2). */
import { createHmac, createPublicKey, timingSafeEqual, verify, type KeyObject } from 'node:crypto';
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

/** A public key of a destination with `ed25519`: `whpk_` and 32 bytes in base64, or a key of the key set of control. */
export type PublicKey = string | { readonly x: string };

/** The headers of a request, with lowercase names, as node:http provides them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

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
  scheme?: SignatureScheme,
): boolean;
/**
 * Whether `webhook-signature` has an Ed25519 signature (`v1a`) of a request of a destination with `ed25519`, near its time.
 *
 * @param keys those of the destination: `keys` of `/.well-known/tailrace/jwks.json?destination=<id>`
 * @param body the bytes as received
 * @param headers `webhook-id`, `webhook-timestamp` and `webhook-signature`; a repeated header is refused
 * @param options how far the time of the request may be from now, by default 300 seconds
 * @throws AnalyticsError `invalid-options` where there is no key, or one is not an Ed25519 key
 */
export function verifySignature(
  keys: readonly PublicKey[],
  body: Uint8Array | string,
  headers: RequestHeaders,
  options?: Pick<SignatureScheme, 'toleranceSeconds'>,
): boolean;
export function verifySignature(
  trusted: string | readonly PublicKey[],
  body: Uint8Array | string,
  received: string | readonly string[] | RequestHeaders | undefined | null,
  scheme: SignatureScheme = {},
): boolean {
  return Array.isArray(trusted)
    ? verifyEd25519(trusted as readonly PublicKey[], body, received as RequestHeaders, scheme)
    : verifyHmac(trusted as string, body, received, scheme);
}

function verifyHmac(
  secret: string,
  body: Uint8Array | string,
  header: unknown,
  { algorithm = 'hmac-sha1', encoding = 'hex', ...scheme }: SignatureScheme,
): boolean {
  if (!secret) {
    const message = 'The secret is empty. Give the shared secret of the destination.';
    throw new AnalyticsError('invalid-options', message, { field: 'secret' });
  }
  // Anyone can sign with a public key in the place of a secret.
  if (secret.startsWith('whpk_'))
    throw invalidKeys('A public key is not a secret. Pass a list of public keys.');
  if (typeof header !== 'string') return false;
  const { timestamp: isTimed = false, prefix = isTimed ? 'v1=' : '', toleranceSeconds = 300 } = scheme;
  const hmac = createHmac(algorithm.replace('hmac-', ''), secret);
  let given = [header];
  if (isTimed) {
    const [time = '', ...signatures] = header.split(',');
    const seconds = /^t=(.*)$/.exec(time)?.[1];
    if (seconds === undefined || !isNear(seconds, toleranceSeconds)) return false;
    hmac.update(`${seconds}.`);
    given = signatures;
  }
  const expected = Buffer.from(`${prefix}${hmac.update(body).digest(encoding)}`);
  return given.some((signature) => {
    const received = Buffer.from(signature);
    return received.length === expected.length && timingSafeEqual(received, expected);
  });
}

function verifyEd25519(
  trusted: readonly PublicKey[],
  body: Uint8Array | string,
  headers: RequestHeaders,
  { toleranceSeconds = 300 }: SignatureScheme,
): boolean {
  if (trusted.length === 0) throw invalidKeys('There is no public key. Give those of the destination.');
  const keys = trusted.map(keyOf);
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
  const [id, time, signatures] = names.map((name) => headers[name]);
  if (typeof id !== 'string' || typeof time !== 'string' || typeof signatures !== 'string') return false;
  // With a dot in the id, a part of the body could be taken for the time.
  if (id.includes('.') || !isNear(time, toleranceSeconds)) return false;
  const message = Buffer.concat([
    Buffer.from(`${id}.${time}.`),
    typeof body === 'string' ? Buffer.from(body) : body,
  ]);
  return signatures.split(' ').some((one) => {
    if (!one.startsWith('v1a,')) return false;
    const signature = Buffer.from(one.slice('v1a,'.length), 'base64');
    return keys.some((key) => verify(null, message, key, signature));
  });
}

function isNear(seconds: string, toleranceSeconds: number): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(Date.now() / 1_000 - Number(seconds)) <= toleranceSeconds;
}

function keyOf(given: PublicKey): KeyObject {
  try {
    const x =
      typeof given === 'string'
        ? Buffer.from(given.replace(/^whpk_/, ''), 'base64').toString('base64url')
        : given.x;
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch {
    throw invalidKeys('A public key is neither whpk_ and 32 bytes in base64, nor a JSON Web Key of Ed25519.');
  }
}

function invalidKeys(message: string): AnalyticsError {
  return new AnalyticsError('invalid-options', message, { field: 'keys' });
}
