import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import fc from 'fast-check';
import { decrypt, encrypt, fingerprintOf, isEncrypted, isEncryptedWith } from './encryption.ts';

const current = randomBytes(32);
const previous = randomBytes(32);
const place = 'destination/crm settings.sharedSecret';

test('an encrypted secret is decrypted with its key in its place, and does not contain the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.boolean(), (text, isPrevious) => {
      const key = isPrevious ? previous : current;
      const sealed = encrypt(text, place, key);
      assert.ok(isEncrypted(sealed) && isEncryptedWith(sealed, key));
      assert.deepEqual(decrypt(sealed, place, { current, previous }), { text });
      assert.notEqual(encrypt(text, place, key), sealed);
    }),
  );
});

test('decryption fails in another place, and after a change of a single character', () => {
  const sealed = encrypt('s3cret', place, current);
  assert.ok('why' in decrypt(sealed, 'destination/erp settings.sharedSecret', { current }));
  const from = sealed.lastIndexOf(':') + 1;
  for (let index = from; index < sealed.length - 1; index++) {
    const other = sealed[index] === 'A' ? 'B' : 'A';
    const changed = sealed.slice(0, index) + other + sealed.slice(index + 1);
    assert.ok('why' in decrypt(changed, place, { current }), changed);
  }
  assert.ok('why' in decrypt('sealed:v1:' + fingerprintOf(current) + ':AAAA', place, { current }));
});

test('without the right key, the reason names the fingerprints of the needed key and of the given keys', () => {
  const opened = decrypt(encrypt('s3cret', place, current), place, { current: previous });
  assert.ok('why' in opened);
  assert.match(opened.why, new RegExp(`${fingerprintOf(current)}.*${fingerprintOf(previous)}`));
});
