/**
 * What certificates and keys may be. All of it is found out when the configuration is written, because at a
 * delivery it would be one failed attempt after the other. Nothing here depends on the time: a certificate that
 * expires must not make an entry unreadable.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

const maxCertificatesLength = 65_536;
const maxKeyLength = 16_384;

/** Why `text` is not one or more certificates in PEM, as a clause; undefined where it is. */
export function refuseCertificates(text: string): string | undefined {
  if (text.length > maxCertificatesLength) return `is longer than ${maxCertificatesLength} characters`;
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const begun = text.match(/-----BEGIN /g)?.length ?? 0;
  if (begun === 0)
    return 'holds no certificate; write it as PEM, which begins with -----BEGIN CERTIFICATE-----';
  if (begun !== blocks.length) return 'holds something else than certificates, or one without its last line';
  const broken = blocks.findIndex((block) => !canBeRead(() => new X509Certificate(block)));
  return broken === -1 ? undefined : `holds a certificate that cannot be read, number ${broken + 1}`;
}

/** Why `text` is not a private key in PEM, as a clause; undefined where it is. */
export function refusePrivateKey(text: string): string | undefined {
  if (text.length > maxKeyLength) return `is longer than ${maxKeyLength} characters`;
  if (/BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(text)) {
    return 'is encrypted; write it without a passphrase';
  }
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    return 'holds no private key; write it as PEM, which begins with -----BEGIN PRIVATE KEY-----';
  }
  return canBeRead(() => createPrivateKey(text)) ? undefined : 'holds a private key that cannot be read';
}

/** Why this certificate and this key, each readable by itself, cannot be used together; undefined where they can. */
export function refuseKeyPair(certificates: string, key: string): string | undefined {
  if (!new X509Certificate(certificates).checkPrivateKey(createPrivateKey(key))) {
    return 'is not the key of the first certificate in clientCertificate';
  }
  try {
    createSecureContext({ cert: certificates, key });
    return undefined;
  } catch (error) {
    // OpenSSL's own word for it, such as "ee key too small".
    const { reason = 'OpenSSL refuses it' } = error as { reason?: string };
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
