import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import avsc, { type Schema } from 'avsc';
import fc from 'fast-check';
import { avroOptions, readAvro } from './avro.ts';

const compile = (schema: Schema) => avsc.Type.forSchema(schema, { ...avroOptions });

/** Writes with avsc, without logical types, and reads. */
function roundTrip(schema: Schema, value: unknown): unknown {
  return readAvro(compile(schema), avsc.Type.forSchema(schema).toBuffer(value));
}

describe('a value', () => {
  const micros = { type: 'long', logicalType: 'timestamp-micros' } as const;
  const price = { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 } as const;
  const cases: [title: string, schema: Schema, value: unknown, expected: unknown][] = [
    ['of bytes is base64', 'bytes', Buffer.from([255, 0]), '/wA='],
    ['that is not a finite number is a string', 'double', -Infinity, '-Infinity'],
    ['of a union is the value itself', ['int', 'string', 'double'], { double: 0.5 }, 0.5],
    [
      'in microseconds is a time with six digits',
      micros,
      1_795_246_173_479_001,
      '2026-11-21T07:29:33.479001Z',
    ],
    ['before 1970 is a time', micros, -1, '1969-12-31T23:59:59.999999Z'],
    ['in days is a date', { type: 'int', logicalType: 'date' }, -1, '1969-12-31'],
    [
      'of local time has no zone',
      { ...micros, logicalType: 'local-timestamp-millis' },
      0,
      '1970-01-01T00:00:00.000',
    ],
    ['that is a decimal has its digits', price, Buffer.from([0xff, 0x85]), '-1.23'],
    ['below one keeps its zero', price, Buffer.from([5]), '0.05'],
    ['of an unknown logical type is the underlying value', { type: 'string', logicalType: 'uuid' }, 'u', 'u'],
    ['of a map has every key', { type: 'map', values: 'long' }, { a: 1, b: -2 }, { a: 1, b: -2 }],
  ];
  for (const [title, schema, value, expected] of cases) {
    test(title, () => {
      assert.deepEqual(roundTrip(schema, value), expected);
    });
  }

  test('of 64 bits keeps every digit', () => {
    for (const [bytes, expected] of [
      ['feffffffffffffffff01', '9223372036854775807'],
      ['ffffffffffffffffff01', '-9223372036854775808'],
      ['8180808080808010', '-4503599627370497'],
    ]) {
      const value = readAvro(compile('long'), Buffer.from(bytes ?? '', 'hex'));
      assert.equal(JSON.stringify([value]), `[${expected ?? ''}]`);
    }
  });

  test('under the key __proto__ is an ordinary entry', () => {
    const bytes = Buffer.concat([Buffer.from([2, 18]), Buffer.from('__proto__'), Buffer.from([4, 0])]);
    const map = readAvro(compile({ type: 'map', values: 'long' }), bytes) as object;
    assert.equal(JSON.stringify(map), '{"__proto__":2}');
    assert.equal(Object.getPrototypeOf(map), Object.prototype);
  });
});

const schema: Schema = {
  type: 'record',
  name: 'Call',
  fields: [
    { name: 'text', type: 'string' },
    { name: 'maybe', type: ['null', 'double'] },
    { name: 'list', type: { type: 'array', items: { type: 'map', values: 'int' } } },
    { name: 'on', type: 'boolean' },
    { name: 'number', type: 'long' },
  ],
};
const call = fc.record(
  {
    text: fc.string({ unit: 'grapheme' }),
    maybe: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    list: fc.array(fc.dictionary(fc.string({ minLength: 1 }), fc.integer(), { noNullPrototype: true })),
    on: fc.boolean(),
    // avsc does not write larger numbers exactly.
    number: fc.integer({ min: -(2 ** 52), max: 2 ** 52 }),
  },
  { noNullPrototype: true },
);

test('a value that avsc wrote is read unchanged', () => {
  fc.assert(
    fc.property(call, (value) => {
      assert.deepEqual(roundTrip(schema, value), value);
    }),
  );
});

describe('bytes that do not match the schema', () => {
  test('are refused where they are truncated anywhere or have bytes left over', () => {
    fc.assert(
      fc.property(call, fc.nat(), (value, place) => {
        const bytes = avsc.Type.forSchema(schema).toBuffer(value);
        assert.throws(() => readAvro(compile(schema), bytes.subarray(0, place % bytes.length)), RangeError);
        assert.throws(() => readAvro(compile(schema), Buffer.concat([bytes, Buffer.from([0])])), RangeError);
      }),
    );
  });

  test('are read, or refused with a RangeError', () => {
    const anything = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(anything, (bytes) => {
        try {
          readAvro(compile(schema), Buffer.from(bytes));
        } catch (error) {
          assert.ok(error instanceof RangeError, String(error));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('are refused where they declare more items than there are bytes, also for items of zero bytes', () => {
    const many = Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80, 0x40]);
    for (const items of ['null', 'int'] as const) {
      assert.throws(() => readAvro(compile({ type: 'array', items }), many), /more items than it has bytes/);
    }
  });

  test('are refused where they have many values for their bytes', () => {
    const block = Buffer.from([0x80, 0x7d]);
    const blocks = Buffer.concat([...Array.from({ length: 20_000 }, () => block), Buffer.from([0])]);
    assert.throws(() => readAvro(compile({ type: 'array', items: 'null' }), blocks), /more values/);
    const twice = (name: string, type: object | string): object => ({
      type: 'record',
      name,
      fields: [
        { name: 'a', type },
        { name: 'b', type: typeof type === 'string' ? type : (type as { name: string }).name },
      ],
    });
    const doubled = Array.from({ length: 40 }).reduce<object | string>(
      (type, _, depth) => twice(`R${depth}`, type),
      'null',
    );
    assert.throws(() => readAvro(compile(doubled as Schema), Buffer.alloc(0)), /more values/);
  });

  test('are refused where they are nested too deeply', () => {
    const list = { type: 'record', name: 'List', fields: [{ name: 'next', type: ['null', 'List'] }] };
    const deep = Buffer.concat([Buffer.alloc(10_000, 2), Buffer.from([0])]);
    assert.throws(() => readAvro(compile(list as Schema), deep), /nested more than 100 levels/);
  });
});
