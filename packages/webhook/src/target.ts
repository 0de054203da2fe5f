/** A destination's webhooks made ready for sending: URL taken apart, headers laid out, name for the log. */
import { createHash } from 'node:crypto';
import type { Destination, TlsSettings } from '@tailrace/config';
import { sign, signStandardWebhook } from '@tailrace/signing';

export interface Target {
  /** Names the URL in a delivery's `closed-urls`: a corrected URL is another one, and open again. */
  readonly fingerprint: string;
  /** Without the query, which may hold secrets. */
  readonly shownUrl: string;
  readonly origin: string;
  readonly path: string;
  /** The URL's own static headers, names and values in turn. */
  readonly headers: readonly string[];
  /** What the sender is to use for this URL; none for plain HTTP. */
  readonly tls: TlsSettings | undefined;
}

/** Which delivery it is, and when it is attempted. */
export interface AttemptStamp {
  readonly deliveryId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

const targets = new WeakMap<Destination, readonly Target[]>();

/** The targets of a destination, in the order of its webhooks; worked out once for each version of it. */
export function targetsOf(destination: Destination): readonly Target[] {
  let found = targets.get(destination);
  if (!found) {
    found = destination.settings.webhooks.map(({ url: text, headers = {} }) => {
      const url = new URL(text);
      return {
        fingerprint: createHash('sha256').update(url.href).digest('hex').slice(0, 16),
        shownUrl: `${url.origin}${url.pathname}`,
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        headers: Object.entries(headers).flat(),
        tls: url.protocol === 'https:' ? destination.settings.tls : undefined,
      };
    });
    targets.set(destination, found);
  }
  return found;
}

/**
 * All the headers of a webhook request (docs/specification.md, rules 7.2 and 8.4), as alternating names and values. During a
 * change of the secret there are two secrets; `X-Signature` is made with the newer one.
 */
export function requestHeaders(
  destination: Destination,
  target: Target,
  body: Buffer,
  attempt: AttemptStamp,
): string[] {
  const headers = ['Content-Type', 'application/json', 'User-Agent', 'Tailrace/1.0'];
  const { sharedSecret, previousSharedSecret, standardWebhooks = false } = destination.settings;
  if (sharedSecret !== undefined) {
    headers.push('X-Signature', sign(sharedSecret, body));
    if (standardWebhooks) {
      const { deliveryId: id } = attempt;
      const timestamp = Math.floor(attempt.startedAt / 1_000);
      const secrets =
        previousSharedSecret === undefined ? [sharedSecret] : [sharedSecret, previousSharedSecret];
      const signature = signStandardWebhook(secrets, { id, timestamp, body });
      headers.push('webhook-id', id, 'webhook-timestamp', String(timestamp), 'webhook-signature', signature);
    }
  }
  headers.push(...target.headers);
  return headers;
}
