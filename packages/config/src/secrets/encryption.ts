/**
 * Encryption of secrets at rest. Each secret is encrypted separately with AES-256-GCM and stored as
 * `sealed:v1:<fingerprint of the key>:<iv, ciphertext and tag in base64url>`. The place of the secret (entry and field) is
 * authenticated, so that a stored secret that is copied to another place cannot be decrypted there.
 */
import { hash } from 'node:crypto';
import { seal, unseal } from './sealed.ts';

/** Keys of 32 bytes. `current` encrypts; both decrypt, so that a key can be changed without a pause. */
export interface SecretKeys {
  readonly current?: Buffer | undefined;
  readonly previous?: Buffer | undefined;
}

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
  return `sealed:v1:${fingerprintOf(key)}:${seal(text, key, place).toString('base64url')}`;
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
  const text = unseal(Buffer.from(content, 'base64url'), key, place)?.toString();
  if (text !== undefined) return { text };
  return { why: 'cannot be decrypted: it was changed or copied from another place' };
}

/** The first 8 hex digits of the key's SHA-256. They identify the key without revealing it. */
export function fingerprintOf(key: Buffer): string {
  return hash('sha256', key, 'hex').slice(0, 8);
}
