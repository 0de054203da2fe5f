/** What an HTTP status means. */
import type { Answer } from './answer.ts';

/** What a response status means. `retryAfter` is the header's value, `now` in milliseconds since the epoch. */
export function judgeStatus(status: number, retryAfter: string | undefined, now: number): Answer {
  if (status >= 200 && status < 300) return { kind: 'success', status };
  const retryAfterMs = parseRetryAfter(retryAfter, now);
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 429) return { kind: 'retryable', reason: 'too-many-requests', status, ...wait };
  if (status === 408) return { kind: 'retryable', reason: 'request-timeout', status, ...wait };
  if (status >= 500 && status < 600) return { kind: 'retryable', reason: 'server-error', status, ...wait };
  if (status >= 300 && status < 400) return { kind: 'permanent', reason: 'redirect', status };
  if (status >= 400 && status < 500) return { kind: 'permanent', reason: 'client-error', status };
  return { kind: 'permanent', reason: 'unexpected-status', status };
}

/** All forms of an HTTP date begin with the day of the week; what else `Date.parse` would take is a guess. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** Seconds or an HTTP date (RFC 9110, 10.2.3), as milliseconds from now; undefined where it is neither. */
function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  if (!httpDate.test(text)) return undefined;
  // The oldest form names no zone; all are in UTC.
  const date = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
