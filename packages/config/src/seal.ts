/**
 * Secrets at rest: AES-256-GCM, each by itself, as `sealed:v1:<fingerprint of the key>:<iv, ciphertext and tag>` with the
 * last part in base64url. The place of a secret (entry and field) is authenticated with it, so that a sealed text that
 * is copied elsewhere in the topic does not open there.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** 32 bytes each. `current` seals; both open, so that a key can be changed without a pause. */
export interface SecretKeys {
  readonly current?: Buffer | undefined;
  readonly previous?: Buffer | undefined;
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
const form = /^sealed:v1:([0-9a-f]{8}):([A-Za-z0-9_-]+)$/;

export function isSealed(text: string): boolean {
  return form.test(text);
}

/** Whether `text` was sealed with `key`, going by the fingerprint. */
export function isSealedWith(text: string, key: Buffer): boolean {
  return form.exec(text)?.[1] === fingerprintOf(key);
}

/** @param place where the secret is, such as `destination/crm settings.sharedSecret` */
export function seal(text: string, place: string, key: Buffer): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(place));
  const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `sealed:v1:${fingerprintOf(key)}:${sealed.toString('base64url')}`;
}

/** The secret, or as `why` a clause on why it cannot be had. */
export function open(
  sealed: string,
  place: string,
  { current, previous }: SecretKeys,
): { readonly text: string } | { readonly why: string } {
  const [, fingerprint, content = ''] = form.exec(sealed) ?? [];
  const keys = [current, previous].filter((key) => key !== undefined);
  const key = keys.find((one) => fingerprintOf(one) === fingerprint);
  if (!key) {
    const known = keys.map(fingerprintOf).join(' and ') || 'none';
    return { why: `is sealed with the key ${fingerprint ?? ''}, and the keys given are ${known}` };
  }
  const bytes = Buffer.from(content, 'base64url');
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(-tagBytes));
    const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]);
    return { text: text.toString() };
  } catch {
    return { why: 'does not open: it was changed, or belongs elsewhere' };
  }
}

/** The first digits of the key's SHA-256: which key it is, and nothing of what it is. */
export function fingerprintOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}
