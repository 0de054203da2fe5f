import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Filter, FilterCondition } from '@tailrace/config';
import { parseJson, readCall } from '@tailrace/events';
import fc from 'fast-check';
import { compileFilter, filterableOf } from '../index.ts';

/** The path of the rule that a call does not meet; undefined where it passes. @param json the call, or its JSON text */
function brokenRule(filter: Filter, json: object | string): string | undefined {
  const call = parseJson(typeof json === 'string' ? json : JSON.stringify(json)) as object;
  const reading = readCall(
    { userId: 'ada', type: 'track', event: 'E', ...call },
    { receivedAt: 0, fallbackMessageId: () => 'm' },
  );
  assert.ok(reading.ok, reading.ok ? '' : reading.message);
  return compileFilter(filter)(filterableOf(reading.event))?.path;
}

const passes = (filter: Filter, call: object | string): boolean => brokenRule(filter, call) === undefined;
const holds = (condition: FilterCondition, call: object | string): boolean => passes({ condition }, call);
/** Whether a condition holds for a value, as JSON, at `properties.a`. */
const holdsFor = (operator: object, json: string): boolean =>
  holds({ field: 'properties.a', ...operator }, `{"properties":{"a":${json}}}`);

test('an empty filter lets every event through', () => {
  assert.ok(passes({}, {}));
});

test('types selects by type', () => {
  assert.ok(passes({ types: ['track', 'page'] }, {}));
  assert.equal(brokenRule({ types: ['page'] }, {}), 'types');
});

describe('events', () => {
  const order: Filter = { events: { include: ['Order *', 'Signed Up'], exclude: ['*Draft*'] } };

  test('includes names, with * for any text, and exclude takes precedence', () => {
    assert.ok(passes(order, { event: 'Order Completed' }));
    assert.ok(passes(order, { event: 'Signed Up' }));
    assert.equal(brokenRule(order, { event: 'Signed Up Late' }), 'events.include');
    assert.equal(brokenRule(order, { event: 'Order Draft Saved' }), 'events.exclude');
  });

  test('is case sensitive', () => {
    assert.equal(brokenRule(order, { event: 'order Completed' }), 'events.include');
  });

  test('applies to the names of pages and screens, and a missing name is an empty text', () => {
    const home: Filter = { events: { include: ['Home*'] } };
    assert.ok(passes(home, { type: 'page', name: 'Home' }));
    assert.ok(passes(home, { type: 'screen', name: 'Home 2' }));
    assert.equal(brokenRule(home, { type: 'page' }), 'events.include');
    assert.ok(passes({ events: { include: ['*'] } }, { type: 'page' }));
  });

  test('does not concern calls that have no name by their type', () => {
    for (const call of [
      { type: 'identify' },
      { type: 'group', groupId: 'g' },
      { type: 'alias', previousId: 'b' },
    ]) {
      assert.ok(passes(order, call), call.type);
    }
  });

  test('matches patterns as a search that tries every split does', () => {
    const reference = (pattern: string, name: string): boolean => {
      const [letter, rest] = [pattern.charAt(0), pattern.slice(1)];
      if (letter === '') return name === '';
      if (letter !== '*') return letter === name.charAt(0) && reference(rest, name.slice(1));
      return Array.from({ length: name.length + 1 }, (_, at) => name.slice(at)).some((left) =>
        reference(rest, left),
      );
    };
    const texts = (alphabet: string, maxLength: number) =>
      fc
        .array(fc.constantFrom(...alphabet.split('')), { minLength: 1, maxLength })
        .map((letters) => letters.join(''));
    fc.assert(
      fc.property(texts('ab*', 7), texts('ab', 9), (pattern, event) => {
        assert.equal(passes({ events: { include: [pattern] } }, { event }), reference(pattern, event));
      }),
      { numRuns: 500 },
    );
  });

  test('takes a time that is linear in the name, for patterns that make others slow', () => {
    const exclude = Array.from({ length: 100 }, (_, index) => `*${'a*'.repeat(60)}${'a'.repeat(index)}b`);
    const filter = compileFilter({ events: { exclude } });
    const document = (): object => ({});
    // A matcher that goes back would take longer than the age of the universe.
    assert.equal(filter({ type: 'track', name: 'a'.repeat(30_000), document }), undefined);
  });
});

describe('a condition reads the webhook body', () => {
  test('at the keys that the body has, not those of the call', () => {
    assert.ok(holds({ field: 'event', equals: 'E' }, {}));
    assert.ok(holds({ field: 'userId', equals: 'ada' }, { anonymousId: 'anon' }));
    assert.ok(holds({ field: 'anonymousId', exists: false }, { anonymousId: 'anon' }));
    assert.ok(holds({ field: 'properties.name', equals: 'Home' }, { type: 'page', name: 'Home' }));
    assert.ok(holds({ field: 'Previous ID', equals: 'b' }, { type: 'alias', previousId: 'b' }));
    assert.ok(
      holds({ field: 'context.device.type', equals: 'ios' }, { context: { device: { type: 'ios' } } }),
    );
    assert.ok(holds({ field: 'properties', exists: true }, {}));
  });

  test('at indexes of lists, and at keys with dots', () => {
    const call = { properties: { products: [{ sku: 'a' }, { sku: 'b' }], 'utm.source': 'x' } };
    assert.ok(holds({ field: 'properties.products.1.sku', equals: 'b' }, call));
    assert.ok(holds({ field: 'properties.products.2.sku', exists: false }, call));
    assert.ok(holds({ field: 'properties.products.length', exists: false }, call));
    assert.ok(holds({ field: 'properties.products.01.sku', exists: false }, call));
    assert.ok(holds({ field: String.raw`properties.utm\.source`, equals: 'x' }, call));
  });

  test('and never at what its values inherit', () => {
    const inherited = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    for (const key of inherited) {
      assert.ok(holds({ field: `properties.${key}`, exists: false }, {}), key);
      assert.ok(holds({ field: `properties.a.${key}`, exists: false }, { properties: { a: [] } }), key);
      assert.ok(holds({ field: `properties.${key}`, equals: 'x' }, `{"properties":{"${key}":"x"}}`), key);
      assert.ok(
        holds({ field: `properties.${key}.polluted`, equals: 1 }, `{"properties":{"${key}":{"polluted":1}}}`),
        key,
      );
    }
    for (const json of ['"text"', '7', '7.0', 'true', 'null']) {
      for (const key of ['length', '0', 'rawJSON']) {
        assert.ok(
          holds({ field: `properties.a.${key}`, exists: false }, `{"properties":{"a":${json}}}`),
          `${json} ${key}`,
        );
      }
    }
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });
});

describe('an operator', () => {
  const cases: [operator: object, yes: readonly string[], no: readonly string[]][] = [
    [{ equals: 'a' }, ['"a"'], ['"A"', '"a "', '["a"]', '{"a":"a"}', 'null', '1']],
    [{ equals: 1 }, ['1', '1.0', '1e0', '10e-1'], ['"1"', 'true', '[1]', '1.5', 'null']],
    [{ equals: 0 }, ['0', '-0', '0.0'], ['""', 'false', 'null', '"0"']],
    [{ equals: true }, ['true'], ['1', '"true"', 'false']],
    [{ equals: null }, ['null'], ['0', '""', 'false', '[]', '{}']],
    [{ oneOf: ['a', 1, null] }, ['"a"', '1.0', 'null'], ['"1"', '["a"]', 'true', '2']],
    [
      { contains: 'b' },
      ['"abc"', '"b"', '["a","b"]'],
      ['"aBc"', '["bb"]', '[["b"]]', '{"b":"b"}', 'null', '1'],
    ],
    [{ contains: '1' }, ['"1.0"', '["1"]'], ['1', '1.0', '[1]', 'true']],
    [{ startsWith: 'ab' }, ['"ab"', '"abc"'], ['"Abc"', '"cab"', '"a"', '["ab"]', 'null', '1']],
    [{ exists: true }, ['null', '0', '""', 'false', '[]', '{}', '1e400'], []],
    [{ lessThan: 10 }, ['9', '9.99', '-1e300', '-1e400'], ['10', '10.0', '"9"', 'null', '[9]', 'true', '{}']],
    [{ atMost: 10 }, ['10', '10.0', '9'], ['10.5', '"10"']],
    [{ greaterThan: 10 }, ['10.5', '1e400', '90071992547409930'], ['10', '10.0', '"11"', 'true']],
    [{ atLeast: 10 }, ['10', '1e1'], ['9.99', '"10"', 'null']],
    [{ atLeast: 'b' }, ['"b"', '"ba"', '"c"'], ['"a"', '"B"', '1', 'null', '["b"]']],
    [
      { lessThan: '2026-11-22T00:00:00.000Z' },
      ['"2026-11-21T23:59:59.999Z"'],
      ['"2026-11-22T00:00:00.000Z"', '1'],
    ],
    // Numbers are compared as doubles. None beyond 2^53 equals an operand, because operands are within.
    [
      { equals: 9007199254740991 },
      ['9007199254740991', '9007199254740991.0'],
      ['9007199254740992', '9007199254740993'],
    ],
    [{ greaterThan: 9007199254740991 }, ['9007199254740993', '12345678901234567890'], ['9007199254740991']],
  ];
  for (const [operator, yes, no] of cases) {
    test(`${JSON.stringify(operator)} compares values of its own type, without converting them`, () => {
      for (const json of yes) assert.ok(holdsFor(operator, json), `${json} should match`);
      for (const json of no) assert.ok(!holdsFor(operator, json), `${json} should not match`);
    });
  }

  test('on a field that the body does not have holds only for exists: false', () => {
    const operators = [
      { equals: 'a' },
      { equals: null },
      { oneOf: [null] },
      { contains: 'a' },
      { startsWith: 'a' },
      { lessThan: 1 },
      { atLeast: '' },
    ];
    for (const operator of operators) assert.ok(!holds({ field: 'properties.b', ...operator }, {}));
    assert.ok(holds({ field: 'properties.b', exists: false }, {}));
    assert.ok(!holds({ field: 'properties.b', exists: true }, {}));
    assert.ok(!holdsFor({ exists: false }, 'null'));
  });

  test('takes a number that JSON cannot write for null, which the body has in its place', () => {
    for (const a of [NaN, Infinity, -Infinity]) {
      const document = (): object => ({ properties: { a } });
      const check = (operator: object) =>
        compileFilter({ condition: { field: 'properties.a', ...operator } })({
          type: 'track',
          name: 'E',
          document,
        });
      assert.equal(check({ equals: null }), undefined);
      assert.equal(check({ greaterThan: 0 })?.path, 'condition');
    }
  });
});

describe('a combination', () => {
  const yes: FilterCondition = { field: 'event', equals: 'E' };
  const no: FilterCondition = { field: 'event', equals: 'F' };

  test('of conditions names the innermost rule that is known to be broken', () => {
    const cases: [condition: FilterCondition, broken: string | undefined][] = [
      [{ all: [yes, yes] }, undefined],
      [{ all: [yes, no] }, 'condition.all[1]'],
      [{ any: [no, yes] }, undefined],
      [{ any: [no, no] }, 'condition'],
      [{ not: no }, undefined],
      [{ not: yes }, 'condition'],
      [{ all: [yes, { all: [yes, { not: yes }] }] }, 'condition.all[1].all[1]'],
      [{ not: { not: yes } }, undefined],
    ];
    for (const [condition, broken] of cases) {
      assert.equal(brokenRule({ condition }, {}), broken, JSON.stringify(condition));
    }
  });

  test('gives the value of its formula', () => {
    interface Formula {
      readonly condition: FilterCondition;
      readonly value: boolean;
    }
    const leaf = fc.boolean().map((value): Formula => ({ condition: value ? yes : no, value }));
    const { formula } = fc.letrec<{ formula: Formula }>((tie) => ({
      formula: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        leaf,
        tie('formula').map(({ condition, value }): Formula => ({
          condition: { not: condition },
          value: !value,
        })),
        fc.array(tie('formula'), { minLength: 1, maxLength: 3 }).map((inner): Formula => ({
          condition: { all: inner.map(({ condition }) => condition) },
          value: inner.every(({ value }) => value),
        })),
        fc.array(tie('formula'), { minLength: 1, maxLength: 3 }).map((inner): Formula => ({
          condition: { any: inner.map(({ condition }) => condition) },
          value: inner.some(({ value }) => value),
        })),
      ),
    }));
    fc.assert(
      fc.property(formula, ({ condition, value }) => {
        assert.equal(holds(condition, {}), value);
      }),
    );
  });

  test('never throws and never changes the event, for any JSON value in it', () => {
    const paths = fc.constantFrom(
      'properties',
      'properties.a',
      'properties.a.b',
      'properties.0',
      'properties.__proto__.a',
    );
    const operand = fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    const operators = fc.oneof(
      operand.map((equals) => ({ equals })),
      fc.array(operand, { minLength: 1 }).map((oneOf) => ({ oneOf })),
      fc.boolean().map((exists) => ({ exists })),
      fc.string({ minLength: 1 }).map((contains) => ({ contains })),
      fc.string({ minLength: 1 }).map((startsWith) => ({ startsWith })),
      operand.map((lessThan) => ({ lessThan })),
      operand.map((atLeast) => ({ atLeast })),
    );
    fc.assert(
      fc.property(paths, operators, fc.jsonValue(), (field, operator, value) => {
        const document = { properties: { a: value, 0: value } };
        const before = JSON.stringify(document);
        const event = { type: 'track', name: 'E', document: () => document };
        const positive = compileFilter({ condition: { field, ...operator } })(event);
        const negative = compileFilter({ condition: { not: { field, ...operator } } })(event);
        assert.notEqual(positive === undefined, negative === undefined);
        assert.equal(JSON.stringify(document), before);
      }),
    );
  });
});

test('a rule has a text for people', () => {
  const textOf = (filter: Filter): string | undefined =>
    compileFilter(filter)({ type: 'track', name: 'E', document: () => ({ event: 'E' }) })?.text;
  const missing = (operator: object) => ({ field: 'properties.a', ...operator });
  assert.equal(textOf({ types: ['page', 'screen'] }), 'types page, screen');
  assert.equal(textOf({ events: { include: ['A*', 'B'] } }), 'events include A*, B');
  assert.equal(textOf({ condition: missing({ oneOf: ['x', 1] }) }), 'properties.a oneOf ["x",1]');
  assert.equal(
    textOf({ condition: { any: [missing({ equals: 'x' }), missing({ atLeast: 2 })] } }),
    '(properties.a equals "x" or properties.a atLeast 2)',
  );
  assert.equal(textOf({ condition: { not: { field: 'event', equals: 'E' } } }), 'not (event equals "E")');
});
