import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
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

describe('8.7 public keys', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const whpk = (bytes: Uint8Array): string => `whpk_${Buffer.from(bytes).toString('base64')}`;
  const key = whpk(Buffer.from(x, 'base64url'));
  const other = whpk(Buffer.alloc(32, 1));
  const body = '{"name":"Zoë"}';
  const now = Math.floor(Date.now() / 1_000);
  const headersAt = (time: number, id = 'd-1'): Record<string, string> => {
    const signature = sign(null, Buffer.from(`${id}.${time}.${body}`), privateKey).toString('base64');
    return {
      'webhook-id': id,
      'webhook-timestamp': String(time),
      'webhook-signature': `v1,AAAA v1a,? v1a,AAAA v1a,${signature}`,
    };
  };
  const headers = headersAt(now);

  test('verify what their destination has signed, as whpk_ and as JSON Web Keys', () => {
    for (const keys of [[key], [other, key], [{ x }], [{ kty: 'OKP', crv: 'Ed25519', x, kid: 'k' }]]) {
      assert.equal(verifySignature(keys, body, headers), true);
      assert.equal(verifySignature(keys, Buffer.from(body), headers), true);
      assert.equal(verifySignature(keys, new TextEncoder().encode(body), headers), true);
    }
  });

  test('agree with openssl', () => {
    const ofRfc8032 = 'whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';
    const signed = {
      'webhook-id': 'd-1',
      'webhook-timestamp': '1700000000',
      'webhook-signature':
        'v1a,LvH1TJxV9TfrpDe2W0SwBZaBTaW7FJocCYtp32CGkX01suKFqRaN5ZNQoi6LfEIBzhapXljEeSk2TOHrN3o0DQ==',
    };
    assert.equal(verifySignature([ofRfc8032], '{}', signed, { toleranceSeconds: Infinity }), true);
    assert.equal(verifySignature([ofRfc8032], '{}', signed), false);
  });

  test('refuse another body, key, id, time or algorithm, an old request, and headers that are missing or repeated', () => {
    const refused: [string, boolean][] = [
      ['body', verifySignature([key], `${body} `, headers)],
      ['key', verifySignature([other], body, headers)],
      ['id', verifySignature([key], body, { ...headers, 'webhook-id': 'd-2' })],
      ['time', verifySignature([key], body, { ...headers, 'webhook-timestamp': String(now - 60) })],
      ['no number', verifySignature([key], body, { ...headers, 'webhook-timestamp': '1e9' })],
      ['old', verifySignature([key], body, headersAt(now - 3_600))],
      ['an id with a dot', verifySignature([key], body, headersAt(now, 'd.1'))],
      [
        'algorithm',
        verifySignature([key], body, {
          ...headers,
          'webhook-signature': String(headers['webhook-signature']).replaceAll('v1a,', 'v1,'),
        }),
      ],
      ['none', verifySignature([key], body, {})],
      ['repeated', verifySignature([key], body, { ...headers, 'webhook-id': ['d-1', 'd-1'] })],
    ];
    for (const [name, isValid] of refused) assert.equal(isValid, false, name);
  });

  test('are needed, and have to be Ed25519 keys; as a secret they throw', () => {
    const wrong = [
      [],
      [''],
      ['whpk_AAAA'],
      ['s3cret'],
      [{ x: 'AAAA' }],
      [{ n: 'AAAA' } as unknown as { x: string }],
    ];
    for (const keys of wrong) {
      assert.throws(() => verifySignature(keys, body, headers), { code: 'invalid-options', field: 'keys' });
    }
    const forged = createHmac('sha1', key).update(body).digest('hex');
    assert.throws(() => verifySignature(key, body, forged), { code: 'invalid-options' });
  });
});
