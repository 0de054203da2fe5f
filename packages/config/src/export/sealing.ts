/**
 * Seals the content of an export with AES-256-GCM. The key is derived from the secret key of the installation (HKDF), or from
 * a passphrase (scrypt), which also opens the export where the secret key was lost. The header of the export is authenticated.
 */
import { hkdfSync, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { TailraceError } from '@tailrace/errors';
import { fingerprintOf, type SecretKeys } from '../secrets/encryption.ts';
import { seal as sealBytes, unseal } from '../secrets/sealed.ts';

/** The secrets that may seal or open an export. */
export interface SealSecrets {
  readonly keys: SecretKeys;
  readonly passphrase?: string | undefined;
}

/** How the key of an export is derived; a line of its header. */
export type Seal =
  | { readonly by: 'secret-key'; readonly fingerprint: string; readonly salt: Buffer }
  | { readonly by: 'passphrase'; readonly logN: number; readonly salt: Buffer };

const saltBytes = 16;
/** scrypt with N = 2^17 and r = 8 takes 128 MiB and about half a second. */
const logN = 17;
const blockSize = 8;
/** A file with a higher cost is refused: it would take more than a gigabyte. */
const highestLogN = 20;

/** @throws TailraceError `secret-key-missing` */
export function newSeal({ keys, passphrase }: SealSecrets): Seal {
  const salt = randomBytes(saltBytes);
  if (passphrase !== undefined) return { by: 'passphrase', logN, salt };
  if (keys.current) return { by: 'secret-key', fingerprint: fingerprintOf(keys.current), salt };
  throw new TailraceError(
    'secret-key-missing',
    'There is no key to seal the export with. Set TAILRACE_EXPORT_PASSPHRASE, or TAILRACE_SECRET_KEY to the key of the services.',
  );
}

/** The seal as text of one line. */
export function formatSeal(seal: Seal): string {
  const salt = seal.salt.toString('hex');
  return seal.by === 'secret-key'
    ? `secret-key ${seal.fingerprint} ${salt}`
    : `passphrase scrypt-${seal.logN} ${salt}`;
}

/** Undefined if the text is not a seal that this release can open. */
export function parseSeal(text: string): Seal | undefined {
  const [, fingerprint = '', keySalt] = /^secret-key ([0-9a-f]{8}) ([0-9a-f]{32})$/.exec(text) ?? [];
  if (keySalt !== undefined) return { by: 'secret-key', fingerprint, salt: Buffer.from(keySalt, 'hex') };
  const [, cost = '', salt] = /^passphrase scrypt-(\d{1,2}) ([0-9a-f]{32})$/.exec(text) ?? [];
  if (salt === undefined || Number(cost) < 1 || Number(cost) > highestLogN) return undefined;
  return { by: 'passphrase', logN: Number(cost), salt: Buffer.from(salt, 'hex') };
}

/** @param header is authenticated: an export with another header cannot be opened */
export async function sealContent(
  content: Buffer,
  header: string,
  seal: Seal,
  secrets: SealSecrets,
): Promise<Buffer> {
  return sealBytes(content, await keyOf(seal, secrets), header);
}

/** @throws TailraceError `invalid-export` if the key or passphrase is missing or is not the one of the export */
export async function openContent(
  sealed: Buffer,
  header: string,
  seal: Seal,
  secrets: SealSecrets,
): Promise<Buffer> {
  const content = unseal(sealed, await keyOf(seal, secrets), header);
  if (content) return content;
  throw new TailraceError(
    'invalid-export',
    seal.by === 'passphrase'
      ? 'The export cannot be opened: TAILRACE_EXPORT_PASSPHRASE is not its passphrase, or the file was changed.'
      : 'The export cannot be opened with its key: the file was changed. Use another copy of it.',
  );
}

async function keyOf(seal: Seal, { keys, passphrase }: SealSecrets): Promise<Buffer> {
  if (seal.by === 'secret-key') {
    const given = [keys.current, keys.previous].filter((key) => key !== undefined);
    const key = given.find((one) => fingerprintOf(one) === seal.fingerprint);
    if (!key) {
      const known = given.map(fingerprintOf).join(' and ') || 'none';
      throw new TailraceError(
        'invalid-export',
        `The export is sealed with the secret key ${seal.fingerprint}, and the given keys are ${known}. ` +
          'Set TAILRACE_SECRET_KEY to that key, or set TAILRACE_SECRET_KEY_PREVIOUS to it beside a new TAILRACE_SECRET_KEY.',
      );
    }
    return Buffer.from(hkdfSync('sha256', key, seal.salt, 'tailrace configuration export', 32));
  }
  if (passphrase === undefined) {
    const message = 'The export is sealed with a passphrase. Set TAILRACE_EXPORT_PASSPHRASE to it.';
    throw new TailraceError('invalid-export', message);
  }
  return derive(passphrase.normalize('NFC'), seal.salt, 32, {
    N: 2 ** seal.logN,
    r: blockSize,
    maxmem: 2 ** (seal.logN + 8) * blockSize,
  });
}

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
