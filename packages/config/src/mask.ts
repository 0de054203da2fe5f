/**
 * Secrets as the API shows them, and takes them back. They are write-only: a mask stands in their place, and where the mask
 * is sent back, what is stored stays.
 */
import { field, items, problem, type FieldPath, type Problem } from './problem.ts';
import type { Destination, Webhook } from './schema.ts';
import { isSecretHeader, mapSecrets, secretsOf } from './secrets.ts';

export const secretMask = '********';

export function maskDestination(destination: Destination): Destination {
  return mapSecrets(destination, () => secretMask);
}

/**
 * `wanted`, which may be anything, with each mask replaced by the secret that `stored` has there. The value of a header
 * belongs to its URL: it does not move to another one unseen.
 */
export function unmaskDestination(
  wanted: unknown,
  stored: Destination | undefined,
): { readonly value: unknown } | { readonly problems: readonly Problem[] } {
  const copy = structuredClone(wanted);
  const problems: Problem[] = [];
  for (const { path, value, replace } of secretsOf(copy)) {
    if (value !== secretMask) continue;
    const kept = stored && storedSecret(stored, copy as Destination, path);
    if (kept !== undefined) replace(kept);
    else problems.push(problem(path, 'is the mask of a stored value, and none is stored here'));
  }
  for (const { path, value, isSecret } of headersOf(copy)) {
    if (value !== secretMask || isSecret) continue;
    problems.push(
      problem(path, 'is the mask of a secret; name the header in secretHeaders, or give its value'),
    );
  }
  return problems.length === 0 ? { value: copy } : { problems };
}

function storedSecret(stored: Destination, wanted: Destination, path: FieldPath): string | undefined {
  const { settings } = stored;
  const [, list, index, , name] = path;
  if (list === 'sharedSecret') return settings.sharedSecret;
  if (list === 'previousSharedSecret') return settings.previousSharedSecret;
  if (list === 'tls') return settings.tls?.clientKey;
  const webhook = wanted.settings.webhooks[Number(index)];
  const isSame = (one: Webhook | undefined): boolean => one !== undefined && one.url === webhook?.url;
  const there = settings.webhooks[Number(index)];
  const kept = isSame(there) ? there : settings.webhooks.find(isSame);
  const found = Object.entries(kept?.headers ?? {}).find(
    ([header]) => header.toLowerCase() === String(name).toLowerCase(),
  );
  return found?.[1];
}

function* headersOf(destination: unknown): Generator<{ path: FieldPath; value: unknown; isSecret: boolean }> {
  const settings = field(destination, 'settings');
  for (const [index, webhook] of items(field(settings, 'webhooks')).entries()) {
    const headers = field(webhook, 'headers');
    if (typeof headers !== 'object' || headers === null) continue;
    for (const [name, value] of Object.entries(headers)) {
      const path = ['settings', 'webhooks', index, 'headers', name];
      yield { path, value, isSecret: isSecretHeader(webhook, name) };
    }
  }
}
