import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkDestination, formatPath } from '../../index.ts';
import { fieldSteps, filterLimits } from './filter.ts';

const destination = {
  id: 'crm',
  type: 'Webhooks',
  sources: ['web'],
  settings: { webhooks: [{ url: 'https://crm.example/hook' }] },
};

/** Each problem as `<field> <message>`. */
function problemsOf(filter: unknown, options?: { allowUnknownKeys?: boolean }): string[] {
  const checked = checkDestination({ ...destination, filter }, options);
  if (!('problems' in checked)) return [];
  return checked.problems.map(({ path, message }) => `${formatPath(path)} ${message}`);
}

function nested(depth: number): unknown {
  let condition: unknown = { field: 'properties.a', exists: true };
  for (let level = 1; level < depth; level += 1) condition = { not: condition };
  return { condition };
}

describe('a filter is valid', () => {
  const leaf = { field: 'properties.total', atLeast: 1 };
  const cases: [title: string, filter: unknown][] = [
    ['with nothing in it', {}],
    [
      'with all its keys',
      { types: ['track'], events: { include: ['Order *'], exclude: ['*Test*'] }, condition: leaf },
    ],
    [
      'with each operator',
      {
        condition: {
          all: [
            { equals: 'a' },
            { equals: null },
            { equals: 0 },
            { oneOf: ['a', 1, true, null] },
            { contains: 'ä'.repeat(100) },
            { startsWith: 'a' },
            { exists: false },
            { lessThan: 1 },
            { atMost: 'b' },
            { greaterThan: -1.5 },
            { atLeast: 2 ** 53 - 1 },
          ].map((operator) => ({ field: 'context.device.type', ...operator })),
        },
      },
    ],
    ['with conditions in conditions, to the greatest depth', nested(filterLimits.depth)],
    [
      'with a key that has a dot or a space',
      {
        condition: {
          any: [
            { field: String.raw`properties.utm\.source`, exists: true },
            { field: 'Previous ID', exists: true },
          ],
        },
      },
    ],
  ];
  for (const [title, filter] of cases) {
    test(title, () => {
      assert.deepEqual(problemsOf(filter), []);
    });
  }
});

describe('a problem of a filter names the field and the rule', () => {
  const many = (count: number, one: unknown): unknown[] => Array.from({ length: count }, () => one);
  const leaf = { field: 'properties.a', exists: true };
  const cases: [filter: unknown, problem: RegExp][] = [
    [[], /^filter is a list; allowed is a mapping with types, events and condition$/],
    [{ typos: 1 }, /^filter\.typos unknown key; did you mean types\?$/],
    [{ types: [] }, /^filter\.types has 0 items/],
    [
      { types: ['track', 'delete'] },
      /^filter\.types\[1\] is not one of track, identify, page, screen, group, alias$/,
    ],
    [{ types: ['track', 'track'] }, /^filter\.types\[1\] repeats an earlier item/],
    [{ events: { include: [] } }, /^filter\.events\.include has 0 items/],
    [
      { events: { exclude: ['a'.repeat(201)] } },
      /^filter\.events\.exclude\[0\] is not an event name of 1 to 200/,
    ],
    [
      { events: { include: many(101, 'a').map((name, index) => `${String(name)}${index}`) } },
      /^filter\.events\.include has 101 items/,
    ],
    [{ condition: 'total > 1' }, /^filter\.condition is a text; allowed is a condition/],
    [{ condition: {} }, /^filter\.condition has none of field, all, any and not; set one of them$/],
    [{ condition: { equals: 1 } }, /^filter\.condition\.field is missing; equals needs the path of a field$/],
    [
      { condition: { field: 'event' } },
      /^filter\.condition has no operator; set one of equals, oneOf, contains, startsWith, exists, lessThan/,
    ],
    [
      { condition: { field: 'event', equals: 'a', exists: true } },
      /^filter\.condition has equals and exists; set one/,
    ],
    [{ condition: { field: 'event', matches: '^a' } }, /^filter\.condition\.matches unknown key; /],
    [{ condition: { all: [leaf], any: [leaf] } }, /^filter\.condition has all and any; set one of them/],
    [{ condition: { not: leaf, equals: 1 } }, /^filter\.condition has equals without field/],
    [{ condition: { all: [] } }, /^filter\.condition\.all has 0 items/],
    [
      { condition: { all: [leaf, { any: [{ field: 'event', lessThan: true }] }] } },
      /^filter\.condition\.all\[1\]\.any\[0\]\.lessThan is a boolean; allowed is a number within/,
    ],
    [{ condition: { all: [leaf, 7] } }, /^filter\.condition\.all\[1\] is a number; allowed is a condition/],
    [
      { condition: { field: 'propertie.total', exists: true } },
      /^filter\.condition\.field begins with "propertie", .*did you mean properties\?$/,
    ],
    [
      { condition: { field: 'messageId', exists: true } },
      /^filter\.condition\.field begins with "messageId", which is not a key of webhook bodies; known keys are /,
    ],
    [{ condition: { field: 'properties..a', exists: true } }, /^filter\.condition\.field has an empty key/],
    [
      { condition: { field: 'properties\\', exists: true } },
      /^filter\.condition\.field has an empty key, or ends with a backslash/,
    ],
    [
      { condition: { field: many(11, 'properties').join('.'), exists: true } },
      /^filter\.condition\.field has 11 keys; 10 are allowed$/,
    ],
    [
      { condition: { field: 'event', equals: 2 ** 53 } },
      /^filter\.condition\.equals is not a text of up to 500 characters, a number within/,
    ],
    [{ condition: { field: 'event', equals: NaN } }, /^filter\.condition\.equals is a number; allowed is /],
    [
      { condition: { field: 'event', equals: { a: 1 } } },
      /^filter\.condition\.equals is a mapping; allowed is /,
    ],
    [
      { condition: { field: 'event', contains: 'a'.repeat(101) } },
      /^filter\.condition\.contains is not a text of 1 to 100 characters$/,
    ],
    [
      { condition: { field: 'event', startsWith: '' } },
      /^filter\.condition\.startsWith is not a text of 1 to 100 characters$/,
    ],
    [
      { condition: { field: 'event', contains: 7 } },
      /^filter\.condition\.contains is a number; allowed is a text of 1 to 100 characters; put it in quotes$/,
    ],
    [{ condition: { field: 'event', oneOf: many(101, 'a') } }, /^filter\.condition\.oneOf has 101 items/],
    [nested(filterLimits.depth + 1), /^filter\.condition(\.not){5} is nested more than 5 levels deep/],
    [{ condition: { all: many(50, leaf) } }, /^filter\.condition has more than 50 conditions; use oneOf/],
    [
      { condition: { all: many(40, { field: 'event', equals: 'a'.repeat(490) }) } },
      /^filter has \d+ characters as JSON; 16384 are allowed$/,
    ],
  ];
  for (const [filter, expected] of cases) {
    test(String(expected), () => {
      const found = problemsOf(filter);
      assert.ok(
        found.some((text) => expected.test(text)),
        found.join('\n'),
      );
    });
  }
});

test('a nesting that would exhaust the stack of a validator is one problem', () => {
  assert.equal(problemsOf(nested(500)).length, 1);
});

test('a key of a later release is ignored, and an operator of a later release makes the entry unreadable', () => {
  assert.deepEqual(problemsOf({ types: ['track'], sample: 0.1 }, { allowUnknownKeys: true }), []);
  const [problem] = problemsOf({ condition: { field: 'event', matches: 'a' } }, { allowUnknownKeys: true });
  assert.match(problem ?? '', /^filter\.condition has no operator/);
});

test('a path is split at dots that have no backslash before them', () => {
  const cases: [path: string, steps: readonly string[] | undefined][] = [
    ['event', ['event']],
    ['properties.a.b', ['properties', 'a', 'b']],
    [String.raw`properties.a\.b`, ['properties', 'a.b']],
    [String.raw`properties.a\\.b`, ['properties', 'a\\', 'b']],
    [String.raw`properties.\a`, ['properties', 'a']],
    ...['', '.', '.a', 'a.', 'a..b', 'a\\'].map((path): [string, undefined] => [path, undefined]),
  ];
  for (const [path, steps] of cases) assert.deepEqual(fieldSteps(path), steps, path);
});
