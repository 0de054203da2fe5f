/** Finds the source of a request by its write key. */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { ConfigView, Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';

/** Finds sources in the configuration. */
export interface SourceFinder {
  /** The enabled source of the first of `keys` that has one, from the configuration in this process. */
  known(keys: readonly string[]): Source | undefined;
  /**
   * The same, but reads the configuration to its end before it refuses a key.
   *
   * @throws TailraceError `unknown-write-key`; `kafka-unavailable` where a key is unknown and the configuration
   *   cannot be read
   */
  find(keys: readonly string[]): Promise<Source>;
}

/** The minimum interval between refreshes of the configuration. */
const refreshIntervalMs = 1_000;
/** The longest wait of a sender where Kafka becomes unavailable during a refresh. */
const refreshTimeoutMs = 5_000;

/**
 * An unknown key may be in an update that this process has not read yet. So the configuration is read to its
 * current end before the key is refused, at most once a second, so that junk keys cause no load.
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

  return {
    known,
    async find(keys) {
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
    },
  };
}

const noKey =
  'The request has no write key. Send it as the user name of HTTP Basic auth, as a Bearer token, or as ' +
  '`writeKey` in the body.';

/** The write key in the header Authorization. */
export interface HeaderKey {
  readonly key: string;
  /**
   * Whether only this key counts. A Bearer token may be an OAuth token, which some SDKs send with the write key in
   * the body. SDKs that use Basic auth send the same key in the body, if any.
   */
  readonly decides: boolean;
}

export function headerKeyOf({ authorization }: IncomingHttpHeaders): HeaderKey | undefined {
  const [, scheme = '', credentials = ''] = /^(basic|bearer) +(\S+) *$/i.exec(authorization ?? '') ?? [];
  const decides = scheme.toLowerCase() === 'basic';
  // The key is the user name. The colon and a password are optional.
  const key = decides ? Buffer.from(credentials, 'base64').toString('utf8').split(':', 1)[0] : credentials;
  return key === undefined || key === '' ? undefined : { key, decides };
}

/** The write keys of a request, by priority. */
export function writeKeysOf(headerKey: HeaderKey | undefined, body: unknown): string[] {
  const keys: string[] = [];
  if (headerKey) keys.push(headerKey.key);
  const fromBody =
    typeof body === 'object' && body !== null && 'writeKey' in body ? body.writeKey : undefined;
  if (typeof fromBody === 'string' && fromBody !== '') keys.push(fromBody);
  return keys;
}
