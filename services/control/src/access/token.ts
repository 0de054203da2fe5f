/** Tokens of the API: `tlr_<id>_<secret>`. The id finds the stored token, whose hash the whole text must have. */
import { createHash, randomBytes } from 'node:crypto';

export interface NewToken {
  readonly id: string;
  /** Shown once, to its creator. */
  readonly text: string;
  /** SHA-256 in hex, which is stored. */
  readonly hash: string;
}

const idBytes = 6;
const secretBytes = 32;
const form = /^tlr_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;

export function newToken(): NewToken {
  const id = randomBytes(idBytes).toString('hex');
  const text = `tlr_${id}_${randomBytes(secretBytes).toString('base64url')}`;
  return { id, text, hash: digestOf(text).toString('hex') };
}

/** The id in the text of a token; undefined for a text of another form. */
export function idOfToken(text: string): string | undefined {
  return form.exec(text)?.[1];
}

export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
