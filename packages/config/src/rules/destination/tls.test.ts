import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { certificatesProblem, keyPairProblem, privateKeyProblem } from './tls.ts';

/** PEM; made for these tests and used nowhere else. */
const pem = JSON.parse(readFileSync(new URL('tls.fixtures.json', import.meta.url), 'utf8')) as Readonly<
  Record<
    | 'authority'
    | 'expiredCertificate'
    | 'expiredCertificateKey'
    | 'encryptedKey'
    | 'otherKey'
    | 'weakCertificate'
    | 'weakCertificateKey',
    string
  >
>;

test('certificates are one or more in PEM, with any text between them', () => {
  for (const text of [
    pem.authority,
    pem.authority.trim(),
    pem.authority.replaceAll('\n', '\r\n'),
    `${pem.expiredCertificate}${pem.authority}`,
    `# the chain\n${pem.expiredCertificate}\n# its authority\n${pem.authority}`,
  ]) {
    assert.equal(certificatesProblem(text), undefined);
  }
});

test('text that is no certificate is refused with the reason', () => {
  const cases: [text: string, reason: RegExp][] = [
    ['', /contains no certificate/],
    ['/etc/ssl/ca.pem', /contains no certificate/],
    [pem.otherKey, /text other than certificates/],
    [`${pem.authority}${pem.otherKey}`, /text other than certificates/],
    [pem.authority.replace(/-----END.*/s, ''), /without its last line/],
    [`${pem.authority}${pem.authority.slice(0, 300)}`, /without its last line/],
    [`${pem.authority}${pem.authority.replace(/\n.{40}/, '\n')}`, /cannot be read, number 2/],
    [pem.authority.repeat(100), /longer than 65536/],
  ];
  for (const [text, reason] of cases) assert.match(certificatesProblem(text) ?? 'accepted', reason);
});

test('a private key is one in PEM, of any kind and without a passphrase', () => {
  assert.equal(privateKeyProblem(pem.expiredCertificateKey), undefined);
  assert.equal(privateKeyProblem(pem.otherKey), undefined);
  const cases: [text: string, reason: RegExp][] = [
    ['', /contains no private key/],
    [pem.authority, /contains no private key/],
    [pem.encryptedKey, /encrypted/],
    [pem.otherKey.replace(/\n.{40}/, '\n'), /cannot be read/],
    [pem.otherKey.repeat(100), /longer than 16384/],
  ];
  for (const [text, reason] of cases) assert.match(privateKeyProblem(text) ?? 'accepted', reason);
});

test('a key goes with the first certificate, whether or not that has expired', () => {
  const { authority, expiredCertificate, expiredCertificateKey, otherKey } = pem;
  assert.equal(keyPairProblem(expiredCertificate, expiredCertificateKey), undefined);
  assert.equal(keyPairProblem(expiredCertificate + authority, expiredCertificateKey), undefined);
  assert.match(keyPairProblem(expiredCertificate, otherKey) ?? '', /not the key of the first certificate/);
  assert.match(
    keyPairProblem(authority + expiredCertificate, expiredCertificateKey) ?? '',
    /not the key of the first certificate/,
  );
});

test('a pair that TLS would not take is refused with the reason', () => {
  assert.match(
    keyPairProblem(pem.weakCertificate, pem.weakCertificateKey) ?? '',
    /cannot be used for TLS.*too small/,
  );
});
