/**
 * The rules for certificates and keys. They are checked when the configuration is written, because an invalid key would
 * fail every attempt later. No rule depends on the time: an entry must stay readable when its certificate expires.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

const maxCertificatesLength = 65_536;
const maxKeyLength = 16_384;

/** Why `text` is not a list of certificates in PEM, as a clause; undefined if it is valid. */
export function certificatesProblem(text: string): string | undefined {
  if (text.length > maxCertificatesLength) return `is longer than ${maxCertificatesLength} characters`;
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const begun = text.match(/-----BEGIN /g)?.length ?? 0;
  if (begun === 0) return 'contains no certificate; use PEM, which begins with -----BEGIN CERTIFICATE-----';
  if (begun !== blocks.length)
    return 'contains text other than certificates, or a certificate without its last line';
  const broken = blocks.findIndex((block) => !canBeRead(() => new X509Certificate(block)));
  return broken === -1 ? undefined : `contains a certificate that cannot be read, number ${broken + 1}`;
}

/** Why `text` is not a private key in PEM, as a clause; undefined if it is valid. */
export function privateKeyProblem(text: string): string | undefined {
  if (text.length > maxKeyLength) return `is longer than ${maxKeyLength} characters`;
  if (/BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(text)) {
    return 'is encrypted; use a key without a passphrase';
  }
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    return 'contains no private key; use PEM, which begins with -----BEGIN PRIVATE KEY-----';
  }
  return canBeRead(() => createPrivateKey(text)) ? undefined : 'contains a private key that cannot be read';
}

/** Why a valid certificate and a valid key cannot be used together, as a clause; undefined if they can. */
export function keyPairProblem(certificates: string, key: string): string | undefined {
  if (!new X509Certificate(certificates).checkPrivateKey(createPrivateKey(key))) {
    return 'is not the key of the first certificate in clientCertificate';
  }
  try {
    createSecureContext({ cert: certificates, key });
    return undefined;
  } catch (error) {
    // The reason as OpenSSL words it, such as "ee key too small".
    const { reason = 'OpenSSL rejects it' } = error as { reason?: string };
    return `cannot be used for TLS with clientCertificate: ${reason}`;
  }
}

function canBeRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
