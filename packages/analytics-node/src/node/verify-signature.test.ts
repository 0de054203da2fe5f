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
