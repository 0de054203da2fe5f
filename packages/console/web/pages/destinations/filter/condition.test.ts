import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  conditionOf,
  linesOf,
  newTest,
  nodeOf,
  pathsIn,
  scalarOf,
  scalarsOf,
  typedOf,
  valuesOf,
  withOperator,
} from './condition.ts';

const scalar = fc.oneof(
  fc.string(),
  fc.constantFrom('a\nb', '1', 'true', 'null', '"', '"a"', ' 1', '1e400', '[1]', '{}'),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.boolean(),
  fc.constant(null),
);
const bound = fc.oneof(fc.string(), fc.integer());
const field = fc.string({ minLength: 1 });
const leaf = fc.oneof(
  fc.record({ field, equals: scalar }),
  fc.record({ field, oneOf: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
  fc.record({ field, contains: fc.string() }),
  fc.record({ field, startsWith: fc.string() }),
  fc.record({ field, exists: fc.boolean() }),
  ...['lessThan', 'atMost', 'greaterThan', 'atLeast'].map((operator) =>
    fc.tuple(field, bound).map(([path, operand]) => ({ field: path, [operator]: operand })),
  ),
);
const { condition } = fc.letrec<{ condition: object; plain: object }>((tie) => {
  const list = fc.array(tie('condition'), { minLength: 1, maxLength: 3 });
  return {
    plain: fc.oneof({ maxDepth: 3 }, leaf, fc.record({ all: list }), fc.record({ any: list })),
    condition: fc.oneof(
      tie('plain'),
      tie('plain').map((not) => ({ not })),
    ),
  };
});

test('every condition that the builder shows passes through it unchanged', () => {
  fc.assert(
    fc.property(condition, (arbitrary) => {
      // As it is read from JSON.
      const given: unknown = JSON.parse(JSON.stringify(arbitrary));
      const node = nodeOf(given);
      assert.ok(node);
      assert.deepEqual(conditionOf(node), given);
    }),
  );
});

test('other conditions are not shown, and are never changed', () => {
  const odd = [
    {},
    [],
    null,
    'a',
    { all: [] },
    { all: {} },
    { field: 'a' },
    { equals: 1 },
    { field: 1, equals: 1 },
    { not: { not: { field: 'a', equals: 1 } } },
    { field: 'a', atLeast: true },
    { field: 'a', contains: 1 },
    { field: 'a', oneOf: 1 },
    { field: 'a', equals: [1] },
    { field: 'a', exists: 'yes' },
    { field: 'a', matches: 'b' },
    { field: 'a', equals: 1, atLeast: 2 },
    { all: [{ field: 'a', equals: 1 }, 1] },
    { all: [], any: [] },
  ];
  for (const given of odd) assert.equal(nodeOf(given), undefined, JSON.stringify(given));
});

test('a value is read as it is shown', () => {
  fc.assert(
    fc.property(scalar, (value) => {
      assert.deepEqual(scalarOf(typedOf(value)), value);
      assert.deepEqual(scalarsOf(linesOf([value, '', value])), [value, '', value]);
    }),
  );
  assert.deepEqual(['25.5', '"25.5"', 'true', 'null', 'EUR', '', '[1]', '1e400'].map(scalarOf), [
    25.5,
    '25.5',
    true,
    null,
    'EUR',
    '',
    '[1]',
    '1e400',
  ]);
});

test('what is typed for a text is one, also where it looks like a number', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.deepEqual(valuesOf(typedOf(text), 'contains'), [text]);
    }),
  );
  assert.deepEqual(valuesOf('1.0', 'startsWith'), ['1.0']);
  assert.deepEqual(valuesOf('"1.0"', 'startsWith'), ['1.0']);
  assert.deepEqual(valuesOf('1.0', 'equals'), [1]);
});

test('another operator keeps the value where it can', () => {
  const equal = { ...newTest, field: 'a', value: 7 };
  const list = withOperator(equal, 'oneOf');
  assert.deepEqual(conditionOf(list), { field: 'a', oneOf: [7] });
  assert.deepEqual(conditionOf(withOperator(list, 'atLeast')), { field: 'a', atLeast: 7 });
  const flag = withOperator({ ...equal, value: true }, 'atLeast');
  assert.deepEqual(conditionOf(flag), { field: 'a', atLeast: 'true' });
  assert.deepEqual(conditionOf(withOperator(equal, 'contains')), { field: 'a', contains: '7' });
  assert.deepEqual(conditionOf(withOperator(flag, 'missing')), { field: 'a', exists: false });
});

test('the paths of a call are suggested, with dots of keys escaped', () => {
  const call = { event: 'E', properties: { total: 1, 'a.b': { c: null } } };
  assert.deepEqual(pathsIn(call), [
    'event',
    'properties',
    'properties.total',
    'properties.a\\.b',
    'properties.a\\.b.c',
  ]);
});
