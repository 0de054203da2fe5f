/** infra/METRICS.md, generated from the catalogue of packages/metrics. */
import { catalogue, funnel, pageOf, services, type MetricSpec, type Term } from '@tailrace/metrics';
import { table } from './table.ts';

const introduction = `# Metrics

The specification of all metrics. Each service serves them on its metrics port in the Prometheus text format; every service has all four
paths. How the paths are divided, and why, is in [packages/service](../packages/service/README.md#metrics).

- A histogram has \`_bucket\`, \`_sum\` and \`_count\`; a summary has \`_sum\` and \`_count\`.
- Counters and histograms on \`/metrics\` whose labels are all closed sets show every combination that can occur from the start, with 0.
- Durations are in seconds, sizes in bytes. Ages count from the acceptance of an event by ingest, or from the record of a direct producer; a
  negative age, which comes from clocks that differ, counts as 0.

## The funnel

After a drain, over all replicas that have run, these sums are equal. A crash loses the counts of a process, and a delivery that is repeated after a
rebalance counts twice among attempts and dead letters, and once as ended.
`;

const closing = `
This page is generated from \`packages/metrics\`: run \`npm run docs:metrics\` after a change.
`;

export function metricsPage(): string {
  const groups = Map.groupBy(Object.entries<MetricSpec>(catalogue), ([name, spec]) => headingOf(name, spec));
  const sections = Array.from(groups, ([heading, metrics]) => {
    const rows = metrics.map(([name, spec]) => [
      `\`${name}\``,
      spec.type,
      spec.unit,
      labelsOf(spec),
      `\`${pageOf(spec)}\``,
      meaningOf(spec),
    ]);
    return `## ${heading}\n\n${table(['metric', 'type', 'unit', 'labels', 'path', 'meaning'], rows)}`;
  });
  const equations = funnel.map(({ service, unit, left, right }) => [
    service,
    unit,
    [left, right].map((side) => side.map(shownTerm).join(' + ')).join(' = '),
  ]);
  return [introduction, table(['service', 'unit', 'equation'], equations), ...sections].join('\n') + closing;
}

function shownTerm({ name, labels = {} }: Term): string {
  const selected = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return selected.length > 0 ? `\`${name}{${selected.join(',')}}\`` : `\`${name}\``;
}

function headingOf(name: string, { services: having }: MetricSpec): string {
  if (!name.startsWith('tailrace_')) return 'Node and process';
  if (having.length === services.length) return 'Every service';
  return having.map((service) => `${service.charAt(0).toUpperCase()}${service.slice(1)}`).join(' and ');
}

function labelsOf({ labels = {} }: MetricSpec): string {
  return Object.entries(labels)
    .map(([name, label]) => {
      const bound = 'bound' in label ? label.bound : valuesOf(label.values);
      return `\`${name}\`: ${bound}`;
    })
    .join('; ');
}

/** The codes of errors have a page of their own. */
function valuesOf(values: readonly string[]): string {
  if (values.length > 40) return 'the codes of [errors](../docs/errors.md)';
  return values.map((value) => (value === '' ? 'empty' : `\`${value}\``)).join(', ');
}

function meaningOf({ help, buckets }: MetricSpec): string {
  const text = help.replaceAll('|', '\\|');
  return buckets ? `${text} Buckets: ${buckets.join(', ')}.` : text;
}
