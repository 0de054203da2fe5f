/**
 * Masks for the secrets of destinations in the API. Secrets are write-only: answers contain a mask in their place, and a
 * request that contains the mask keeps the stored secret. The value of every header counts as a secret, also where
 * `secretHeaders` does not name it: an `Authorization` header is easily forgotten there.
 */
import { field, formatPath, items, problem, type FieldPath, type Problem } from '../rules/problem.ts';
import type { Destination, Source, Webhook } from '../rules/schema.ts';
import { secretMask } from './mask-text.ts';
import { redacted } from './redact.ts';
import { mapSecretPlaces } from './references.ts';
import { isSecretHeader, maskedSecretsOf, withoutSecrets } from './secrets.ts';

/**
 * A problem for each text of a file that Tailrace shows in place of a secret. Applied, it would overwrite the secret.
 */
export function maskProblems(configuration: unknown): Problem[] {
  const problems: Problem[] = [];
  mapSecretPlaces(configuration, (text, path) => {
    if (isMasked(text, path)) problems.push(problem(path, hasMask));
    return text;
  });
  return problems;
}

/** Whether the text of a field stands for a secret that is not shown. A URL may contain the mask. */
export function isMasked(text: string, path: FieldPath): boolean {
  const masks = [secretMask, redacted];
  const isUrl = ['url', 'tokenUrl'].includes(String(path.at(-1)));
  return isUrl ? masks.some((mask) => text.includes(mask)) : masks.includes(text);
}

const hasMask =
  'has the mask that Tailrace shows in place of a secret, and would overwrite the secret; write env:NAME, ' +
  'file:PATH or the secret itself (`tailrace get -o yaml` writes a file with references)';

/** For callers that may change the destination. */
export function maskDestination(destination: Destination): Destination {
  return withoutSecrets(destination, secretMask);
}

/** For callers that may only read: without the queries of URLs either, which often contain tokens. */
export function maskDestinationForReaders(destination: Destination): Destination {
  return withoutSecrets(destination, secretMask, maskQuery);
}

/** For callers that may only read: with a mask for each write key. */
export function maskSource(source: Source): Source {
  return { ...source, writeKeys: source.writeKeys.map(() => secretMask) };
}

/** `https://example.com/hook?********`: what follows the path of a URL is masked as a whole. */
function maskQuery(url: string): string {
  const start = url.search(/[?#]/);
  return start < 0 ? url : `${url.slice(0, start)}?${secretMask}`;
}

/**
 * `wanted` (any value) with each mask replaced by the stored secret. The value of a header is kept only for the same URL, so
 * that it is never sent to another receiver, and stays secret if it was.
 */
export function unmaskDestination(
  wanted: unknown,
  stored: Destination | undefined,
): { readonly value: unknown } | { readonly problems: readonly Problem[] } {
  const copy = structuredClone(wanted);
  const problems: Problem[] = [];
  const changed = stored && changedUrl(copy, stored);
  for (const { path, value, replace } of maskedSecretsOf(copy)) {
    if (value !== secretMask) continue;
    const kept = stored && storedSecret(stored, copy as Destination, path);
    if (!stored || kept === undefined) {
      problems.push(problem(path, 'is the mask of a secret, and no secret is stored here; set a value'));
    } else if (changed && (path[1] === 'auth' || path[1] === 'oauth2')) {
      problems.push(problem(path, `has to be given again, because ${formatPath(changed)} is new`));
    } else {
      replace(kept);
      if (path[1] === 'webhooks') keepSecret(copy as Destination, stored, path);
    }
  }
  return problems.length === 0 ? { value: copy } : { problems };
}

/** A URL that is not stored: neither a stored secret nor a token that is got with it is ever sent to another server. */
function changedUrl(wanted: unknown, { settings: stored }: Destination): FieldPath | undefined {
  const settings = field(wanted, 'settings');
  const tokenUrl = field(field(settings, 'oauth2'), 'tokenUrl');
  if (stored.oauth2 && tokenUrl !== stored.oauth2.tokenUrl) return ['settings', 'oauth2', 'tokenUrl'];
  const known = new Set<unknown>(stored.webhooks.map(({ url }) => url));
  const added = items(field(settings, 'webhooks')).findIndex((webhook) => !known.has(field(webhook, 'url')));
  return added < 0 ? undefined : ['settings', 'webhooks', added, 'url'];
}

function storedSecret(stored: Destination, wanted: Destination, path: FieldPath): string | undefined {
  const { settings } = stored;
  const [, list, index, , name] = path;
  if (list === 'sharedSecret') return settings.sharedSecret;
  if (list === 'previousSharedSecret') return settings.previousSharedSecret;
  if (list === 'auth') return settings.auth?.[index as 'password' | 'token'];
  if (list === 'oauth2') return settings.oauth2?.clientSecret;
  if (list === 'ed25519') return settings.ed25519?.[index as 'key' | 'previousKey'];
  if (list === 'tls') return settings.tls?.clientKey;
  const found = Object.entries(storedWebhook(stored, wanted, Number(index))?.headers ?? {}).find(
    ([header]) => header.toLowerCase() === String(name).toLowerCase(),
  );
  return found?.[1];
}

/** The stored webhook with the URL of the wanted one at `index`. */
function storedWebhook(stored: Destination, wanted: Destination, index: number): Webhook | undefined {
  const { webhooks } = stored.settings;
  const isSame = (one: Webhook | undefined): boolean => one?.url === wanted.settings.webhooks[index]?.url;
  return isSame(webhooks[index]) ? webhooks[index] : webhooks.find(isSame);
}

/** Names the header at `path` in `secretHeaders` of `wanted` if it is secret in `stored`. */
function keepSecret(wanted: Destination, stored: Destination, [, , position, , name]: FieldPath): void {
  const [index, header] = [Number(position), String(name)];
  const webhook = wanted.settings.webhooks[index];
  if (!webhook || isSecretHeader(webhook, header)) return;
  if (!isSecretHeader(storedWebhook(stored, wanted, index), header)) return;
  const named: unknown = webhook.secretHeaders ?? [];
  if (Array.isArray(named)) Object.assign(webhook, { secretHeaders: [...(named as unknown[]), header] });
}
