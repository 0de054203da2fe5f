/**
 * What a webhook's URL and its static headers may be. The rules are stricter than a client library's: what is
 * refused here, with a sentence, would otherwise fail at every delivery or change what the receiver verifies.
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
/** About the connection, not the request (RFC 9110, section 7.6.1), or about how its body is sent. */
const connectionHeaders = new Set([
  'connection',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Why `text` is not the URL of a webhook, as a clause; undefined where it is one. */
export function refuseWebhookUrl(text: string): string | undefined {
  if (text.length > maxUrlLength) return `is longer than ${maxUrlLength} characters`;
  // The URL parser would strip or encode these, and the URL called would not be the one that was written.
  if (/[\s\p{Cc}]/u.test(text)) return 'holds a space or a control character; write it percent-encoded';
  const url = URL.parse(text);
  if (!/^https?:$/.test(url?.protocol ?? 'http:')) return 'is neither http nor https';
  if (url === null || !/^https?:\/\/[^/\\]/i.test(text)) {
    return 'is not a full URL; write it with scheme and host, such as https://example.com/hook';
  }
  if (url.username !== '' || url.password !== '') {
    return 'holds a user name or password, and URLs are shown in logs; send an Authorization header instead';
  }
  return undefined;
}

/** Why `name` cannot be the name of a static header, as a clause; undefined where it can. */
export function refuseHeaderName(name: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name)) {
    return "is not the name of a header: letters, digits and !#$%&'*+-.^_`|~ are allowed";
  }
  if (name.length > maxHeaderNameLength) return `is longer than ${maxHeaderNameLength} characters`;
  const lowerCase = name.toLowerCase();
  if (ownHeaders.has(lowerCase)) return 'is set by Tailrace and cannot be changed';
  if (connectionHeaders.has(lowerCase) || lowerCase.startsWith('proxy-')) {
    return 'is about the connection, not the request, and cannot be set';
  }
  return undefined;
}

/** Why `value` cannot be the value of a static header, as a clause; undefined where it can. */
export function refuseHeaderValue(value: string): string | undefined {
  if (value.length > maxHeaderValueLength) return `is longer than ${maxHeaderValueLength} characters`;
  if (/[\r\n\0]/.test(value)) return 'holds a line break or NUL';
  // Beyond ASCII, sender and receiver may take the same bytes for different text (RFC 9110, section 5.5).
  if (/[^\t\x20-\x7e]/.test(value)) return 'holds a character that is not visible ASCII, space or tab';
  if (value !== value.trim()) return 'begins or ends with white space, which receivers remove';
  return undefined;
}
