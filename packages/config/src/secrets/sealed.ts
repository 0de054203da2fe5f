/** AES-256-GCM, with which everything secret is sealed: a random start, the sealed content, and the tag. */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const startBytes = 12;
const tagBytes = 16;
// Node 24 takes three times as long with a Buffer as the key, instead of a KeyObject.
const keyFor = (key: Buffer) => createSecretKey(key);

/** @param about is authenticated: what is sealed about something else cannot be opened */
export function seal(content: string | Buffer, key: Buffer, about = ''): Buffer {
  const start = randomBytes(startBytes);
  const cipher = createCipheriv(algorithm, keyFor(key), start).setAAD(Buffer.from(about));
  return Buffer.concat([start, cipher.update(Buffer.from(content)), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined where the key or `about` is another, or the bytes were changed. */
export function unseal(sealed: Buffer, key: Buffer, about = ''): Buffer | undefined {
  try {
    const decipher = createDecipheriv(algorithm, keyFor(key), sealed.subarray(0, startBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(about))
      .setAuthTag(sealed.subarray(-tagBytes));
    return Buffer.concat([decipher.update(sealed.subarray(startBytes, -tagBytes)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** The random start, which is another one for each seal. */
export function startOf(sealed: Buffer): string {
  return sealed.subarray(0, startBytes).toString('hex');
}
