import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { isTailraceError } from '@tailrace/errors';
import fc from 'fast-check';
import { callLimit, decompress, readJson } from './decode-body.ts';

const compressors = { gzip: gzipSync, deflate: deflateSync, 'deflate without its header': deflateRawSync };

for (const [name, compress] of Object.entries(compressors)) {
  const encoding = name.split(' ', 1)[0];

  test(`any body is restored after ${name}`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        assert.deepEqual(decompress(compress(bytes), encoding, callLimit), Buffer.from(bytes));
      }),
    );
  });

  test(`a body may be exactly as large as the limit after ${name}, and not larger`, () => {
    const largest = Buffer.alloc(callLimit.bytes);
    assert.equal(decompress(compress(largest), encoding, callLimit).length, callLimit.bytes);
    assert.throws(() => decompress(compress(Buffer.alloc(callLimit.bytes + 1)), encoding, callLimit), {
      code: 'call-too-large',
    });
  });
}

test('any bytes sent as gzip or deflate are inflated or refused', () => {
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

test('a body without an encoding is used unchanged', () => {
  const bytes = Buffer.from('{}');
  for (const encoding of [undefined, '', 'identity'])
    assert.equal(decompress(bytes, encoding, callLimit), bytes);
  assert.throws(() => decompress(bytes, 'gzip, gzip', callLimit), { code: 'unsupported-encoding' });
});

test('any JSON value is read unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value);
      const bytes = Buffer.from(json);
      assert.deepEqual(readJson(bytes), { value: JSON.parse(json) as unknown, bytes: bytes.length });
    }),
  );
});

test('the size of a body includes what its numbers gain when they are written', () => {
  assert.equal(
    readJson(Buffer.from('{"é":[1e20,25.0]}')).bytes,
    Buffer.byteLength('{"é":[100000000000000000000,25.0]}'),
  );
});

test('an error about a body does not quote it', () => {
  assert.throws(
    () => readJson(Buffer.from('{"password": hunter2}')),
    (error) => isTailraceError(error, 'malformed-json') && !error.message.includes('hunter2'),
  );
});
