/**
 * The Ed25519 keys of a destination, in the form of Standard Webhooks: a private key is `whsk_` and 64 bytes in base64, the seed and the
 * public key; a public key is `whpk_` and its 32 bytes.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import type { Destination } from '../rules/schema.ts';

const seedBytes = 32;
/** PKCS #8 (RFC 8410) up to the seed. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A public key as a JSON Web Key (RFC 8037). `kid` is its thumbprint (RFC 7638). */
interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly jwk: PublicJwk;
}

export function newSigningKey(): string {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const bytes = Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]);
  return `whsk_${bytes.toString('base64')}`;
}

/** Undefined where the text is not a private key with its own public key. */
export function readSigningKey(text: string): SigningKey | undefined {
  const bytes = Buffer.from(text.slice('whsk_'.length), 'base64');
  if (bytes.length !== 2 * seedBytes || text !== `whsk_${bytes.toString('base64')}`) return undefined;
  const der = Buffer.concat([pkcs8, bytes.subarray(0, seedBytes)]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const x = bytes.subarray(seedBytes).toString('base64url');
  if (createPublicKey(privateKey).export({ format: 'jwk' }).x !== x) return undefined;
  const kid = hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url');
  return { privateKey, jwk: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' } };
}

export function signingKeyProblem(text: string): string | undefined {
  if (readSigningKey(text)) return undefined;
  return 'is not whsk_ and an Ed25519 key pair of 64 bytes in base64; leave it out, and one is made';
}

/** `wanted` with the stored keys, or a new one, where it has `ed25519` and no key: nobody but the server knows them. */
export function withSigningKeys(wanted: Destination, stored: Destination | undefined): Destination {
  const { settings } = wanted;
  if (settings.ed25519 === undefined || settings.ed25519.key !== undefined) return wanted;
  const { key, ...previous } = stored?.settings.ed25519 ?? {};
  const ed25519 = key === undefined ? { key: newSigningKey() } : { key, ...previous };
  return { ...wanted, settings: { ...settings, ed25519 } };
}
