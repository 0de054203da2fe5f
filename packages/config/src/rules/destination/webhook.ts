/**
 * The rules for the URL and the static headers of a webhook. They are stricter than those of the HTTP client, because an
 * invalid value would otherwise fail every delivery or change what the receiver verifies.
 */

const maxUrlLength = 2_048;
const maxHeaderNameLength = 128;
const maxHeaderValueLength = 4_096;

/** Set by Tailrace itself (docs/specification.md, rule 7.2), Standard Webhooks headers included. */
const ownHeaders = new Set([
  'host',
  'content-length',
  'content-type',
  'user-agent',
  'x-signature',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]);
/** Headers of the connection (RFC 9110, section 7.6.1) and of the transfer of the body. */
const connectionHeaders = new Set([
  'connection',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * The names of headers whose values are secret, so that they are sealed as if `secretHeaders` named them: a word of the name is
 * `Authorization` or `Cookie`, or ends with `token`, `secret` or `password`, or is `key` or one of its usual compounds.
 * `X-Api-Key`, `apikey` and `X-AuthToken` are secret; `X-Monkey-Id` and `X-Keyboard` are not. The chart has the same text.
 */
export const secretHeaderName =
  '(^|[-_.])(authorization|cookie|[a-z0-9]*(token|secret|password)' +
  '|([a-z0-9]*(access|account|admin|api|app|auth|client|encryption|license|master' +
  '|private|secret|service|session|shared|signing|subscription|user|webhook))?key)' +
  's?[0-9]*($|[-_.])';

const secretName = new RegExp(secretHeaderName, 'i');

export function isSecretHeaderName(name: string): boolean {
  return secretName.test(name);
}

/** Why `text` is not a valid URL of a webhook, as a clause; undefined if it is. */
export function webhookUrlProblem(text: string): string | undefined {
  if (text.length > maxUrlLength) return `is longer than ${maxUrlLength} characters`;
  // The URL parser strips or encodes these, so the URL of the request would differ from the configured one.
  if (/[\s\p{Cc}]/u.test(text)) return 'contains a space or a control character; percent-encode it';
  const url = URL.parse(text);
  if (!/^https?:$/.test(url?.protocol ?? 'http:')) return 'is neither http nor https';
  if (url === null || !/^https?:\/\/[^/\\]/i.test(text)) {
    return 'is not a full URL; include scheme and host, such as https://example.com/hook';
  }
  if (url.username !== '' || url.password !== '') {
    return 'contains a user name or password, and URLs are logged; use an Authorization header instead';
  }
  return undefined;
}

/** Why `name` is not a valid name of a static header, as a clause; undefined if it is. */
export function headerNameProblem(name: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name)) {
    return "is not the name of a header: letters, digits and !#$%&'*+-.^_`|~ are allowed";
  }
  if (name.length > maxHeaderNameLength) return `is longer than ${maxHeaderNameLength} characters`;
  const lowerCase = name.toLowerCase();
  if (ownHeaders.has(lowerCase)) return 'is set by Tailrace and cannot be changed';
  if (connectionHeaders.has(lowerCase) || lowerCase.startsWith('proxy-')) {
    return 'belongs to the connection and cannot be set';
  }
  return undefined;
}

/** As {@link headerNameProblem}, for a header that Tailrace sets under a name of choice. `usual` may be one of its own names. */
export function ownHeaderProblem(name: string, usual: string): string | undefined {
  return name.toLowerCase() === usual ? undefined : headerNameProblem(name);
}

/** Why `value` is not a valid value of a static header, as a clause; undefined if it is. */
export function headerValueProblem(value: string): string | undefined {
  if (value.length > maxHeaderValueLength) return `is longer than ${maxHeaderValueLength} characters`;
  if (/[\r\n\0]/.test(value)) return 'contains a line break or NUL';
  // Outside ASCII, sender and receiver may decode the same bytes differently (RFC 9110, section 5.5).
  if (/[^\t\x20-\x7e]/.test(value)) return 'contains a character that is not visible ASCII, space or tab';
  if (value !== value.trim()) return 'begins or ends with white space, which receivers remove; remove it';
  return undefined;
}
