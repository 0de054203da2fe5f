/**
 * Certificates for HTTPS receivers: one authority for the process, certificates it signs, and certificates that must not
 * be trusted. Keys come from node:crypto, because node-forge generates them slowly in JavaScript.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import forge from 'node-forge';

/** PEM, as node:https takes it. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface Certificates {
  /** PEM of the authority, for NODE_EXTRA_CA_CERTS. */
  readonly authority: string;
  /** Signed by the authority, for localhost and 127.0.0.1. */
  readonly trusted: Certificate;
  readonly selfSigned: Certificate;
  /** Signed by the authority; expired yesterday. */
  readonly expired: Certificate;
  /** Signed by the authority, for another host. */
  readonly misnamed: Certificate;
  /** Signed by an unknown authority. */
  readonly unknownAuthority: Certificate;
  /** PEM of the unknown authority, for tests that make it known. */
  readonly stranger: string;
  /** A client certificate, signed by the authority; its subject is `tailrace`. */
  readonly client: Certificate;
}

interface Keys {
  readonly pem: string;
  readonly privateKey: forge.pki.rsa.PrivateKey;
  readonly publicKey: forge.pki.rsa.PublicKey;
}

const dayMs = 86_400_000;
const loopback = [
  { type: 2, value: 'localhost' },
  { type: 7, ip: '127.0.0.1' },
];

let made: Certificates | undefined;

/** Every call in one process returns the same certificates. */
export function certificates(): Certificates {
  made ??= make();
  return made;
}

function make(): Certificates {
  const authorityKeys = makeKeys();
  const strangerKeys = makeKeys();
  const keys = makeKeys();
  const leaf = (signer: Keys, issuer: string, options: Partial<Leaf> = {}): Certificate => ({
    key: keys.pem,
    cert: issue({ subject: 'localhost', names: loopback, keys, issuer, signer, ...options }),
  });
  return {
    authority: issueAuthority('Tailrace test authority', authorityKeys),
    trusted: leaf(authorityKeys, 'Tailrace test authority'),
    selfSigned: leaf(keys, 'localhost'),
    expired: leaf(authorityKeys, 'Tailrace test authority', { notAfter: new Date(Date.now() - dayMs) }),
    misnamed: leaf(authorityKeys, 'Tailrace test authority', {
      subject: 'elsewhere.example',
      names: [{ type: 2, value: 'elsewhere.example' }],
    }),
    unknownAuthority: leaf(strangerKeys, 'Unknown authority'),
    stranger: issueAuthority('Unknown authority', strangerKeys),
    client: leaf(authorityKeys, 'Tailrace test authority', { subject: 'tailrace', purpose: 'clientAuth' }),
  };
}

function makeKeys(): Keys {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return {
    pem: privateKey,
    privateKey: forge.pki.privateKeyFromPem(privateKey),
    publicKey: forge.pki.publicKeyFromPem(publicKey),
  };
}

interface Leaf {
  readonly subject: string;
  readonly names: readonly object[];
  readonly keys: Keys;
  readonly issuer: string;
  readonly signer: Keys;
  readonly notAfter?: Date;
  readonly purpose?: 'serverAuth' | 'clientAuth';
}

function issueAuthority(name: string, keys: Keys): string {
  return sign(name, keys, name, keys, new Date(Date.now() + 30 * dayMs), [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ]);
}

function issue({ subject, names, keys, issuer, signer, notAfter, purpose = 'serverAuth' }: Leaf): string {
  return sign(subject, keys, issuer, signer, notAfter ?? new Date(Date.now() + 30 * dayMs), [
    { name: 'basicConstraints', cA: false },
    { name: 'extKeyUsage', [purpose]: true },
    { name: 'subjectAltName', altNames: names },
  ]);
}

function sign(
  subject: string,
  keys: Keys,
  issuer: string,
  signer: Keys,
  notAfter: Date,
  extensions: object[],
): string {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = keys.publicKey;
  // X.509 requires a positive number; OpenSSL refuses leading zeros.
  certificate.serialNumber = `01${randomBytes(15).toString('hex')}`;
  certificate.validity.notBefore = new Date(Date.now() - 10 * dayMs);
  certificate.validity.notAfter = notAfter;
  certificate.setSubject([{ name: 'commonName', value: subject }]);
  certificate.setIssuer([{ name: 'commonName', value: issuer }]);
  certificate.setExtensions(extensions);
  certificate.sign(signer.privateKey, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}
