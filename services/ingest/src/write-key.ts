/** Whose call is it: from the write key that a request carries to the source that has it. */
import { setTimeout as wait } from 'node:timers/promises';
import type { ConfigView, Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';

/**
 * The enabled source of the first of `keys` that has one.
 *
 * @throws TailraceError `unknown-write-key`; `kafka-unavailable` where a key is unknown and the configuration
 *   cannot be read
 */
export type SourceFinder = (keys: readonly string[]) => Promise<Source>;

/** How long an answer to "does the configuration hold more than we know?" is good for. */
const refreshIntervalMs = 1_000;
/** A sender waits no longer than this where Kafka goes away in the middle of it. */
const refreshTimeoutMs = 5_000;

/**
 * A key that is not known may be news that has not come here yet, so the configuration is read to its present
 * end before it is refused: at most once in a second, whoever asks, so that junk keys cause no load.
 */
export function createSourceFinder(
  config: Pick<ConfigView, 'sourceByWriteKey' | 'refresh'>,
  now: () => number = () => performance.now(),
): SourceFinder {
  let last: { readonly startedAt: number; readonly refreshed: Promise<void> } | undefined;

  const refresh = async (): Promise<void> => {
    const outcome = await Promise.race([
      config.refresh(),
      wait(refreshTimeoutMs, 'late' as const, { ref: false }),
    ]);
    if (outcome === 'late') throw new TailraceError('kafka-unavailable');
  };
  const known = (keys: readonly string[]): Source | undefined => {
    for (const key of keys) {
      const source = config.sourceByWriteKey(key);
      if (source?.enabled) return source;
    }
    return undefined;
  };

  return async (keys) => {
    const source = known(keys);
    if (source) return source;
    if (keys.length > 0) {
      if (!last || now() - last.startedAt >= refreshIntervalMs) {
        last = { startedAt: now(), refreshed: refresh() };
      }
      await last.refreshed;
      const found = known(keys);
      if (found) return found;
    }
    throw new TailraceError('unknown-write-key', keys.length === 0 ? noKey : undefined);
  };
}

const noKey =
  'The request has no write key. Send it as the user name of HTTP Basic auth, as a Bearer token, or as ' +
  '`writeKey` in the body.';

/**
 * The write keys of a request, in the order in which they count. A Bearer token may be an OAuth token, which
 * some SDKs send with the key in the body, so each is only a candidate.
 */
export function writeKeysOf(authorization: string | undefined, body: unknown): string[] {
  const keys: string[] = [];
  const fromHeader = authorization === undefined ? undefined : keyOfHeader(authorization);
  if (fromHeader) keys.push(fromHeader);
  const fromBody =
    typeof body === 'object' && body !== null && 'writeKey' in body ? body.writeKey : undefined;
  if (typeof fromBody === 'string' && fromBody !== '') keys.push(fromBody);
  return keys;
}

function keyOfHeader(authorization: string): string | undefined {
  const [, scheme = '', credentials = ''] = /^(basic|bearer) +(\S+) *$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'basic') return credentials;
  // The user name; a password, and the colon before it, may be there or not.
  return Buffer.from(credentials, 'base64').toString('utf8').split(':', 1)[0];
}
