/**
 * The stored answer of a request with an Idempotency-Key. It may have a secret that is shown once, such as a new token, so
 * it is sealed: only the bearer token together with the Idempotency-Key opens it.
 */
import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** @param secret the bearer token and the Idempotency-Key */
export function sealAnswer(answer: StoredAnswer, secret: string): string {
  const iv = randomBytes(ivBytes);
  const sealing = createCipheriv(cipher, keyOf(secret), iv);
  const sealed = Buffer.concat([sealing.update(JSON.stringify(answer)), sealing.final()]);
  return Buffer.concat([iv, sealed, sealing.getAuthTag()]).toString('base64');
}

/** Undefined where the secret is another. */
export function openAnswer(text: string, secret: string): StoredAnswer | undefined {
  const bytes = Buffer.from(text, 'base64');
  try {
    const opening = createDecipheriv(cipher, keyOf(secret), bytes.subarray(0, ivBytes));
    opening.setAuthTag(bytes.subarray(-tagBytes));
    const opened = Buffer.concat([opening.update(bytes.subarray(ivBytes, -tagBytes)), opening.final()]);
    return JSON.parse(opened.toString()) as StoredAnswer;
  } catch {
    return undefined;
  }
}

export function digestOf(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}

function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'tailrace idempotent answer', 32));
}
