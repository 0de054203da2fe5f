/** Masks the values of bodies for callers with the role `read`: in bodies, in what lists have of them, and in answers, which may repeat them. */
import { isRawNumber, parseJson } from '@tailrace/events';
import type { UrlAttempt } from '@tailrace/records';
import type { Role } from './authenticate.ts';

const masked = '***';
/** Fields without personal data. Lists have them too. */
const shown = new Set(['type', 'version', 'event']);

export function isMaskedFor(role: Role | undefined): boolean {
  return role === undefined || role === 'read';
}

/** The id of a user, which a body has as userId or anonymousId. */
export function showUser(id: string, role: Role | undefined): string {
  return isMaskedFor(role) ? masked : id;
}

/** Replaces every value with `***`, of any type. Keys, nesting and null stay. */
export function maskValues(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || isRawNumber(body)) {
    return mask(body);
  }
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, shown.has(key) ? value : mask(value)] as const),
  );
}

function mask(value: unknown): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== 'object' || isRawNumber(value)) return masked;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mask(inner)] as const));
}

export interface ShownBody {
  /** Whether the values are masked for this caller. */
  readonly masked: boolean;
  readonly body: unknown;
  /** The exact bytes that are signed and sent; only in an unmasked body. */
  readonly text?: string;
}

/**
 * The body, masked for callers that may only read.
 *
 * @param isMade whether a transform has made it, so that no field is known
 */
export function showBody(value: Buffer | null, role: Role | undefined, isMade = false): ShownBody {
  const text = value?.toString() ?? '';
  const body = parse(text);
  if (!isMaskedFor(role)) return { masked: false, body, text };
  return { masked: true, body: isMade ? mask(body) : maskValues(body) };
}

/** Why a delivery failed. What a transform has thrown may be of its event, so those who may only read see the version alone. */
export function showFailure(text: string, reason: string | undefined, role: Role | undefined): string {
  return isMaskedFor(role) && reason === 'transform-failed' ? text.replace(/:[^]*/, `: ${masked}`) : text;
}

/** The results of an attempt. Of the answers of receivers a caller that may only read sees the names of headers and fields. */
export function showUrls(urls: readonly UrlAttempt[], role: Role | undefined): readonly UrlAttempt[] {
  if (!isMaskedFor(role) || !urls.some(({ exchange }) => exchange)) return urls;
  return urls.map(({ exchange, ...url }) => {
    if (!exchange) return url;
    const { responseHeaders, responseBody, ...rest } = exchange;
    return {
      ...url,
      exchange: {
        ...rest,
        ...(responseHeaders && { responseHeaders: mask(responseHeaders) as Record<string, string> }),
        ...(responseBody !== undefined && { responseBody: maskText(responseBody) }),
      },
    };
  });
}

function maskText(text: string): string {
  const value = mask(parse(text));
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A record by another producer need not be JSON; it is shown as text. */
function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
