/** Certificates and private keys in PEM, given as text or as the path of a file. Messages never contain a private key. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { TailraceError } from '@tailrace/errors';
import Type from 'typebox';
import { readBounded } from './bounded-file.ts';

/** The certificates that a system trusts take about 250 KB. */
const maxBytes = 2 * 1024 * 1024;

/** @param name the variable, for messages */
function readPem(name: string, what: string, isPem: (text: string) => boolean, pemOrPath: string): string {
  if (isPem(pemOrPath)) return pemOrPath;
  // Text with several lines is no path, and could be a key.
  const found = pemOrPath.includes('\n') ? undefined : readText(pemOrPath);
  if (found === undefined || 'code' in found) {
    const reason = found === undefined ? '' : `: ${found.code}`;
    throw invalid(`${name}: neither ${what} in PEM nor a readable file${reason}`);
  }
  if (!isPem(found.text)) throw invalid(`${name}: the file contains no ${what.replace(/^an? /, '')} in PEM`);
  return found.text;
}

function readText(path: string): { text: string } | { code: string } {
  try {
    return { text: readBounded(path, maxBytes).toString() };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code ?? 'unknown error' };
  }
}

interface Options {
  readonly env: string;
  readonly description: string;
}

/** One or more certificates. */
export function certificates(options: Options) {
  const text = Type.String({ form: 'a file, or a certificate in PEM', ...options });
  const isPem = (content: string): boolean => content.includes('-----BEGIN CERTIFICATE-----');
  return Type.Decode(text, (pemOrPath) => readPem(options.env, 'a certificate', isPem, pemOrPath));
}

/** A private key, encrypted or not. */
export function privateKey(options: Options) {
  const text = Type.String({ form: 'a file, or a private key in PEM', writeOnly: true, ...options });
  const isPem = (content: string): boolean => /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(content);
  return Type.Decode(text, (pemOrPath) => readPem(options.env, 'a private key', isPem, pemOrPath));
}

/** Why a TLS client cannot use the certificate with the key, as a problem of KAFKA_SSL_CERT or KAFKA_SSL_KEY. */
export function problemOfPair(cert: string, key: string, passphrase: string | undefined): string | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch {
    return 'KAFKA_SSL_CERT: the certificate cannot be read. Export it again in PEM.';
  }
  try {
    const opened = createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) });
    if (certificate.checkPrivateKey(opened)) return undefined;
    return 'KAFKA_SSL_KEY: belongs to another certificate than KAFKA_SSL_CERT. In KAFKA_SSL_CERT, the certificate of the key must be first.';
  } catch {
    if (!key.includes('ENCRYPTED')) return 'KAFKA_SSL_KEY: the key cannot be read. Export it again in PEM.';
    return passphrase === undefined
      ? 'KAFKA_SSL_KEY_PASSWORD: not set, but the key in KAFKA_SSL_KEY is encrypted.'
      : 'KAFKA_SSL_KEY_PASSWORD: does not decrypt the key in KAFKA_SSL_KEY.';
  }
}

function invalid(problem: string): TailraceError {
  return new TailraceError('invalid-settings', problem);
}
