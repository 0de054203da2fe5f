import assert from 'node:assert/strict';
import { createHmac, createPrivateKey, verify, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sign, signEd25519, signStandardWebhook, signWith, verifySignature } from './index.ts';

interface Vector {
  name: string;
  secret: string;
  body: string;
  /** How often `body` is repeated. Default 1. */
  repeat?: number;
  /** The output of openssl. */
  signature: string;
}
const vectors = read('vectors.json') as Vector[];

interface StandardWebhookVector {
  name: string;
  secret: string;
  id: string;
  timestamp: number;
  body: string;
  /** The output of openssl, after the version. */
  signature: string;
}
const standardWebhookVectors = read('standard-webhook-vectors.json') as StandardWebhookVector[];

function read(file: string): unknown {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
}

describe('sign agrees with openssl', () => {
  for (const { name, secret, body, repeat = 1, signature } of vectors) {
    test(name, () => {
      const whole = body.repeat(repeat);
      assert.equal(sign(secret, whole), signature);
      assert.equal(sign(secret, Buffer.from(whole)), signature);
    });
  }
});

describe('verifySignature', () => {
  const secret = 's3cret';
  const body = Buffer.from('{"name":"Zoë"}');
  const signature = sign(secret, body);

  test('accepts the output of sign, for any secret and body', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.uint8Array(), (anySecret, bytes) => {
        const anyBody = Buffer.from(bytes);
        assert.equal(verifySignature(anySecret, anyBody, sign(anySecret, anyBody)), true);
      }),
    );
  });

  test('refuses a signature with one changed digit', () => {
    for (let i = 0; i < signature.length; i++) {
      const digit = signature[i] === '0' ? '1' : '0';
      const changed = signature.slice(0, i) + digit + signature.slice(i + 1);
      assert.equal(verifySignature(secret, body, changed), false, `digit ${i}`);
    }
  });

  test('refuses another secret, and another body', () => {
    assert.equal(verifySignature('s3cret2', body, signature), false);
    assert.equal(verifySignature(secret, Buffer.from('{"name":"Zoe"}'), signature), false);
  });

  test('refuses a header that is missing, empty, truncated, too long, or not hex', () => {
    const headers = [
      undefined,
      null,
      '',
      signature.slice(0, 39),
      `${signature}0`,
      ` ${signature}`,
      'z'.repeat(40),
    ];
    for (const header of headers) assert.equal(verifySignature(secret, body, header), false, String(header));
  });

  test('refuses uppercase hex, because the header is lowercase', () => {
    assert.equal(verifySignature(secret, body, signature.toUpperCase()), false);
  });

  test('refuses characters that match only when truncated to one byte', () => {
    const widened = String.fromCharCode(...Array.from(signature, (digit) => digit.charCodeAt(0) + 0x100));
    assert.equal(verifySignature(secret, body, widened), false);
  });
});

describe('an empty secret', () => {
  const body = '{}';
  const signedWithNothing = createHmac('sha1', '').update(body).digest('hex');
  // As in JavaScript code that reads a missing setting.
  const missing = undefined as unknown as string;

  test('8.5 makes verifySignature throw, for any header', () => {
    for (const header of [signedWithNothing, sign('s3cret', body), '', undefined, null]) {
      assert.throws(() => verifySignature('', body, header), /^TypeError: The secret is empty/);
      assert.throws(() => verifySignature(missing, body, header), /^TypeError: The secret is empty/);
    }
  });

  test('makes sign throw too', () => {
    assert.throws(() => sign('', body), /^TypeError: The secret is empty/);
    const message = { id: 'd-1', timestamp: 1_700_000_000, body };
    for (const secrets of [[''], ['whsec_'], ['whsec_===='], ['newer', '']]) {
      assert.throws(() => signStandardWebhook(secrets, message), /^TypeError: The secret is empty/);
    }
    assert.throws(() => signStandardWebhook([], message), /^TypeError: There is no secret/);
  });
});

describe('signStandardWebhook agrees with openssl', () => {
  for (const { name, secret, signature, ...message } of standardWebhookVectors) {
    test(name, () => {
      assert.equal(signStandardWebhook([secret], message), signature);
      const body = Buffer.from(message.body);
      assert.equal(signStandardWebhook([secret], { ...message, body }), signature);
    });
  }

  test('for several secrets, in their order', () => {
    const message = { id: 'd-1', timestamp: 1_700_000_000, body: '{}' };
    assert.equal(
      signStandardWebhook(['newer', 'older'], message),
      `${signStandardWebhook(['newer'], message)} ${signStandardWebhook(['older'], message)}`,
    );
  });
});

test('8.7 signEd25519 has a signature for each key, and agrees with openssl', () => {
  // The key of the first test of RFC 8032; openssl pkeyutl -sign -rawin -inkey key.pem -in message | base64
  const der =
    '302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
  const key = createPrivateKey({ key: Buffer.from(der, 'hex'), format: 'der', type: 'pkcs8' });
  const other = generateKeyPairSync('ed25519').privateKey;
  for (const body of ['{}', Buffer.from('{}')]) {
    const message = { id: 'd-1', timestamp: 1_700_000_000, body };
    const [first, second = '', ...none] = signEd25519([key, other], message);
    assert.equal(
      first,
      'v1a,LvH1TJxV9TfrpDe2W0SwBZaBTaW7FJocCYtp32CGkX01suKFqRaN5ZNQoi6LfEIBzhapXljEeSk2TOHrN3o0DQ==',
    );
    const signature = Buffer.from(second.replace('v1a,', ''), 'base64');
    assert.ok(verify(null, Buffer.from('d-1.1700000000.{}'), createPublicKey(other), signature));
    assert.deepEqual([none, signEd25519([], message)], [[], []]);
  }
});

test('8.6 signWith writes prefix, encoding and timestamp, and agrees with openssl', () => {
  const message = { timestamp: 1_700_000_000, body: '{}' };
  const sha256 = 'adbde1ce40c89c14215687d5d762a47df6dfaefcfad61e2e86718ffc8498571b';
  assert.equal(signWith({}, ['s3cret'], message), sign('s3cret', '{}'));
  const github = { algorithm: 'hmac-sha256', prefix: 'sha256=' } as const;
  assert.equal(signWith(github, ['s3cret', 'older'], message), `sha256=${sha256}`);
  const shopify = { algorithm: 'hmac-sha256', encoding: 'base64' } as const;
  assert.equal(signWith(shopify, ['s3cret'], message), Buffer.from(sha256, 'hex').toString('base64'));
  const timed = `v1=97926816e98fbb41ccb1673225ff29a2f35369099990e1b1561651e7bd097ebf`;
  const stripe = { algorithm: 'hmac-sha256', timestamp: true } as const;
  assert.equal(signWith(stripe, ['s3cret'], message), `t=1700000000,${timed}`);
  assert.match(
    signWith(stripe, ['s3cret', 'older'], message),
    new RegExp(`^t=1700000000,${timed},v1=[0-9a-f]{64}$`),
  );
  assert.throws(() => signWith(stripe, [], message), /^TypeError: There is no secret/);
  assert.throws(() => signWith(github, [''], message), /^TypeError: The secret is empty/);
});
