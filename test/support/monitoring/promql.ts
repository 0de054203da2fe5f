/** Reads PromQL expressions with the grammar of Prometheus itself. */
import type { SyntaxNode, SyntaxNodeRef } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly LabelMatcher[];
}

export interface LabelMatcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** The names in an expression. */
export interface Expression {
  readonly selectors: readonly Selector[];
  /** The labels of `by`, `without`, `on`, `ignoring` and `group_left`, each with the metrics that they apply to. */
  readonly groupings: readonly { readonly label: string; readonly metrics: readonly string[] }[];
}

/** @throws Error that quotes the expression, if it is not PromQL */
export function readExpression(expr: string): Expression {
  const tree = parser.parse(expr);
  const selectors: Selector[] = [];
  const groupings: Expression['groupings'][number][] = [];
  tree.iterate({
    enter: (node) => {
      if (node.type.isError) throw new Error(`not PromQL at ${String(node.from)}: ${expr}`);
      if (node.name === 'VectorSelector') selectors.push(selectorAt(node.node, expr));
      if (node.name === 'GroupingLabels') groupings.push(...groupingsAt(node, expr));
    },
  });
  return { selectors, groupings };
}

function selectorAt(node: SyntaxNode, expr: string): Selector {
  const identifier = node.getChild('Identifier');
  const matchers = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map(
    (matcher): LabelMatcher => ({
      label: textOf(matcher.getChild('LabelName'), expr),
      operator: textOf(matcher.getChild('MatchOp'), expr),
      value: unquoted(textOf(matcher.getChild('StringLiteral'), expr)),
    }),
  );
  return { metric: textOf(identifier, expr), matchers };
}

function groupingsAt(node: SyntaxNodeRef, expr: string): Expression['groupings'] {
  // By and without apply to the aggregated expression, on and ignoring to both sides.
  let scope = node.node.parent;
  while (scope && scope.name !== 'AggregateExpr' && scope.name !== 'BinaryExpr') scope = scope.parent;
  const metrics: string[] = [];
  scope?.cursor().iterate((inner) => {
    if (inner.name === 'VectorSelector') metrics.push(textOf(inner.node.getChild('Identifier'), expr));
  });
  return node.node.getChildren('LabelName').map((label) => ({ label: textOf(label, expr), metrics }));
}

function textOf(node: SyntaxNode | null, expr: string): string {
  return node ? expr.slice(node.from, node.to) : '';
}

function unquoted(literal: string): string {
  return literal.startsWith("'") || literal.startsWith('`')
    ? literal.slice(1, -1)
    : (JSON.parse(literal) as string);
}

/** Puts a duration in place of those that Grafana fills in. */
export function fillDurations(expr: string, duration: string): string {
  return expr.replaceAll(/\$__(rate_interval|range)\b/g, duration);
}

/**
 * The same expression for a test that cannot wait: durations of ranges, subqueries and offsets are divided by `factor`, and so are
 * the seconds that a gauge of seconds is compared to. Shares and numbers of events stay.
 */
export function scaleExpression(expr: string, factor: number): string {
  const edits: Edit[] = [];
  parser.parse(expr).iterate({
    enter: (node) => {
      if (node.name === 'NumberDurationLiteralInDurationContext') {
        edits.push({
          from: node.from,
          to: node.to,
          text: scaleDuration(expr.slice(node.from, node.to), factor),
        });
      }
      if (node.name === 'BinaryExpr') {
        const seconds = comparedSeconds(node.node, expr);
        if (seconds) edits.push({ ...seconds, text: String(seconds.value / factor) });
      }
    },
  });
  return applyEdits(expr, edits);
}

/** The number on the right of a comparison whose left side is a gauge of seconds, aggregated or not. */
function comparedSeconds(
  node: SyntaxNode,
  expr: string,
): { from: number; to: number; value: number } | undefined {
  const [left, right] = [node.firstChild, node.lastChild];
  const compares = ['Gtr', 'Lss', 'Gte', 'Lte'].some((operator) => node.getChild(operator));
  if (!compares || !left || right?.name !== 'NumberDurationLiteral') return undefined;
  const { selectors } = readExpression(expr.slice(left.from, left.to));
  const derived = /\b\w+_over_time\(|\b(?:deriv|rate|increase|delta|changes)\(/.test(
    expr.slice(left.from, left.to),
  );
  const isSeconds = selectors.length === 1 && (selectors[0]?.metric.endsWith('_seconds') ?? false);
  const value = Number(expr.slice(right.from, right.to));
  return isSeconds && !derived && value > 0 ? { from: right.from, to: right.to, value } : undefined;
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** A duration of Prometheus, such as `10m`, divided by `factor`; at least a millisecond. */
export function scaleDuration(duration: string, factor: number): string {
  const [, count = '', unit = ''] = /^(\d+)([smhdw])$/.exec(duration) ?? [];
  const seconds = secondsOf[unit];
  if (seconds === undefined) throw new Error(`not a duration: ${duration}`);
  return `${String(Math.max(1, Math.round((Number(count) * seconds * 1_000) / factor)))}ms`;
}

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((edited, { from, to, text: put }) => edited.slice(0, from) + put + edited.slice(to), text);
}
