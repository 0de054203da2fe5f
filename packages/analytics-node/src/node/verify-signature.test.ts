import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { verifySignature } from './verify-signature.ts';

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly body: string;
  readonly repeat?: number;
  readonly signature: string;
}

// Made with openssl, for packages/signing.
const vectors = JSON.parse(
  readFileSync(new URL('../../../signing/src/vectors.json', import.meta.url), 'utf8'),
) as readonly Vector[];

describe('verifySignature accepts signatures of openssl, and no others', () => {
  for (const { name, secret, body, repeat = 1, signature } of vectors) {
    test(name, () => {
      const text = body.repeat(repeat);
      assert.equal(verifySignature(secret, text, signature), true);
      assert.equal(verifySignature(secret, Buffer.from(text), signature), true);
      assert.equal(verifySignature(secret, new TextEncoder().encode(text), signature), true);
      assert.equal(verifySignature(`${secret}2`, text, signature), false);
      assert.equal(verifySignature(secret, `${text} `, signature), false);
    });
  }
});

test('a header that is not a signature is refused', () => {
  const [vector] = vectors;
  assert.ok(vector);
  const { secret, body, repeat = 1, signature } = vector;
  const widened = String.fromCharCode(...Array.from(signature, (digit) => digit.charCodeAt(0) + 0x100));
  const headers = [
    undefined,
    null,
    '',
    'z'.repeat(40),
    widened,
    [signature],
    [signature, signature],
    signature.toUpperCase(),
    signature.slice(1),
    `${signature}0`,
    ` ${signature}`,
  ];
  for (const header of headers) {
    assert.equal(verifySignature(secret, body.repeat(repeat), header), false, String(header));
  }
});

test('8.5 an empty or missing secret throws', () => {
  const forged = createHmac('sha1', '').update('{}').digest('hex');
  const missing = undefined as unknown as string;
  for (const header of [forged, undefined, '']) {
    for (const secret of ['', missing]) {
      assert.throws(() => verifySignature(secret, '{}', header), {
        name: 'AnalyticsError',
        code: 'invalid-options',
        field: 'secret',
      });
    }
  }
});

// printf '{}' | openssl dgst -sha256 -hmac s3cret, with -binary | base64, and of 1700000000.{}
const sha256 = 'adbde1ce40c89c14215687d5d762a47df6dfaefcfad61e2e86718ffc8498571b';
const timed = '97926816e98fbb41ccb1673225ff29a2f35369099990e1b1561651e7bd097ebf';

test('8.6 a scheme verifies what it describes, and nothing else', () => {
  const github = { algorithm: 'hmac-sha256', prefix: 'sha256=' } as const;
  const shopify = { algorithm: 'hmac-sha256', encoding: 'base64' } as const;
  const base64 = Buffer.from(sha256, 'hex').toString('base64');
  assert.equal(verifySignature('s3cret', '{}', `sha256=${sha256}`, github), true);
  assert.equal(verifySignature('s3cret', '{}', sha256, github), false);
  assert.equal(verifySignature('s3cret', '{}', base64, shopify), true);
  assert.equal(verifySignature('s3cret', '{}', sha256, shopify), false);
  assert.throws(() => verifySignature('', '{}', base64, shopify), { code: 'invalid-options' });
});

test('8.6 a scheme with a timestamp accepts one of several signatures, near its time', () => {
  const stripe = { algorithm: 'hmac-sha256', timestamp: true } as const;
  const header = `t=1700000000,v1=00,v1=${timed}`;
  const anyTime = { ...stripe, toleranceSeconds: Infinity };
  assert.equal(verifySignature('s3cret', '{}', header, anyTime), true);
  for (const other of [
    header.replace('t=1', 't=2'),
    header.replace('1700000000', '1e9'),
    `v1=${timed}`,
    't=1700000000',
    '',
  ]) {
    assert.equal(verifySignature('s3cret', '{}', other, anyTime), false, other);
  }
  assert.equal(verifySignature('s3cret', '{}', header, stripe), false);
  const now = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', 's3cret').update(`${now}.{}`).digest('hex');
  assert.equal(verifySignature('s3cret', '{}', `t=${now},v1=${signature}`, stripe), true);
});
