/** Sources and destinations without secrets, for logs and messages. */
import type { Notification } from '../rules/notification/schema.ts';
import type { Destination, Source } from '../rules/schema.ts';
import type { Token } from '../rules/token.ts';
import { withoutNotificationSecrets } from './notification.ts';
import { withoutSecrets } from './secrets.ts';

/** Stands for a secret in logs and messages. */
export const redacted = '[redacted]';

/** `source` without its write keys. */
export function redactSource(source: Source): Source {
  return { ...source, writeKeys: source.writeKeys.map(() => redacted) };
}

/** `token` without its hash. */
export function redactToken(token: Token): Token {
  return { ...token, hash: redacted };
}

/**
 * `destination` without its shared secrets, its private key, the values of headers, and the queries of URLs, which often
 * contain tokens.
 */
export function redactDestination(destination: Destination): Destination {
  return withoutSecrets(destination, redacted, redactUrl);
}

/** `notification` without its secrets; of a URL, its origin stays. */
export function redactNotification(notification: Notification): Notification {
  return withoutNotificationSecrets(notification, redacted);
}

/** Scheme, host, port and path. */
export function redactUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname}` : redacted;
}
