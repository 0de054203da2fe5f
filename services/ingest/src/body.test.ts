import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { isTailraceError } from '@tailrace/errors';
import fc from 'fast-check';
import { callLimit, decompress, readJson } from './body.ts';

const compressors = { gzip: gzipSync, deflate: deflateSync, 'deflate without its header': deflateRawSync };

for (const [name, compress] of Object.entries(compressors)) {
  const encoding = name.split(' ', 1)[0];

  test(`any body is what it was before ${name}`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        assert.deepEqual(decompress(compress(bytes), encoding, callLimit), Buffer.from(bytes));
      }),
    );
  });

  test(`a body may be as large as the limit after ${name}, and not a byte larger`, () => {
    const largest = Buffer.alloc(callLimit.bytes);
    assert.equal(decompress(compress(largest), encoding, callLimit).length, callLimit.bytes);
    assert.throws(() => decompress(compress(Buffer.alloc(callLimit.bytes + 1)), encoding, callLimit), {
      code: 'call-too-large',
    });
  });
}

test('whatever bytes come as gzip or deflate, they are inflated or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.constantFrom('gzip', 'deflate'), (bytes, encoding) => {
      try {
        decompress(Buffer.from(bytes), encoding, callLimit);
      } catch (error) {
        assert.ok(isTailraceError(error, 'malformed-request') || isTailraceError(error, 'call-too-large'));
      }
    }),
  );
});

test('a body without an encoding is taken as it is', () => {
  const bytes = Buffer.from('{}');
  for (const encoding of [undefined, '', 'identity'])
    assert.equal(decompress(bytes, encoding, callLimit), bytes);
  assert.throws(() => decompress(bytes, 'gzip, gzip', callLimit), { code: 'unsupported-encoding' });
});

test('whatever JSON says is read as it stands', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value);
      assert.deepEqual(readJson(Buffer.from(json)), JSON.parse(json));
    }),
  );
});

test('what is wrong with a body is said without quoting it', () => {
  assert.throws(
    () => readJson(Buffer.from('{"password": hunter2}')),
    (error) => isTailraceError(error, 'malformed-json') && !error.message.includes('hunter2'),
  );
});
