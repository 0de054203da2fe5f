/** The secrets of a notification: the URL of a webhook, which usually contains a token, its routing key, and the password of email. */
import { field, problem, type FieldPath, type Problem } from '../rules/problem.ts';
import type { Notification } from '../rules/notification/schema.ts';
import { isEncrypted, type SecretKeys } from './encryption.ts';
import { secretMask } from './mask-text.ts';
import { decryptAll, encryptAll, secretAt, type Decrypted, type Secret } from './secrets.ts';

const places = [
  ['webhook', 'url'],
  ['webhook', 'routingKey'],
  ['email', 'password'],
] as const;

/** Of a value that may be a notification. `replace` changes that value. */
export function* notificationSecretsOf(notification: unknown): Generator<Secret> {
  for (const path of places) {
    const [channel, key] = path;
    yield* secretAt(field(notification, channel), key, path);
  }
}

/** A copy with `text` in the place of each secret; of a URL, its origin stays. */
export function withoutNotificationSecrets(notification: Notification, text: string): Notification {
  const copy = structuredClone(notification);
  for (const { path, value, replace } of notificationSecretsOf(copy)) {
    replace(path.at(-1) === 'url' ? `${URL.parse(value)?.origin ?? 'https://'}/${text}` : text);
  }
  return copy;
}

/** `notification` with encrypted secrets; unchanged without a key. */
export function encryptNotification(notification: Notification, key: Buffer | undefined): Notification {
  if (!key) return notification;
  const copy = structuredClone(notification);
  encryptAll(notificationSecretsOf(copy), `notification/${notification.id}`, key);
  return copy;
}

/** Decrypts the secrets in the content of a record. Without `keys`, valid placeholders replace encrypted secrets. */
export function decryptNotification(content: unknown, id: string, keys: SecretKeys | undefined): Decrypted {
  const queries = 'none';
  if (keys)
    return { content, queries, ...decryptAll(notificationSecretsOf(content), `notification/${id}`, keys) };
  for (const { path, value, replace } of notificationSecretsOf(content)) {
    if (isEncrypted(value)) replace(path.at(-1) === 'url' ? 'https://sealed.invalid/' : 'sealed');
  }
  return { content, queries, stale: false };
}

export function maskNotification(notification: Notification): Notification {
  return withoutNotificationSecrets(notification, secretMask);
}

/**
 * `wanted` (any value) with each mask replaced by the stored secret. A routing key is kept only for the same URL, and a password only for
 * the same server, so that neither is sent to another one.
 */
export function unmaskNotification(
  wanted: unknown,
  stored: Notification | undefined,
): { readonly value: unknown } | { readonly problems: readonly Problem[] } {
  const copy = structuredClone(wanted);
  const masked = stored && maskNotification(stored);
  const problems: Problem[] = [];
  for (const { path, value, replace } of notificationSecretsOf(copy)) {
    if (!value.includes(secretMask)) continue;
    const [channel, beside] = path[0] === 'email' ? ['email', 'server'] : ['webhook', 'url'];
    const isSame = (one: unknown): boolean => at(one, path) === value;
    const staysThere = at(copy, [channel, beside]) === at(stored, [channel, beside]) || path.at(-1) === 'url';
    const kept = at(stored, path);
    if (isSame(masked) && staysThere && typeof kept === 'string') replace(kept);
    else problems.push(problem(path, 'is the mask of a secret, and no secret is stored here; set a value'));
  }
  return problems.length === 0 ? { value: copy } : { problems };
}

function at(value: unknown, path: FieldPath): unknown {
  return path.reduce((part, step) => field(part, String(step)), value);
}
