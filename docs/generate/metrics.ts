/**
 * docs/metrics.md: every metric that the services register, found in their source. A metric is a call of `counter`, `gauge`
 * or `histogram`, or an object with `name`, whose name is a literal that begins with `tailrace_`.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

export interface MetricEntry {
  /** `ingest`, or `every service`. */
  readonly service: string;
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

const root = path.join(import.meta.dirname, '..', '..');
const kinds = ['counter', 'gauge', 'histogram', 'summary'];

const shared: Readonly<Record<string, string>> = {
  tailrace_unreadable_batches_total: 'every service',
  tailrace_consumer_lag_records: 'router, delivery',
  tailrace_consumer_lag_max_records: 'router, delivery',
  tailrace_partition_lag_records: 'router, delivery',
};

/** All metrics, by service and name. */
export function findMetrics(): MetricEntry[] {
  const files = globSync(['services/*/src/**/*.ts', 'packages/service/src/**/*.ts'], { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    .sort();
  return files
    .flatMap((file) => metricsOf(file))
    .sort((a, b) => a.service.localeCompare(b.service) || a.name.localeCompare(b.name));
}

function metricsOf(file: string): MetricEntry[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  if (!text.includes("'tailrace_")) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: MetricEntry[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) && /^tailrace_[a-z_]+$/.test(node.text)) {
      const service = shared[node.text] ?? file.split('/')[1] ?? '';
      const entry = entryOf(node, source);
      if (entry) found.push({ service, name: node.text, ...entry });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

type Described = Pick<MetricEntry, 'type' | 'help' | 'labels'>;

function entryOf(name: ts.StringLiteral, source: ts.SourceFile): Described | undefined {
  const { parent } = name;
  if (ts.isCallExpression(parent) && parent.arguments[0] === name) {
    const type = ts.isPropertyAccessExpression(parent.expression)
      ? parent.expression.name.text
      : parent.expression.getText();
    if (!kinds.includes(type)) return undefined;
    const isHelper = !ts.isPropertyAccessExpression(parent.expression);
    const labels = isHelper
      ? [...labelsIn(enclosingFunction(parent), source), ...labelsOfCalled(parent, source)]
      : registeredLabels(parent);
    return { type, help: textOf(parent.arguments[1], source), labels: [...new Set(labels)] };
  }
  if (ts.isPropertyAssignment(parent) && ts.isObjectLiteralExpression(parent.parent)) {
    const property = (key: string): ts.Expression | undefined =>
      parent.parent.properties.find(
        (one): one is ts.PropertyAssignment => ts.isPropertyAssignment(one) && one.name.getText() === key,
      )?.initializer;
    if (parent.name.getText() !== 'name') return undefined;
    return {
      type: textOf(property('type'), source),
      help: textOf(property('help'), source),
      labels: [...new Set(labelsIn(parent.parent, source))],
    };
  }
  return undefined;
}

/** The label names of a registration: a list of texts as argument or as the option `labels`. */
function registeredLabels(call: ts.CallExpression): string[] {
  const lists = call.arguments.flatMap((argument) => {
    if (ts.isArrayLiteralExpression(argument)) return [argument];
    if (!ts.isObjectLiteralExpression(argument)) return [];
    return argument.properties.flatMap((property) =>
      ts.isPropertyAssignment(property) &&
      property.name.getText() === 'labels' &&
      ts.isArrayLiteralExpression(property.initializer)
        ? [property.initializer]
        : [],
    );
  });
  return lists.flatMap(textsIn);
}

function textsIn(node: ts.Node): string[] {
  if (ts.isStringLiteral(node)) return [node.text];
  const texts: string[] = [];
  ts.forEachChild(node, (child) => {
    texts.push(...textsIn(child));
  });
  return texts;
}

/** The keys of every object that is given as `labels` within `node`. */
function labelsIn(node: ts.Node | undefined, source: ts.SourceFile): string[] {
  const keys: string[] = [];
  const visit = (inner: ts.Node): void => {
    if (
      ts.isPropertyAssignment(inner) &&
      inner.name.getText(source) === 'labels' &&
      ts.isObjectLiteralExpression(inner.initializer)
    ) {
      keys.push(
        ...inner.initializer.properties.flatMap(({ name }) =>
          name === undefined ? [] : [name.getText(source)],
        ),
      );
    }
    ts.forEachChild(inner, visit);
  };
  if (node) visit(node);
  return keys;
}

/** The labels in functions and methods of the file that `call` mentions. */
function labelsOfCalled(call: ts.CallExpression, source: ts.SourceFile): string[] {
  const called = new Set<string>();
  const collect = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node !== call) {
      const { expression } = node;
      called.add(
        ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText(source),
      );
    }
    ts.forEachChild(node, collect);
  };
  collect(call);
  const labels: string[] = [];
  const visit = (node: ts.Node): void => {
    const isNamed = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node);
    if (isNamed && node.name !== undefined && called.has(node.name.getText(source))) {
      labels.push(...labelsIn(node, source));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return labels;
}

function enclosingFunction(node: ts.Node): ts.Node {
  let outer = node.parent;
  while (!ts.isSourceFile(outer) && !ts.isFunctionDeclaration(outer)) outer = outer.parent;
  return outer;
}

/** The text of a literal, a template or a constant of the file. */
function textOf(node: ts.Expression | undefined, source: ts.SourceFile): string {
  if (!node) return '';
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.templateSpans.reduce(
      (text, span) => text + textOf(span.expression, source) + span.literal.text,
      node.head.text,
    );
  }
  if (!ts.isIdentifier(node)) return '';
  let value = '';
  const visit = (inner: ts.Node): void => {
    if (ts.isVariableDeclaration(inner) && inner.name.getText(source) === node.text) {
      value = textOf(inner.initializer, source);
    }
    ts.forEachChild(inner, visit);
  };
  visit(source);
  return value;
}

/** The path that serves a metric. */
function pageOf(name: string): string {
  const [, kind] = /^tailrace_(destination|source|partition)_/.exec(name) ?? [];
  return kind === undefined ? '/metrics' : `/metrics/${kind}s`;
}

export function renderMetrics(metrics: readonly MetricEntry[] = findMetrics()): string {
  const services = [...new Set(metrics.map(({ service }) => service))];
  const sections = services.map((service) => {
    const rows = metrics
      .filter((metric) => metric.service === service)
      .map(({ name, type, labels, help }) => {
        const names = labels.map((label) => `\`${label}\``).join(', ');
        return `| \`${name}\` | ${type} | ${names} | \`${pageOf(name)}\` | ${help.replaceAll('|', '\\|')} |`;
      });
    return `## ${service[0]?.toUpperCase() ?? ''}${service.slice(1)}\n\n${[
      '| metric | type | labels | path | meaning |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
    ].join('\n')}\n`;
  });
  return `# Metrics

Served on the metrics port of each service in the Prometheus text format. Every service has all four paths; those without metrics
are empty. Node's own metrics (\`process_*\`, \`nodejs_*\`) are on \`/metrics\` too. How the paths are divided, and why, is in
[packages/service](../packages/service/README.md#metrics).

A histogram has \`_bucket\`, \`_sum\` and \`_count\`; a summary has \`_sum\` and \`_count\`.

<!-- prettier-ignore-start -->

${sections.join('\n')}
<!-- prettier-ignore-end -->

This page is written by \`npm run docs:metrics\`; a test fails if it is out of date.
`;
}
