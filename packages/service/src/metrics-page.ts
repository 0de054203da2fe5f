/**
 * Metrics with a series or more for each destination, source or partition. There may be tens of thousands of those, so
 * they are not on `/metrics`, and a page of them is made a line at a time while it is sent (slices.ts).
 */

export interface PageSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Of a summary, which has these two and no quantiles. */
  readonly suffix?: '_sum' | '_count';
}

/** All series of one name. */
export interface PageMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'summary';
  /** Runs while the page is sent: what is counted meanwhile may be in it or not. */
  readonly samples: () => Iterable<PageSample>;
}

export interface MetricsPage {
  add(metric: PageMetric): void;
  /** The page in the text format of Prometheus. */
  lines(): Iterable<string>;
}

const pageNames = ['destinations', 'sources', 'partitions'] as const;

/** `/metrics/<name>` each; empty where the service counts nothing of the kind. */
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
