/**
 * The session of the console: a sealed cookie, so that any instance can open what another one has sealed, and only sign-outs are
 * stored. It has the SHA-256 of the token and not the token. Each request looks the token up again, so the session ends with its token.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
import { seal, startOf, unseal, type SecretKeys } from '@tailrace/config';
import type { Log } from '@tailrace/service';

export interface Session {
  /** The SHA-256 of the token. */
  readonly digest: Buffer;
  /** The id in the token; undefined for a token of the settings. */
  readonly tokenId: string | undefined;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface OpenedSession extends Session {
  /** The random start of its seal. The text is no id: the same bytes can be written in several ways. */
  readonly id: string;
}

const keyBytes = 32;
/** A sealed session has less than 250 characters. */
const maxLength = 512;

export type SessionSeal = ReturnType<typeof createSessionSeal>;

/**
 * @param keys those of TAILRACE_SECRET_KEY. Without one, a key of this process is used: its sessions end with it, and other instances
 *   do not know them
 */
export function createSessionSeal(keys: SecretKeys, log: Pick<Log, 'warn'>) {
  const given = [keys.current, keys.previous].filter((key) => key !== undefined).map(derive);
  let ownKey: Buffer | undefined;
  const makeOwnKey = (): Buffer => {
    log.warn({}, 'TAILRACE_SECRET_KEY is not set: sessions of the console end with this process');
    ownKey = randomBytes(keyBytes);
    return ownKey;
  };
  return {
    seal({ digest, tokenId, expiresAt }: Session): string {
      const text = JSON.stringify([digest.toString('base64url'), tokenId ?? '', expiresAt]);
      return seal(text, given[0] ?? ownKey ?? makeOwnKey()).toString('base64url');
    },
    /** Undefined for a text that was changed, sealed with another key, or has expired. */
    open(text: string): OpenedSession | undefined {
      if (text.length > maxLength) return undefined;
      const bytes = Buffer.from(text, 'base64url');
      for (const key of given.length > 0 ? given : ownKey ? [ownKey] : []) {
        const session = openWith(key, bytes);
        if (session) return session.expiresAt > Date.now() ? session : undefined;
      }
      return undefined;
    },
  };
}

function derive(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'tailrace console session', keyBytes));
}

function openWith(key: Buffer, bytes: Buffer): OpenedSession | undefined {
  const text = unseal(bytes, key)?.toString();
  if (text === undefined) return undefined;
  const [digest, tokenId, expiresAt] = JSON.parse(text) as [string, string, number];
  return {
    id: startOf(bytes),
    digest: Buffer.from(digest, 'base64url'),
    tokenId: tokenId === '' ? undefined : tokenId,
    expiresAt,
  };
}
