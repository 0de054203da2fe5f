/** Whose call is it: from the write key that a request carries to the source that has it. */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { ConfigView, Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';

/** The sources as the configuration has them. */
export interface SourceFinder {
  /** The enabled source of the first of `keys` that has one, as far as is known in this process. */
  known(keys: readonly string[]): Source | undefined;
  /**
   * The same, with the configuration read to its end before a key is refused.
   *
   * @throws TailraceError `unknown-write-key`; `kafka-unavailable` where a key is unknown and the configuration
   *   cannot be read
   */
  find(keys: readonly string[]): Promise<Source>;
}

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

/** The write key that the header Authorization has. */
export interface HeaderKey {
  readonly key: string;
  /**
   * Whether it alone counts. A Bearer token may be an OAuth token, which some SDKs send with the write key in the body;
   * beside Basic auth, the SDKs that send a write key in the body too send the same one.
   */
  readonly decides: boolean;
}

export function headerKeyOf({ authorization }: IncomingHttpHeaders): HeaderKey | undefined {
  const [, scheme = '', credentials = ''] = /^(basic|bearer) +(\S+) *$/i.exec(authorization ?? '') ?? [];
  const decides = scheme.toLowerCase() === 'basic';
  // The user name; a password, and the colon before it, may be there or not.
  const key = decides ? Buffer.from(credentials, 'base64').toString('utf8').split(':', 1)[0] : credentials;
  return key === undefined || key === '' ? undefined : { key, decides };
}

/** The write keys of a request, in the order in which they count. */
export function writeKeysOf(headerKey: HeaderKey | undefined, body: unknown): string[] {
  const keys: string[] = [];
  if (headerKey) keys.push(headerKey.key);
  const fromBody =
    typeof body === 'object' && body !== null && 'writeKey' in body ? body.writeKey : undefined;
  if (typeof fromBody === 'string' && fromBody !== '') keys.push(fromBody);
  return keys;
}
