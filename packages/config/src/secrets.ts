/** Where a destination's secrets are, and what is made of them on their way into and out of the topic. */
import { field, formatPath, items, type FieldPath } from './problem.ts';
import type { Destination } from './schema.ts';
import { isSealed, isSealedWith, open, seal, type SecretKeys } from './seal.ts';

/** A secret of a destination, in its place. */
interface Secret {
  readonly path: FieldPath;
  readonly value: string;
  readonly replace: (value: string) => void;
}

/** Every secret of what may be a destination; `replace` writes into it. */
export function* secretsOf(destination: unknown): Generator<Secret> {
  const settings = field(destination, 'settings');
  const named: [owner: unknown, key: string, path: FieldPath][] = [
    [settings, 'sharedSecret', ['settings', 'sharedSecret']],
    [settings, 'previousSharedSecret', ['settings', 'previousSharedSecret']],
    [field(settings, 'tls'), 'clientKey', ['settings', 'tls', 'clientKey']],
  ];
  for (const [index, webhook] of items(field(settings, 'webhooks')).entries()) {
    const headers = field(webhook, 'headers');
    if (typeof headers !== 'object' || headers === null) continue;
    for (const name of Object.keys(headers)) {
      if (isSecretHeader(webhook, name)) {
        named.push([headers, name, ['settings', 'webhooks', index, 'headers', name]]);
      }
    }
  }
  for (const [owner, key, path] of named) {
    const value = field(owner, key);
    if (typeof value !== 'string') continue;
    yield {
      path,
      value,
      replace: (replacement) => {
        (owner as Record<string, string>)[key] = replacement;
      },
    };
  }
}

/** Whether the webhook says that the value of this header is secret; names are the same whatever their case. */
export function isSecretHeader(webhook: unknown, name: string): boolean {
  return items(field(webhook, 'secretHeaders')).some(
    (secret) => typeof secret === 'string' && secret.toLowerCase() === name.toLowerCase(),
  );
}

export function hasSecrets(destination: Destination): boolean {
  return !secretsOf(destination).next().done;
}

/** `destination` with each secret given through `change`, with its path. */
export function mapSecrets(
  destination: Destination,
  change: (value: string, path: FieldPath) => string,
): Destination {
  const copy = structuredClone(destination);
  for (const { path, value, replace } of secretsOf(copy)) replace(change(value, path));
  return copy;
}

/** `destination` with its secrets sealed; as it is without a key. */
export function sealDestination(destination: Destination, key: Buffer | undefined): Destination {
  if (!key) return destination;
  return mapSecrets(destination, (value, path) => seal(value, placeOf(destination.id, path), key));
}

export interface Opened {
  readonly content: unknown;
  /** Why a secret cannot be had; absent where all can. */
  readonly locked?: string;
  /** Whether a secret is not sealed with the current key, where there is one. */
  readonly stale: boolean;
}

/**
 * The content of a destination's record with its secrets opened. Without `keys`, for who has no use for secrets, stand-ins
 * that keep the rules are in their place.
 */
export function openDestination(content: unknown, id: string, keys: SecretKeys | undefined): Opened {
  const copy = structuredClone(content);
  if (!keys) return { content: withStandIns(copy), stale: false };
  let locked: string | undefined;
  let stale = false;
  for (const { path, value, replace } of secretsOf(copy)) {
    stale ||= keys.current !== undefined && !isSealedWith(value, keys.current);
    if (!isSealed(value)) continue;
    const opened = open(value, placeOf(id, path), keys);
    if ('why' in opened) locked ??= `${formatPath(path)} ${opened.why}`;
    else replace(opened.text);
  }
  return { content: copy, stale, ...(locked !== undefined && { locked }) };
}

function withStandIns(destination: unknown): unknown {
  for (const { path, value, replace } of secretsOf(destination)) {
    if (!isSealed(value)) continue;
    // Nothing stands in for a private key; who has no secrets makes no connections either.
    if (path.at(-1) === 'clientKey') delete (field(destination, 'settings') as { tls?: unknown }).tls;
    else replace(`sealed ${formatPath(path)}`);
  }
  return destination;
}

function placeOf(id: string, path: FieldPath): string {
  return `destination/${id} ${formatPath(path)}`;
}
