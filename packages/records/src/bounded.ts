/**
 * Texts as they are stored. Names and ids come from clients, and a client that needs only a public write key may send long
 * ones, so every stored text is bounded. A filter is bounded in the same way before it is compared, so a long id is found.
 */
import { hash } from 'node:crypto';

/** UTF-16 units of a stored text, and of an event name in a record or the log. */
export const maxStoredLength = 200;
const digestLength = 16;

export function boundedOrNull(text: string | undefined): string | null {
  return text === undefined ? null : bounded(text);
}

/** The text, or its beginning with a digest of the whole where it is longer than {@link maxStoredLength}. */
export function bounded(text: string): string {
  if (text.length <= maxStoredLength) return text;
  const digest = hash('sha256', text, 'hex').slice(0, digestLength);
  // A surrogate pair that is cut in two becomes U+FFFD, as SQLite would store it.
  return `${text.slice(0, maxStoredLength - digestLength - 1).toWellFormed()}…${digest}`;
}
