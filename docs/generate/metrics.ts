/** infra/METRICS.md, generated from the catalogue of packages/metrics. */
import { catalogue, funnel, labelNamesOf, services, type MetricSpec, type Term } from '@tailrace/metrics';

const introduction = `# Metrics

The specification of all metrics, which every service serves on its metrics port in the Prometheus text format.
[packages/service](../packages/service/README.md#metrics) explains the paths. This page is generated from \`packages/metrics\`: run
\`npm run docs:metrics\` after a change.

- **Paths**: \`tailrace_destination_…\` is on \`/metrics/destinations\`, \`tailrace_source_…\` on \`/metrics/sources\`, \`tailrace_partition_…\` on
  \`/metrics/partitions\`, and everything else on \`/metrics\`.
- **Units** are in the name, or in brackets after the type. Labels are in braces; those that a section shares are explained at its beginning. Buckets
  are in seconds.
- **First values**: a counter or histogram on \`/metrics\` whose labels are all closed sets shows every possible combination from the start, with 0.
- **Ages** count from the acceptance of an event by ingest, or from the record of a direct producer. A negative age, which comes from clocks
  that differ, counts as 0.

## The funnel

After a drain, over all replicas that have run, these sums are equal. A crash loses the counts of a process. A delivery that is repeated after a
rebalance counts twice among attempts and dead letters, and once as ended.
`;

export function metricsPage(): string {
  const groups = Map.groupBy(Object.entries<MetricSpec>(catalogue), ([name, spec]) => headingOf(name, spec));
  const explained = new Explained();
  const sections = Array.from(groups, ([heading, metrics]) => section(heading, metrics, explained));
  const equations = funnel.map(({ service, unit, left, right }) => {
    const equation = [left, right].map((side) => side.map(shownTerm).join(' + ')).join(' = ');
    return `- ${service}, ${unit}: ${equation}\n`;
  });
  return [introduction, equations.join(''), ...sections].join('\n');
}

/** What the page has explained already, by the metric where it did. */
class Explained {
  readonly #metrics = new Map<string, string>();

  /** `text`, or the earlier metric that has the same. */
  at(metric: string, subject: string, text: string): string {
    const key = `${subject}: ${text}`;
    const earlier = this.#metrics.get(key);
    if (earlier !== undefined && text.split(' ').length > 3) return `as \`${earlier}\``;
    this.#metrics.set(key, metric);
    return text;
  }
}

type Named = readonly [name: string, spec: MetricSpec];

function section(heading: string, metrics: readonly Named[], explained: Explained): string {
  const shared = sharedLabels(metrics);
  if (heading === runtime) return `## ${heading}\n\n${runtimeList(metrics)}`;
  const items = metrics.map(([name, spec]) => {
    const type = name.includes(spec.unit) ? spec.type : `${spec.type}, ${spec.unit}`;
    return `- \`${name}${braces(spec)}\` (${type}): ${meaningOf(name, spec, { shared, explained })}\n`;
  });
  const labels = Array.from(shared, ([label, values]) => `\`${label}\`: ${values}.\n`);
  return [`## ${heading}\n`, ...(labels.length > 0 ? [labels.join('')] : []), items.join('')].join('\n');
}

const runtime = 'Node and process';

/** The client of Prometheus names and describes these; their names say what they are. */
function runtimeList(metrics: readonly Named[]): string {
  const byType = Map.groupBy(metrics, ([, { type }]) => type);
  const lists = Array.from(byType, ([type, group]) => {
    const names = group.map(([name, spec]) => `\`${name}${braces(spec)}\``);
    return `- ${type}: ${names.join(', ')}\n`;
  });
  const labels = Map.groupBy(
    metrics.flatMap(([, spec]) => labelsOf(spec)),
    ([, values]) => values,
  );
  const meanings = Array.from(labels, ([values, group]) => {
    const names = new Set(group.map(([label]) => `\`${label}\``));
    return `- ${[...names].join(', ')}: ${values}\n`;
  });
  const buckets = metrics.flatMap(([name, spec]) =>
    spec.buckets ? [`- buckets of \`${name}\`: ${spec.buckets.join(', ')}\n`] : [],
  );
  const introduced = ['Those of prom-client, with its help:\n\n', ...lists];
  return [...introduced, '\nTheir labels and buckets:\n\n', ...meanings, ...buckets].join('');
}

/** Labels that several metrics of a section have, with the same values in all of them. */
function sharedLabels(metrics: readonly Named[]): ReadonlyMap<string, string> {
  const all = metrics.flatMap(([, spec]) => labelsOf(spec));
  const byLabel = Map.groupBy(all, ([label]) => label);
  const shared = [...byLabel.values()].filter(
    (uses) => uses.length > 1 && new Set(uses.map(([, values]) => values)).size === 1,
  );
  return new Map(shared.flatMap((uses) => uses.slice(0, 1)));
}

function braces(spec: MetricSpec): string {
  const names = labelNamesOf(spec);
  return names.length > 0 ? `{${names.join(',')}}` : '';
}

function shownTerm({ name, labels = {} }: Term): string {
  const selected = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return selected.length > 0 ? `\`${name}{${selected.join(',')}}\`` : `\`${name}\``;
}

function headingOf(name: string, { services: having }: MetricSpec): string {
  if (!name.startsWith('tailrace_')) return runtime;
  if (having.length === services.length) return 'Every service';
  return having.map((service) => `${service.charAt(0).toUpperCase()}${service.slice(1)}`).join(' and ');
}

function labelsOf({ labels = {} }: MetricSpec): (readonly [label: string, values: string])[] {
  return Object.entries(labels).map(([name, label]) => [
    name,
    'bound' in label ? label.bound : valuesOf(label.values),
  ]);
}

/** The codes of errors have a page of their own. */
function valuesOf(values: readonly string[]): string {
  if (values.length > 40) return 'the codes of [errors](../docs/errors.md)';
  return values.map((value) => (value === '' ? 'empty' : `\`${value}\``)).join(', ');
}

interface Context {
  readonly shared: ReadonlyMap<string, string>;
  readonly explained: Explained;
}

function meaningOf(name: string, spec: MetricSpec, { shared, explained }: Context): string {
  const labels = labelsOf(spec)
    .filter(([label]) => !shared.has(label))
    .map(([label, values]) => `\`${label}\`: ${explained.at(name, label, values)}.`);
  const buckets = spec.buckets && explained.at(name, 'buckets', spec.buckets.join(', '));
  return [spec.help, ...(buckets === undefined ? [] : [`Buckets: ${buckets}.`]), ...labels].join(' ');
}
