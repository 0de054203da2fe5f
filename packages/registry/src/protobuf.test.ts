import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { completeSchema, readProtobuf } from './protobuf.ts';

const source = `
  syntax = "proto3";
  package shop;
  import "google/protobuf/struct.proto";
  import "google/protobuf/timestamp.proto";
  import "google/protobuf/wrappers.proto";
`;
const messages = `
  message Order { int64 number = 1; message Line { string sku = 1; } }
  message Call {
    string user_id = 1;
    int64 number = 2;
    bytes image = 3;
    Kind kind = 4;
    repeated double shares = 5;
    map<string, uint64> totals = 6;
    map<int64, string> names = 7;
    google.protobuf.Struct properties = 8;
    google.protobuf.Timestamp at = 9;
    google.protobuf.Int64Value wrapped = 10;
    optional bool on = 11;
    Order order = 12;
  }
  enum Kind { UNKNOWN = 0; GIFT = 1; }
`;
const { root } = protobuf.parse(source + messages);
const first = root.lookupType('shop.Order');
completeSchema(first);

const nothing: Buffer = Buffer.alloc(0);
const callAt = Buffer.from([2, 2]);

function read(name: string, fields: Record<string, unknown>, indexes: Buffer): unknown {
  const type = root.lookupType(`shop.${name}`);
  return readProtobuf(first, Buffer.concat([indexes, type.encode(type.fromObject(fields)).finish()]));
}

describe('a message', () => {
  test('has the fields that were written, in lowerCamelCase', () => {
    assert.deepEqual(read('Call', { userId: 'u', on: false }, callAt), { userId: 'u', on: false });
  });

  test('keeps every digit of a number of 64 bits, as a value, in a map, as a key and wrapped', () => {
    const large = '9223372036854775807';
    const fields = { number: large, totals: { a: large }, names: { '-5': 'x' }, wrapped: { value: large } };
    assert.equal(
      JSON.stringify(read('Call', fields, callAt)),
      `{"number":${large},"totals":{"a":${large}},"names":{"-5":"x"},"wrapped":${large}}`,
    );
  });

  test('has bytes in base64, enums by name, times as ISO 8601, and other numbers as strings', () => {
    const fields = { image: Buffer.from([255]), kind: 1, shares: [0.5, NaN], at: { seconds: -1, nanos: 5 } };
    assert.deepEqual(read('Call', fields, callAt), {
      image: '/w==',
      kind: 'GIFT',
      shares: [0.5, 'NaN'],
      at: '1969-12-31T23:59:59.000000005Z',
    });
  });

  test('has a Struct as an object', () => {
    const values = [
      { numberValue: 1 },
      { nullValue: 0 },
      { boolValue: false },
      { structValue: { fields: {} } },
    ];
    const properties = { fields: { list: { listValue: { values } }, text: { stringValue: '' } } };
    assert.deepEqual(read('Call', { properties }, callAt), {
      properties: { list: [1, null, false, {}], text: '' },
    });
  });

  test('is the one at its indexes: the first, a later one, or a nested one', () => {
    assert.deepEqual(read('Order', { number: 1 }, Buffer.from([0])), { number: 1 });
    assert.deepEqual(read('Order', { number: 1 }, Buffer.from([2, 0])), { number: 1 });
    assert.deepEqual(read('Order.Line', { sku: 's' }, Buffer.from([4, 0, 0])), { sku: 's' });
  });
});

describe('bytes that do not match the schema', () => {
  test('are refused where their indexes name no message', () => {
    assert.throws(() => readProtobuf(first, Buffer.from([2, 18])), /name no message/);
    assert.throws(() => readProtobuf(first, Buffer.from([1])), /message indexes/);
    assert.throws(() => readProtobuf(first, nothing));
  });

  test('are read, or refused with an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          JSON.stringify(readProtobuf(first, Buffer.concat([callAt, bytes])));
        } catch (error) {
          assert.ok(error instanceof Error);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
