/**
 * Metrics with one or more series for each destination, source or partition. There may be tens of thousands of series, so
 * they are not on `/metrics`, and their pages are generated line by line while they are sent (probes/slices.ts).
 */
import {
  specOf,
  type LabelsOf,
  type MetricName,
  type MetricType,
  type NameOf,
  type Page,
} from '@tailrace/metrics';

export interface PageSample<Labels = Readonly<Record<string, string>>> {
  readonly labels: Labels;
  readonly value: number;
  /** A summary has a sum and a count, and no quantiles. A histogram has buckets too. */
  readonly suffix?: '_sum' | '_count' | '_bucket';
}

export interface MetricsPage<On extends Page = Page> {
  /** `samples` is iterated while the page is sent; later counts may or may not be included. */
  add<Name extends NameOf<MetricType, On>>(
    name: Name,
    samples: () => Iterable<PageSample<LabelsOf<Name>>>,
  ): void;
  /** The page in the text format of Prometheus. */
  lines(): Iterable<string>;
}

/** The pages `/metrics/<name>`; empty if the service has no metrics of this kind. */
export interface MetricsPages {
  readonly destinations: MetricsPage<'/metrics/destinations'>;
  readonly sources: MetricsPage<'/metrics/sources'>;
  readonly partitions: MetricsPage<'/metrics/partitions'>;
}

export function createPages(): MetricsPages {
  return { destinations: createPage(), sources: createPage(), partitions: createPage() };
}

export function createPage<On extends Page>(): MetricsPage<On> {
  const metrics: { readonly name: MetricName; readonly samples: () => Iterable<PageSample> }[] = [];
  return {
    add(name, samples) {
      metrics.push({ name, samples: samples as () => Iterable<PageSample> });
    },
    *lines() {
      for (const { name, samples } of metrics) {
        const { type, help } = specOf(name);
        yield `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
        for (const { labels, value, suffix = '' } of samples()) {
          yield `${name}${suffix}${formatLabels(labels)} ${value}\n`;
        }
      }
    },
  };
}

function formatLabels(labels: PageSample['labels']): string {
  let text = '';
  for (const name in labels) {
    text += `${text === '' ? '{' : ','}${name}="${escaped(labels[name] ?? '')}"`;
  }
  return text === '' ? '' : `${text}}`;
}

const toEscape = /[\\\n"]/;

function escaped(value: string): string {
  if (!toEscape.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
