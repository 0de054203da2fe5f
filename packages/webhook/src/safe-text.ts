/** Makes texts of receivers safe to store and to show: without the secrets of the request, which they may send back, and without signs that act. */
import { secretMask } from '@tailrace/config';
import type { Target } from './target.ts';

/** A shorter value protects nothing, and masking it would make the text unreadable. */
const leastSecretLength = 4;

/** Control and format characters: they could command a terminal, or show a text in another order than it has. Line breaks and tabs stay. */
const unsafe = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;

export function safeText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(unsafe, '\u{FFFD}');
}

/** The header values and the query of a URL, in every form in which a receiver may send them back, the longest first. */
export function secretsOf({ headers, path }: Pick<Target, 'headers' | 'path'>): readonly string[] {
  const [, query = ''] = /\?(.*)$/s.exec(path) ?? [];
  const values = headers.filter((_, place) => place % 2 === 1);
  const secrets = [
    ...values,
    // Of `Bearer …` and the like, the second part alone.
    ...values.map((value) => /^\S+ +(.+)$/.exec(value)?.[1] ?? ''),
    ...values.map(passwordOf),
    query,
    ...new URLSearchParams(query).values(),
  ];
  const forms = secrets
    .filter(({ length }) => length >= leastSecretLength)
    .flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret.toWellFormed()),
    ]);
  return [...new Set(forms)].sort((one, other) => other.length - one.length);
}

/** Of `Basic …`. */
function passwordOf(value: string): string {
  const [, encoded = ''] = /^basic +(\S+)$/i.exec(value) ?? [];
  return Buffer.from(encoded, 'base64')
    .toString()
    .replace(/^[^:]*:/, '');
}

/** @param isCut whether the end of the text is missing, which may have cut a secret */
export function maskSecrets(text: string, secrets: readonly string[], isCut = false): string {
  let masked = text;
  for (const secret of secrets) masked = masked.replaceAll(secret, secretMask);
  return isCut ? maskEnd(masked, secrets) : masked;
}

/** Masks the beginning of a secret at the end of the text. */
function maskEnd(text: string, secrets: readonly string[]): string {
  const lengths = secrets.map((secret) => {
    let length = Math.min(secret.length - 1, text.length);
    while (length > 0 && !text.endsWith(secret.slice(0, length))) length -= 1;
    return length;
  });
  const longest = Math.max(0, ...lengths);
  return longest === 0 ? text : `${text.slice(0, -longest)}${secretMask}`;
}
