/**
 * Encryption of secrets at rest. Each secret is encrypted separately with AES-256-GCM and stored as
 * `sealed:v1:<fingerprint of the key>:<iv, ciphertext and tag in base64url>`. The place of the secret (entry and field) is
 * authenticated, so that a stored secret that is copied to another place cannot be decrypted there.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Keys of 32 bytes. `current` encrypts; both decrypt, so that a key can be changed without a pause. */
export interface SecretKeys {
  readonly current?: Buffer | undefined;
  readonly previous?: Buffer | undefined;
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
const form = /^sealed:v1:([0-9a-f]{8}):([A-Za-z0-9_-]+)$/;

export function isEncrypted(text: string): boolean {
  return form.test(text);
}

/** Whether `text` was encrypted with `key`, by its fingerprint. */
export function isEncryptedWith(text: string, key: Buffer): boolean {
  return form.exec(text)?.[1] === fingerprintOf(key);
}

/** @param place entry and field of the secret, such as `destination/crm settings.sharedSecret` */
export function encrypt(text: string, place: string, key: Buffer): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(place));
  const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `sealed:v1:${fingerprintOf(key)}:${sealed.toString('base64url')}`;
}

/** The secret; or, as `why`, a clause with the reason why it cannot be decrypted. */
export function decrypt(
  sealed: string,
  place: string,
  { current, previous }: SecretKeys,
): { readonly text: string } | { readonly why: string } {
  const [, fingerprint, content = ''] = form.exec(sealed) ?? [];
  const keys = [current, previous].filter((key) => key !== undefined);
  const key = keys.find((one) => fingerprintOf(one) === fingerprint);
  if (!key) {
    const known = keys.map(fingerprintOf).join(' and ') || 'none';
    return { why: `is encrypted with the key ${fingerprint ?? ''}, and the given keys are ${known}` };
  }
  const bytes = Buffer.from(content, 'base64url');
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(-tagBytes));
    const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]);
    return { text: text.toString() };
  } catch {
    return { why: 'cannot be decrypted: it was changed or copied from another place' };
  }
}

/** The first 8 hex digits of the key's SHA-256. They identify the key without revealing it. */
export function fingerprintOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}
