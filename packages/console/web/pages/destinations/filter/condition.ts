/**
 * A condition as the builder shows it: groups and tests, each of which may be negated. Other conditions, such as a negated negation,
 * stay JSON. `conditionOf` gives back what `nodeOf` has read.
 */

export type Scalar = string | number | boolean | null;
export type Value = Scalar | readonly Scalar[];

export const operators = [
  'equals',
  'oneOf',
  'contains',
  'startsWith',
  'exists',
  'missing',
  'lessThan',
  'atMost',
  'greaterThan',
  'atLeast',
] as const;
export type Operator = (typeof operators)[number];

export interface Test {
  readonly kind: 'test';
  readonly isNegated: boolean;
  readonly field: string;
  readonly operator: Operator;
  /** A list with `oneOf`; without a meaning with `exists` and `missing`. */
  readonly value: Value;
}

export interface Group {
  readonly kind: 'group';
  readonly isNegated: boolean;
  readonly of: 'all' | 'any';
  readonly items: readonly Node[];
}

export type Node = Test | Group;
export type Condition = Readonly<Record<string, unknown>>;

export const newTest: Test = { kind: 'test', isNegated: false, field: '', operator: 'equals', value: '' };

/** Undefined for a condition that the builder cannot show. */
export function nodeOf(condition: unknown, isNegated = false): Node | undefined {
  if (!isMapping(condition)) return undefined;
  const [[name, value] = ['', undefined], second, ...more] = Object.entries(condition);
  if (second === undefined) {
    if (name === 'not') return isNegated ? undefined : nodeOf(value, true);
    if ((name !== 'all' && name !== 'any') || !Array.isArray(value) || value.length === 0) return undefined;
    const items = value.map((one) => nodeOf(one)).filter((one) => one !== undefined);
    return items.length === value.length ? { kind: 'group', isNegated, of: name, items } : undefined;
  }
  const { field, ...rest } = condition;
  const [[operator, operand] = ['', undefined]] = Object.entries(rest);
  if (typeof field !== 'string' || more.length > 0) return undefined;
  const test = { kind: 'test', isNegated, field } as const;
  if (operator === 'exists' && typeof operand === 'boolean') {
    return { ...test, operator: operand ? 'exists' : 'missing', value: '' };
  }
  if (operator === 'oneOf' && Array.isArray(operand)) {
    return operand.every(isScalar) ? { ...test, operator, value: operand } : undefined;
  }
  if (operator === 'equals' && isScalar(operand)) return { ...test, operator, value: operand };
  if (isText(operator) && typeof operand === 'string') return { ...test, operator, value: operand };
  const isBound = typeof operand === 'string' || typeof operand === 'number';
  return isComparison(operator) && isBound ? { ...test, operator, value: operand } : undefined;
}

export function conditionOf(node: Node): Condition {
  if (node.isNegated) return { not: conditionOf({ ...node, isNegated: false }) };
  if (node.kind === 'group') return { [node.of]: node.items.map(conditionOf) };
  const { field, operator, value } = node;
  if (operator === 'exists' || operator === 'missing') return { field, exists: operator === 'exists' };
  return { field, [operator]: value };
}

/** The test with another operator, and its value in the form that this one needs. */
export function withOperator(test: Test, operator: Operator): Test {
  const [first = ''] = Array.isArray(test.value) ? (test.value as readonly Scalar[]) : [test.value as Scalar];
  if (operator === 'oneOf') return { ...test, operator, value: [first] };
  const isKept =
    typeof first === 'string' || (isComparison(operator) ? typeof first === 'number' : !isText(operator));
  return { ...test, operator, value: isKept ? first : String(first) };
}

/** The value of typed text: a number, true, false, null, a quoted text, and otherwise the text itself. */
export function scalarOf(typed: string): Scalar {
  try {
    const value: unknown = JSON.parse(typed);
    if (isScalar(value)) return value;
  } catch {
    // It is a text.
  }
  return typed;
}

/** The values of typed text, in the form that the operator needs. */
export function valuesOf(typed: string, operator: Operator): Scalar[] {
  if (operator === 'oneOf') return scalarsOf(typed);
  const value = scalarOf(typed);
  return [isText(operator) && typeof value !== 'string' ? typed : value];
}

/** The text that {@link scalarOf} reads as this value. */
export function typedOf(value: Scalar): string {
  if (typeof value !== 'string') return String(value);
  return scalarOf(value) === value && !value.includes('\n') ? value : JSON.stringify(value);
}

/** A value in each line; an empty text stands in quotes. */
export function scalarsOf(typed: string): Scalar[] {
  return typed
    .split('\n')
    .filter((line) => line !== '')
    .map(scalarOf);
}

export function linesOf(values: readonly Scalar[]): string {
  return values.map((value) => (value === '' ? '""' : typedOf(value))).join('\n');
}

/** The paths of the values in a call, for suggestions. */
export function pathsIn(value: unknown, most = 100): string[] {
  const paths: string[] = [];
  const visit = (inner: unknown, path: string): void => {
    if (paths.length >= most) return;
    if (path !== '') paths.push(path);
    if (!isMapping(inner)) return;
    for (const [key, one] of Object.entries(inner)) {
      const step = key.replaceAll(/[\\.]/g, '\\$&');
      visit(one, path === '' ? step : `${path}.${step}`);
    }
  };
  visit(value, '');
  return paths;
}

function isComparison(operator: string): operator is 'lessThan' | 'atMost' | 'greaterThan' | 'atLeast' {
  return ['lessThan', 'atMost', 'greaterThan', 'atLeast'].includes(operator);
}

/** Whether its value is always a text. */
function isText(operator: string): operator is 'contains' | 'startsWith' {
  return operator === 'contains' || operator === 'startsWith';
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

function isMapping(value: unknown): value is Condition {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
