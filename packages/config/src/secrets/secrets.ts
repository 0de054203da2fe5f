/** Finds the secrets of a destination, and encrypts and decrypts them for the topic. */
import { field, formatPath, items, type FieldPath } from '../rules/problem.ts';
import type { Destination } from '../rules/schema.ts';
import { isSecretHeaderName } from '../rules/destination/webhook.ts';
import { decrypt, encrypt, isEncrypted, isEncryptedWith, type SecretKeys } from './encryption.ts';

/** A secret of an entry, and its field. */
export interface Secret {
  readonly path: FieldPath;
  readonly value: string;
  readonly replace: (value: string) => void;
}

/** Every secret that is sealed in the topic, of a value that may be a destination. `replace` changes that value. */
export function secretsOf(destination: unknown): Generator<Secret> {
  return secretsWith(destination, isSecretHeader);
}

/** Those of them that are Ed25519 keys. */
export function ed25519SecretsOf(destination: unknown): readonly Secret[] {
  return [...secretsOf(destination)].filter(({ path }) => path[1] === 'ed25519');
}

/** The secrets that the API masks: those that are sealed, and the values of all other headers. */
export function maskedSecretsOf(destination: unknown): Generator<Secret> {
  return secretsWith(destination, () => true);
}

/** A copy with `text` in the place of each of these secrets, and with other URLs. For people, who must not see them. */
export function withoutSecrets(
  destination: Destination,
  text: string,
  urlOf: (url: string) => string = (url) => url,
): Destination {
  const copy = structuredClone(destination);
  for (const { replace } of maskedSecretsOf(copy)) replace(text);
  const { webhooks, oauth2 } = copy.settings;
  const settings = {
    ...copy.settings,
    ...(oauth2 && { oauth2: { ...oauth2, tokenUrl: urlOf(oauth2.tokenUrl) } }),
    webhooks: webhooks.map((webhook) => ({ ...webhook, url: urlOf(webhook.url) })),
  };
  return { ...copy, settings };
}

/** What follows the `?` of each URL of requests. It is sealed only from `sealQueries` on: the release before would send the sealed text. */
export function* queriesOf(destination: unknown): Generator<Secret> {
  const settings = field(destination, 'settings');
  for (const [index, webhook] of items(field(settings, 'webhooks')).entries()) {
    yield* queryAt(webhook, 'url', ['settings', 'webhooks', index, 'url']);
  }
  yield* queryAt(field(settings, 'oauth2'), 'tokenUrl', ['settings', 'oauth2', 'tokenUrl']);
}

function* queryAt(owner: unknown, key: string, path: FieldPath): Generator<Secret> {
  for (const { value: url, replace } of secretAt(owner, key, path)) {
    const start = url.indexOf('?') + 1;
    if (start === 0 || start === url.length) continue;
    yield { path, value: url.slice(start), replace: (query) => replace(url.slice(0, start) + query) };
  }
}

function* secretsWith(
  destination: unknown,
  isIncluded: (webhook: unknown, header: string) => boolean,
): Generator<Secret> {
  const settings = field(destination, 'settings');
  const named: [owner: unknown, key: string, path: FieldPath][] = [
    [settings, 'sharedSecret', ['settings', 'sharedSecret']],
    [settings, 'previousSharedSecret', ['settings', 'previousSharedSecret']],
    [field(settings, 'auth'), 'password', ['settings', 'auth', 'password']],
    [field(settings, 'auth'), 'token', ['settings', 'auth', 'token']],
    [field(settings, 'oauth2'), 'clientSecret', ['settings', 'oauth2', 'clientSecret']],
    [field(settings, 'ed25519'), 'key', ['settings', 'ed25519', 'key']],
    [field(settings, 'ed25519'), 'previousKey', ['settings', 'ed25519', 'previousKey']],
    [field(settings, 'tls'), 'clientKey', ['settings', 'tls', 'clientKey']],
  ];
  for (const [index, webhook] of items(field(settings, 'webhooks')).entries()) {
    const headers = field(webhook, 'headers');
    if (typeof headers !== 'object' || headers === null) continue;
    for (const name of Object.keys(headers)) {
      if (isIncluded(webhook, name)) {
        named.push([headers, name, ['settings', 'webhooks', index, 'headers', name]]);
      }
    }
  }
  for (const [owner, key, path] of named) yield* secretAt(owner, key, path);
}

/** The secret in the field `key` of `owner`, if it is a text. `replace` changes `owner`. */
export function* secretAt(owner: unknown, key: string, path: FieldPath): Generator<Secret> {
  const value = field(owner, key);
  if (typeof value !== 'string') return;
  yield {
    path,
    value,
    replace: (replacement) => {
      (owner as Record<string, string>)[key] = replacement;
    },
  };
}

/** Whether the header is secret by its name, or `secretHeaders` of the webhook contains it, ignoring case. */
export function isSecretHeader(webhook: unknown, name: string): boolean {
  return isSecretHeaderName(name) || items(field(webhook, 'secretHeaders')).some(isHeader(name));
}

function isHeader(name: string): (other: unknown) => boolean {
  return (other) => typeof other === 'string' && other.toLowerCase() === name.toLowerCase();
}

/**
 * `destination` with `secretHeaders` that name each secret header once, and nothing else. Entries are stored so, because the
 * release before opens only the headers that are named there.
 */
export function nameSecretHeaders(destination: Destination): Destination {
  const webhooks = destination.settings.webhooks.map(({ secretHeaders: given = [], ...webhook }) => {
    const secretHeaders = Object.keys(webhook.headers ?? {}).flatMap(
      (name) => given.find(isHeader(name)) ?? (isSecretHeaderName(name) ? name : []),
    );
    return { ...webhook, ...(secretHeaders.length > 0 && { secretHeaders }) };
  });
  return { ...destination, settings: { ...destination.settings, webhooks } };
}

/** Finds the secrets of any value that may be an entry of a kind. */
export type SecretsIn = (entry: unknown) => Iterable<Secret>;

/** Whether a secret of `entry` is not the one that `stored` has in the same place. */
export function addsSecrets(entry: unknown, stored: unknown, secretsIn: SecretsIn): boolean {
  const known = new Map(Array.from(secretsIn(stored), ({ path, value }) => [formatPath(path), value]));
  return [...secretsIn(entry)].some(({ path, value }) => known.get(formatPath(path)) !== value);
}

/** `destination` with encrypted secrets, and queries of URLs with `sealQueries`; unchanged without a key. */
export function encryptDestination(
  destination: Destination,
  key: Buffer | undefined,
  sealQueries: boolean,
): Destination {
  if (!key) return destination;
  const copy = structuredClone(nameSecretHeaders(destination));
  const secrets = [...secretsOf(copy), ...(sealQueries ? queriesOf(copy) : [])];
  encryptAll(secrets, `destination/${destination.id}`, key);
  return copy;
}

/** @param entry the key of the entry, such as `destination/crm`, which is authenticated */
export function encryptAll(secrets: Iterable<Secret>, entry: string, key: Buffer): void {
  for (const { path, value, replace } of secrets) replace(encrypt(value, placeOf(entry, path), key));
}

/**
 * Whether the queries of a destination's URLs are sealed; `none` where it has none, `mixed` where the release before has added a
 * plain one.
 */
export type QuerySealing = 'none' | 'plain' | 'sealed' | 'mixed';

export interface Decrypted {
  readonly content: unknown;
  /** Why a secret cannot be decrypted; absent if all can. */
  readonly locked?: string;
  /** Whether a secret is not encrypted with the current key, if there is one. */
  readonly stale: boolean;
  /** Also `none` where no keys are given. */
  readonly queries: QuerySealing;
}

/**
 * Decrypts the secrets in the content of a destination's record. Without `keys` (for services that do not need secrets),
 * valid placeholders replace them.
 */
export function decryptDestination(content: unknown, id: string, keys: SecretKeys | undefined): Decrypted {
  if (!keys) return { content: withPlaceholders(content), stale: false, queries: 'none' };
  const urls = [...queriesOf(content)];
  const sealed = urls.filter(({ value }) => isEncrypted(value));
  const decrypted = decryptAll([...secretsOf(content), ...sealed], `destination/${id}`, keys);
  return { content, queries: sealingOf(urls.length, sealed.length), ...decrypted };
}

export function decryptAll(
  secrets: Iterable<Secret>,
  entry: string,
  keys: SecretKeys,
): Pick<Decrypted, 'locked' | 'stale'> {
  let locked: string | undefined;
  let stale = false;
  for (const { path, value, replace } of secrets) {
    stale ||= keys.current !== undefined && !isEncryptedWith(value, keys.current);
    if (!isEncrypted(value)) continue;
    const decrypted = decrypt(value, placeOf(entry, path), keys);
    if ('why' in decrypted) locked ??= `${formatPath(path)} ${decrypted.why}`;
    else replace(decrypted.text);
  }
  return { stale, ...(locked !== undefined && { locked }) };
}

function sealingOf(all: number, sealed: number): QuerySealing {
  if (all === 0) return 'none';
  if (sealed === 0) return 'plain';
  return sealed === all ? 'sealed' : 'mixed';
}

function withPlaceholders(destination: unknown): unknown {
  const settings = field(destination, 'settings') as { tls?: unknown; ed25519?: unknown };
  for (const { path, value, replace } of secretsOf(destination)) {
    if (!isEncrypted(value)) continue;
    // There is no valid placeholder for a private key, and a service without keys sends no requests.
    if (path[1] === 'tls') delete settings.tls;
    else if (path[1] === 'ed25519') delete settings.ed25519;
    else replace(`sealed ${formatPath(path)}`);
  }
  for (const { value, replace } of queriesOf(destination)) {
    if (isEncrypted(value)) replace('sealed');
  }
  return destination;
}

function placeOf(entry: string, path: FieldPath): string {
  return `${entry} ${formatPath(path)}`;
}
