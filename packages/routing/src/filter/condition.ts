/** The conditions of filters, compiled to functions of the webhook body. */
import {
  fieldSteps,
  type FieldCondition,
  type FilterComparison,
  type FilterCondition,
  type FilterTextOperator,
} from '@tailrace/config';
import { isRawNumber } from '@tailrace/events';

/** A rule of a filter: its path, and its text. */
export interface FilterRule {
  /** `types`, `events.exclude` or `condition.all[1]`. */
  readonly path: string;
  /** `properties.total atLeast 100`. */
  readonly text: string;
}

/** The rule that a webhook body does not meet, the innermost that is known; undefined where the condition holds. */
export type CompiledCondition = (document: object) => FilterRule | undefined;

export function compileCondition(condition: FilterCondition, path: string): CompiledCondition {
  const rule: FilterRule = { path, text: describe(condition) };
  if ('all' in condition) {
    const inner = condition.all.map((one, index) => compileCondition(one, `${path}.all[${index}]`));
    return (document) => {
      for (const one of inner) {
        const broken = one(document);
        if (broken) return broken;
      }
      return undefined;
    };
  }
  if ('any' in condition) {
    const inner = condition.any.map((one, index) => compileCondition(one, `${path}.any[${index}]`));
    return (document) => (inner.some((one) => one(document) === undefined) ? undefined : rule);
  }
  if ('not' in condition) {
    const inner = compileCondition(condition.not, `${path}.not`);
    return (document) => (inner(document) === undefined ? rule : undefined);
  }
  const steps = fieldSteps(condition.field) ?? [];
  const holds = compileTest(condition);
  return (document) => (holds(valueAt(document, steps)) ? undefined : rule);
}

/** The value of a field; undefined where there is none. */
type Test = (value: unknown) => boolean;

const comparisons: Readonly<Record<FilterComparison, (a: string | number, b: string | number) => boolean>> = {
  lessThan: (a, b) => a < b,
  atMost: (a, b) => a <= b,
  greaterThan: (a, b) => a > b,
  atLeast: (a, b) => a >= b,
};

const textTests: Readonly<Record<FilterTextOperator, (part: string) => Test>> = {
  contains: (part) => (value) => (typeof value === 'string' || Array.isArray(value)) && value.includes(part),
  startsWith: (part) => (value) => typeof value === 'string' && value.startsWith(part),
};

function compileTest(condition: FieldCondition): Test {
  const { equals, oneOf, exists } = condition;
  if (exists !== undefined) return (value) => (value !== undefined) === exists;
  if (oneOf !== undefined) {
    const wanted: ReadonlySet<unknown> = new Set(oneOf);
    return (value) => wanted.has(value);
  }
  for (const [name, testOf] of Object.entries(textTests)) {
    const part = condition[name as FilterTextOperator];
    if (part !== undefined) return testOf(part);
  }
  for (const [name, compare] of Object.entries(comparisons)) {
    const operand = condition[name as FilterComparison];
    if (operand === undefined) continue;
    const type = typeof operand;
    return (value) => typeof value === type && compare(value as string | number, operand);
  }
  return (value) => value === equals;
}

/**
 * The value at a path: own keys of mappings, and indexes of lists. Numbers that keep their text are rounded to the nearest
 * number, and one that the body cannot hold counts as null, which the body has in its place.
 */
function valueAt(document: object, steps: readonly string[]): unknown {
  let value: unknown = document;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    // These are keys of the representation. They are looked at only here, because the check of a raw number is slow.
    if (step === 'length' && Array.isArray(value)) return undefined;
    if (step === 'rawJSON' && isRawNumber(value)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'object' && isRawNumber(value) ? Number(value.rawJSON) : value;
}

function describe(condition: FilterCondition): string {
  if ('all' in condition) return condition.all.map(describe).join(' and ');
  if ('any' in condition) return `(${condition.any.map(describe).join(' or ')})`;
  if ('not' in condition) return `not (${describe(condition.not)})`;
  const { field, ...operator } = condition;
  return [
    field,
    ...Object.entries(operator).map(([name, operand]) => `${name} ${JSON.stringify(operand)}`),
  ].join(' ');
}
