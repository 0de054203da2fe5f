/**
 * `fields` of a destination: which part of the webhook body it gets, and how. Their schema, and the rules between them. packages/routing
 * applies them.
 */
import Type from 'typebox';
import { fieldSteps, filterLimits } from './filter.ts';
import { field, items, problem, quote, type FieldPath, type Problem } from '../problem.ts';

const closed = { additionalProperties: false };
const path = {
  minLength: 1,
  maxLength: 200,
  description: 'a path in the webhook body of 1 to 200 characters, such as traits.email',
};
const paths = Type.Array(Type.String(path), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'a list of 1 to 100 paths in the webhook body',
});

export const fieldsSchema = Type.Object(
  {
    include: Type.Optional(paths),
    exclude: Type.Optional(paths),
    hash: Type.Optional(paths),
    salt: Type.Optional(Type.String({ maxLength: 200, description: 'a text of up to 200 characters' })),
    rename: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        minProperties: 1,
        maxProperties: 100,
        propertyNames: path,
        additionalProperties: {
          type: 'string',
          minLength: 1,
          maxLength: 200,
          description: 'a key of 1 to 200 characters',
        },
        description: 'a mapping of 1 to 100 paths to new keys',
      }),
    ),
  },
  {
    ...closed,
    minProperties: 1,
    title: 'Fields',
    description: 'a mapping with include or exclude, hash, salt and rename',
    examples: [
      {
        exclude: ['context.ip'],
        hash: ['traits.email'],
        rename: { 'traits.email': 'email_sha256' },
      },
    ],
  },
);

export const sampleSchema = Type.Object(
  {
    percent: Type.Number({ minimum: 0.01, maximum: 100, description: 'a number from 0.01 to 100' }),
    by: Type.Optional(
      Type.Unsafe<'user' | 'event'>({ enum: ['user', 'event'], description: 'user or event' }),
    ),
  },
  { ...closed, title: 'Sample', description: 'a mapping with percent and by' },
);

/** The keys of webhook bodies whose values may be changed. Those of identities, type, event, version and time stay. */
const roots = ['context', 'properties', 'traits', 'name'];

/** @param fields any value; the schema reports fields of the wrong type */
export function fieldsProblems(fields: unknown, at: FieldPath): Problem[] {
  const rename = field(fields, 'rename');
  const renamed = typeof rename === 'object' && rename !== null ? Object.keys(rename) : [];
  const problems = ['include', 'exclude', 'hash'].flatMap((list) =>
    items(field(fields, list)).flatMap((one, index) => pathProblems(one, [...at, list, index])),
  );
  if (field(fields, 'include') !== undefined && field(fields, 'exclude') !== undefined) {
    problems.push(problem(at, 'has include and exclude; set one of them'));
  }
  if (field(fields, 'salt') !== undefined && field(fields, 'hash') === undefined) {
    problems.push(problem([...at, 'salt'], 'is set without hash; remove it'));
  }
  return [...problems, ...renamed.flatMap((one) => renameProblems(one, [...at, 'rename', one]))];
}

function pathProblems(path: unknown, at: FieldPath, about?: 'key'): Problem[] {
  if (typeof path !== 'string' || path === '') return [];
  const steps = fieldSteps(path);
  if (steps === undefined) {
    return [
      problem(at, 'has an empty key, or ends with a backslash; a dot in a key is written as \\.', about),
    ];
  }
  const [first = ''] = steps;
  if (!roots.includes(first)) {
    const rule = `begins with ${quote(first)}, which always stays as it is; paths begin with ${roots.join(', ')}`;
    return [problem(at, rule, about)];
  }
  const { length } = steps;
  return length > filterLimits.steps
    ? [problem(at, `has ${length} keys; ${filterLimits.steps} are allowed`, about)]
    : [];
}

function renameProblems(path: string, at: FieldPath): Problem[] {
  const problems = pathProblems(path, at, 'key');
  const steps = fieldSteps(path) ?? [];
  if (problems.length > 0 || (steps.length > 1 && steps.at(-1) !== '*')) return problems;
  return [problem(at, 'is not the path of one key below context, properties or traits', 'key')];
}
