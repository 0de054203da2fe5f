/**
 * The stored answer of a request with an Idempotency-Key. It may have a secret that is shown once, such as a new token, so
 * it is sealed: only the bearer token together with the Idempotency-Key opens it.
 */
import { hash, hkdfSync } from 'node:crypto';
import { seal, unseal } from '@tailrace/config';
import { objectIn } from '@tailrace/records';

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @param secret the bearer token and the Idempotency-Key */
export function sealAnswer(answer: StoredAnswer, secret: string): string {
  return seal(JSON.stringify(answer), keyOf(secret)).toString('base64');
}

/** Undefined where the secret is another. */
export function openAnswer(text: string, secret: string): StoredAnswer | undefined {
  return objectIn<StoredAnswer>(unseal(Buffer.from(text, 'base64'), keyOf(secret)) ?? null) as
    | StoredAnswer
    | undefined;
}

export function digestOf(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}

function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'tailrace idempotent answer', 32));
}
