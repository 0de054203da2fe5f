/**
 * The filter of a destination: which events it gets. Its schema, and the rules between its fields. packages/routing applies it.
 *
 * The schema describes one condition, without those inside it, so that a hostile nesting cannot exhaust the stack of the
 * validator: {@link filterProblems} validates the inner ones one by one, down to a fixed depth.
 */
import { nearestName } from '@tailrace/errors';
import Type, { type TSchema } from 'typebox';
import { field, items, problem, quote, type FieldPath, type Problem } from '../problem.ts';

/** The bounds of one filter. */
export const filterLimits = { depth: 5, conditions: 50, steps: 10, characters: 16_384 } as const;

/** Call types; `delete` is missing because it is never filtered. */
const types = ['track', 'identify', 'page', 'screen', 'group', 'alias'] as const;
const closed = { additionalProperties: false };

const patterns = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'an event name of 1 to 200 characters, * for any text',
  }),
  { minItems: 1, maxItems: 100, uniqueItems: true, description: 'a list of 1 to 100 event names' },
);

type Scalar = string | number | boolean | null;
/** Larger numbers cannot be stored exactly. */
const range = { minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const scalar = Type.Unsafe<Scalar>({
  type: ['string', 'number', 'boolean', 'null'],
  maxLength: 500,
  ...range,
  description: 'a text of up to 500 characters, a number within ±(2^53 − 1), true, false or null',
});
const bound = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  maxLength: 500,
  ...range,
  description: 'a number within ±(2^53 − 1), or a text of up to 500 characters',
});

/** V8 searches for a text of up to 250 UTF-16 units in a time that does not depend on its length. */
const part = Type.String({ minLength: 1, maxLength: 100, description: 'a text of 1 to 100 characters' });

const textOperators = { contains: Type.Optional(part), startsWith: Type.Optional(part) };
const comparisons = {
  lessThan: Type.Optional(bound),
  atMost: Type.Optional(bound),
  greaterThan: Type.Optional(bound),
  atLeast: Type.Optional(bound),
};
const operators = {
  equals: Type.Optional(scalar),
  oneOf: Type.Optional(
    Type.Array(scalar, {
      minItems: 1,
      maxItems: 100,
      description: 'a list of 1 to 100 texts, numbers, true, false or null',
    }),
  ),
  ...textOperators,
  exists: Type.Optional(Type.Boolean({ description: 'true or false' })),
  ...comparisons,
};

export type FilterTextOperator = keyof typeof textOperators;
export type FilterComparison = keyof typeof comparisons;

/** A condition on one field, with exactly one of the operators. */
export type FieldCondition = { readonly field: string } & {
  readonly equals?: Scalar;
  readonly oneOf?: readonly Scalar[];
  readonly exists?: boolean;
} & Readonly<Partial<Record<FilterTextOperator, string>>> &
  Readonly<Partial<Record<FilterComparison, string | number>>>;

/** A condition on the webhook body: on one of its fields, or a combination of conditions. */
export type FilterCondition =
  | FieldCondition
  | { readonly all: readonly FilterCondition[] }
  | { readonly any: readonly FilterCondition[] }
  | { readonly not: FilterCondition };

const inner = {
  type: 'object',
  additionalProperties: true,
  description: 'a condition, of the same form as this one',
};
const list = (description: string): TSchema =>
  Type.Unsafe({ type: 'array', minItems: 1, maxItems: filterLimits.conditions, items: inner, description });

/** Whether a condition, or one inside it, has an operator that releases of level 1 do not know. */
export function hasTextOperator(condition: FilterCondition): boolean {
  if ('all' in condition) return condition.all.some(hasTextOperator);
  if ('any' in condition) return condition.any.some(hasTextOperator);
  if ('not' in condition) return hasTextOperator(condition.not);
  return Object.keys(textOperators).some((operator) => operator in condition);
}

/** One condition; those inside it are any objects. */
export const filterConditionSchema = Type.Unsafe<FilterCondition>({
  ...Type.Object(
    {
      all: Type.Optional(list('a list of conditions, all of which must hold')),
      any: Type.Optional(list('a list of conditions, one of which must hold')),
      not: Type.Optional(Type.Unsafe(inner)),
      field: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: 'a path in the webhook body of 1 to 200 characters, such as properties.total',
        }),
      ),
      ...operators,
    },
    closed,
  ),
  title: 'FilterCondition',
  description: 'a condition: a mapping with field and one operator, or with all, any or not',
});

export const filterSchema = Type.Object(
  {
    types: Type.Optional(
      Type.Array(
        Type.Unsafe<(typeof types)[number]>({ enum: [...types], description: `one of ${types.join(', ')}` }),
        {
          minItems: 1,
          uniqueItems: true,
          description: 'a list of call types; delete is always delivered',
        },
      ),
    ),
    events: Type.Optional(
      Type.Object(
        { include: Type.Optional(patterns), exclude: Type.Optional(patterns) },
        { ...closed, description: 'a mapping with include and exclude' },
      ),
    ),
    condition: Type.Optional(filterConditionSchema),
  },
  {
    ...closed,
    title: 'Filter',
    description: 'a mapping with types, events and condition',
    examples: [
      {
        types: ['track'],
        events: { include: ['Order *'] },
        condition: {
          all: [{ field: 'properties.total', atLeast: 100 }, { not: { field: 'userId', equals: 'test' } }],
        },
      },
    ],
  },
);

/** The top-level keys of webhook bodies (docs/specification.md, rule 6.2). */
const bodyKeys = [
  'version',
  'type',
  'userId',
  'anonymousId',
  'timestamp',
  'context',
  'event',
  'properties',
  'traits',
  'name',
  'groupId',
  'Previous ID',
  'User ID',
];

/** The keys of a path; a backslash makes a dot or a backslash part of a key. Undefined where a key is empty. */
export function fieldSteps(path: string): readonly string[] | undefined {
  const steps: string[] = [];
  let step = '';
  for (let at = 0; at < path.length; at += 1) {
    if (path.charAt(at) === '.') {
      steps.push(step);
      step = '';
      continue;
    }
    if (path.charAt(at) === '\\') at += 1;
    if (at === path.length) return undefined;
    step += path.charAt(at);
  }
  steps.push(step);
  return steps.includes('') ? undefined : steps;
}

/**
 * @param filter any value; the schema reports fields of the wrong type
 * @param conditionProblems validates one condition without those inside it
 */
export function filterProblems(
  filter: unknown,
  path: FieldPath,
  conditionProblems: (condition: unknown, path: FieldPath) => Problem[],
): Problem[] {
  const problems: Problem[] = [];
  let conditions = 0;
  const visit = (condition: unknown, at: FieldPath, depth: number): void => {
    if (typeof condition !== 'object' || condition === null) return;
    conditions += 1;
    if (conditions > filterLimits.conditions) return;
    if (depth > filterLimits.depth) {
      problems.push(
        problem(at, `is nested more than ${filterLimits.depth} levels deep; combine conditions of one kind`),
      );
      return;
    }
    // The schema of the destination has validated the outermost one.
    if (depth > 1) problems.push(...conditionProblems(condition, at));
    problems.push(
      ...combinationProblems(condition, at),
      ...fieldProblems(field(condition, 'field'), [...at, 'field']),
    );
    for (const key of ['all', 'any'] as const) {
      for (const [index, one] of items(field(condition, key)).entries())
        visit(one, [...at, key, index], depth + 1);
    }
    visit(field(condition, 'not'), [...at, 'not'], depth + 1);
  };
  visit(field(filter, 'condition'), [...path, 'condition'], 1);
  if (conditions > filterLimits.conditions) {
    problems.push(
      problem(
        [...path, 'condition'],
        `has more than ${filterLimits.conditions} conditions; use oneOf for lists of values`,
      ),
    );
  }
  if (problems.length === 0 && filter !== undefined) {
    const { length } = JSON.stringify(filter);
    if (length > filterLimits.characters) {
      problems.push(
        problem(path, `has ${length} characters as JSON; ${filterLimits.characters} are allowed`),
      );
    }
  }
  return problems;
}

function combinationProblems(condition: object, path: FieldPath): Problem[] {
  const kinds = ['field', 'all', 'any', 'not'].filter((key) => Object.hasOwn(condition, key));
  const used = Object.keys(operators).filter((key) => Object.hasOwn(condition, key));
  if (kinds.length === 0) {
    return used.length > 0
      ? [problem([...path, 'field'], `is missing; ${used.join(', ')} needs the path of a field`)]
      : [problem(path, 'has none of field, all, any and not; set one of them')];
  }
  if (kinds.length > 1)
    return [problem(path, `has ${kinds.join(' and ')}; set one of them, and combine with all`)];
  if (kinds[0] !== 'field') {
    return used.length > 0
      ? [problem(path, `has ${used.join(', ')} without field; move it into a condition of its own`)]
      : [];
  }
  if (used.length === 0)
    return [problem(path, `has no operator; set one of ${Object.keys(operators).join(', ')}`)];
  return used.length > 1
    ? [problem(path, `has ${used.join(' and ')}; set one of them, and combine with all`)]
    : [];
}

function fieldProblems(path: unknown, at: FieldPath): Problem[] {
  if (typeof path !== 'string' || path === '') return [];
  const steps = fieldSteps(path);
  if (steps === undefined) {
    return [problem(at, 'has an empty key, or ends with a backslash; a dot in a key is written as \\.')];
  }
  if (steps.length > filterLimits.steps) {
    return [problem(at, `has ${steps.length} keys; ${filterLimits.steps} are allowed`)];
  }
  const [first = ''] = steps;
  if (bodyKeys.includes(first)) return [];
  const meant = nearestName(first, bodyKeys);
  const hint = meant === undefined ? `known keys are ${bodyKeys.join(', ')}` : `did you mean ${meant}?`;
  return [problem(at, `begins with ${quote(first)}, which is not a key of webhook bodies; ${hint}`)];
}
