/**
 * Metrics with one or more series for each destination, source or partition. There may be tens of thousands of series, so
 * they are not on `/metrics`, and their pages are generated line by line while they are sent (slices.ts).
 */

export interface PageSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** For a summary, which has a sum and a count and no quantiles. */
  readonly suffix?: '_sum' | '_count';
}

/** All series of one name. */
export interface PageMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'summary';
  /** Iterated while the page is sent; later counts may or may not be included. */
  readonly samples: () => Iterable<PageSample>;
}

export interface MetricsPage {
  add(metric: PageMetric): void;
  /** The page in the text format of Prometheus. */
  lines(): Iterable<string>;
}

const pageNames = ['destinations', 'sources', 'partitions'] as const;

/** The pages `/metrics/<name>`; empty if the service has no metrics of this kind. */
export type MetricsPages = Readonly<Record<(typeof pageNames)[number], MetricsPage>>;

export function createPages(): MetricsPages {
  return Object.fromEntries(pageNames.map((name) => [name, createPage()])) as MetricsPages;
}

function createPage(): MetricsPage {
  const metrics: PageMetric[] = [];
  return {
    add(metric) {
      metrics.push(metric);
    },
    *lines() {
      for (const { name, help, type, samples } of metrics) {
        yield `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
        for (const { labels, value, suffix = '' } of samples()) {
          yield `${name}${suffix}{${formatLabels(labels)}} ${value}\n`;
        }
      }
    },
  };
}

function formatLabels(labels: PageSample['labels']): string {
  let text = '';
  for (const name in labels) {
    text += `${text === '' ? '' : ','}${name}="${escaped(labels[name] ?? '')}"`;
  }
  return text;
}

const toEscape = /[\\\n"]/;

function escaped(value: string): string {
  if (!toEscape.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
