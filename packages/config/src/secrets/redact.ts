/** Sources and destinations without secrets, for logs and messages. */
import type { Destination, Source } from '../rules/schema.ts';

const redacted = '[redacted]';

/** `source` without its write keys. */
export function redactSource(source: Source): Source {
  return { ...source, writeKeys: source.writeKeys.map(() => redacted) };
}

/**
 * `destination` without its shared secrets, its private key, the values of headers, and the queries of URLs, which often
 * contain tokens.
 */
export function redactDestination(destination: Destination): Destination {
  const { sharedSecret, previousSharedSecret, standardWebhooks, tls, webhooks } = destination.settings;
  return {
    ...destination,
    settings: {
      ...(sharedSecret !== undefined && { sharedSecret: redacted }),
      ...(previousSharedSecret !== undefined && { previousSharedSecret: redacted }),
      ...(standardWebhooks !== undefined && { standardWebhooks }),
      ...(tls && { tls: { ...tls, ...(tls.clientKey !== undefined && { clientKey: redacted }) } }),
      webhooks: webhooks.map(({ url, headers, secretHeaders }) => ({
        url: redactUrl(url),
        ...(headers && {
          headers: Object.fromEntries(Object.keys(headers).map((name) => [name, redacted])),
        }),
        ...(secretHeaders && { secretHeaders }),
      })),
    },
  };
}

/** Scheme, host, port and path. */
export function redactUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname}` : redacted;
}
