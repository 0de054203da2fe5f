/**
 * Masks for the secrets of destinations in the API. Secrets are write-only: answers contain a mask in their place, and a
 * request that contains the mask keeps the stored secret.
 */
import { field, items, problem, type FieldPath, type Problem } from '../rules/problem.ts';
import type { Destination, Webhook } from '../rules/schema.ts';
import { isSecretHeader, mapSecrets, secretsOf } from './secrets.ts';

export const secretMask = '********';

export function maskDestination(destination: Destination): Destination {
  return mapSecrets(destination, () => secretMask);
}

/**
 * `wanted` (any value) with each mask replaced by the stored secret. The value of a header is kept only for the same URL, so
 * that it is never sent to another receiver.
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
    else problems.push(problem(path, 'is the mask of a secret, and no secret is stored here; set a value'));
  }
  for (const { path, value, isSecret } of headersOf(copy)) {
    if (value !== secretMask || isSecret) continue;
    problems.push(
      problem(path, 'is the mask of a secret; add the header to secretHeaders, or set its value'),
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
