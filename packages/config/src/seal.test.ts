import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import fc from 'fast-check';
import { fingerprintOf, isSealed, isSealedWith, open, seal } from './seal.ts';

const current = randomBytes(32);
const previous = randomBytes(32);
const place = 'destination/crm settings.sharedSecret';

test('whatever is sealed opens with its key, in its place, and nothing of it is to be seen', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.boolean(), (text, isPrevious) => {
      const key = isPrevious ? previous : current;
      const sealed = seal(text, place, key);
      assert.ok(isSealed(sealed) && isSealedWith(sealed, key));
      assert.deepEqual(open(sealed, place, { current, previous }), { text });
      assert.notEqual(seal(text, place, key), sealed);
    }),
  );
});

test('it opens nowhere else, and not after a change of a single character', () => {
  const sealed = seal('s3cret', place, current);
  assert.ok('why' in open(sealed, 'destination/erp settings.sharedSecret', { current }));
  const from = sealed.lastIndexOf(':') + 1;
  for (let index = from; index < sealed.length - 1; index++) {
    const other = sealed[index] === 'A' ? 'B' : 'A';
    const changed = sealed.slice(0, index) + other + sealed.slice(index + 1);
    assert.ok('why' in open(changed, place, { current }), changed);
  }
  assert.ok('why' in open('sealed:v1:' + fingerprintOf(current) + ':AAAA', place, { current }));
});

test('without its key it says which key it needs, and which there are', () => {
  const opened = open(seal('s3cret', place, current), place, { current: previous });
  assert.ok('why' in opened);
  assert.match(opened.why, new RegExp(`${fingerprintOf(current)}.*${fingerprintOf(previous)}`));
});
