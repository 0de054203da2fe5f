/** Compares PromQL with the metrics that the services expose, and with the rules that record others. */
import { catalogue, exposedNames, type MetricSpec } from '@tailrace/metrics';
import { readExpression, type Selector } from '../../support/monitoring/promql.ts';
import { recordingRules } from '../../support/monitoring/rules.ts';

/** The labels that the scrape configuration sets on every target. */
export const targetLabels: readonly string[] = [
  'cluster',
  'namespace',
  'pod',
  'instance',
  'job',
  'tailrace_release',
  'tailrace_prefix',
  'tailrace_component',
];
const components = ['ingest', 'router', 'delivery', 'control'];

const exposed = new Map(exposedNames().map(({ name, labels }) => [name, labels]));
const recorded = new Set(recordingRules().map(({ record }) => record));
/** Series that Prometheus itself writes. An alert has the labels of its expression. */
const ofPrometheus = new Map<string, readonly string[]>([
  ['up', []],
  ['ALERTS', ['alertname', 'alertstate', 'severity', 'topic', 'destination_id', 'entry', 'long_window']],
]);

/** Labels of a series besides those of its target; undefined where no such series exists. */
function ownLabelsOf(metric: string): readonly string[] | undefined {
  if (recorded.has(metric)) return labelsOfRecorded(metric);
  return exposed.get(metric) ?? ofPrometheus.get(metric);
}

/** The labels that a recorded expression keeps. */
function labelsOfRecorded(metric: string): readonly string[] {
  const rule = recordingRules().find(({ record }) => record === metric);
  return readExpression(rule?.expr ?? '').groupings.map(({ label }) => label);
}

/** The problems of the names in an expression, in sentences; none if all exist. */
export function unknownIn(expr: string): string[] {
  const { selectors, groupings } = readExpression(expr);
  const known = (metric: string, label: string): boolean =>
    [...targetLabels, ...(ownLabelsOf(metric) ?? [])].includes(label);
  return [
    ...selectors.flatMap((selector) => unknownInSelector(selector, known)),
    ...groupings
      .filter(({ label, metrics }) => !metrics.some((metric) => known(metric, label)))
      .map(({ label, metrics }) => `no metric of ${metrics.join(', ')} has the label ${label}`),
  ];
}

function unknownInSelector(
  { metric, matchers }: Selector,
  known: (metric: string, label: string) => boolean,
): string[] {
  if (!ownLabelsOf(metric)) return [`no service exposes ${metric}`];
  return matchers.flatMap(({ label, operator, value }) => {
    if (!known(metric, label)) return [`${metric} has no label ${label}`];
    // A variable of Grafana stands for any value.
    if (value.includes('$')) return [];
    const values = valuesOf(metric, label);
    const matches = operator.endsWith('~') ? new RegExp(`^(?:${value})$`) : undefined;
    const occurs =
      !values || value === '' || values.some((one) => (matches ? matches.test(one) : one === value));
    return occurs ? [] : [`${metric} never has ${label}="${value}"`];
  });
}

/** The values of a closed set; undefined where they depend on the installation. */
function valuesOf(metric: string, label: string): readonly string[] | undefined {
  if (label === 'tailrace_component') return components;
  const base = metric.replace(/_(bucket|sum|count)$/, '');
  const specs: Readonly<Record<string, MetricSpec>> = catalogue;
  const spec = specs[metric] ?? specs[base];
  if (label === 'le') return spec?.buckets?.map(String);
  const set = spec?.labels?.[label];
  return set && 'values' in set ? set.values : undefined;
}
