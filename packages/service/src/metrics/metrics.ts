/** The Prometheus metrics of one process: those of the service, of Node and of the process. */
import { catalogue, firstSeries, labelNamesOf, specOf, type LabelsOf, type NameOf } from '@tailrace/metrics';
import { collectDefaultMetrics, Counter as PromCounter, Gauge, Registry } from 'prom-client';
import { Histogram } from './histogram.ts';
import { createPage, createPages, type MetricsPages } from './page.ts';

/** Type, labels, buckets and help of a metric are in the catalogue (packages/metrics). */
export interface Metrics {
  /** `read`, called at each scrape, returns all values. Without it, the caller increments the counter. */
  counter<Name extends NameOf<'counter'>>(name: Name, read?: Read<Name>): Counter<Name>;
  /** `read` is called at each scrape. The gauge is absent where it returns undefined. */
  gauge<Name extends NameOf<'gauge'>>(name: Name, read: () => ReturnType<Read<Name>> | undefined): void;
  histogram<Name extends NameOf<'histogram'>>(name: Name): Histogram<LabelsOf<Name>>;
  /** The pages with metrics for each destination, source or partition. */
  readonly pages: MetricsPages;
  readonly contentType: string;
  /** The text of a scrape of `/metrics`. */
  expose(): Promise<string>;
}

/** The values of all series, or the value of a metric without labels. Series of closed sets that are left out are 0. */
type Read<Name extends NameOf<'counter' | 'gauge'>> = () => number | Iterable<Sample<LabelsOf<Name>>>;

/** One value of a counter or gauge with labels. */
interface Sample<Labels> {
  readonly labels: Labels;
  readonly value: number;
}

export type Counter<Name extends NameOf<'counter'>> = keyof LabelsOf<Name> extends never
  ? { inc(by?: number): void }
  : { inc(labels: LabelsOf<Name>, by?: number): void };

/** Creates a separate registry, so that two services in one test do not share counts. */
export function createMetrics(options: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.processMetrics ?? true) collectRuntimeMetrics(registry);
  const histograms = createPage<'/metrics'>();
  const describe = (name: NameOf<'counter' | 'gauge'>) => {
    const spec = specOf(name);
    return { registers: [registry], name, help: spec.help, labelNames: labelNamesOf(spec) };
  };
  return {
    counter(name, read) {
      const first = firstSeries(specOf(name));
      const counter = new PromCounter({
        ...describe(name),
        ...(read && {
          collect() {
            this.reset();
            startAt0(this);
            const found = read();
            if (typeof found === 'number') this.inc(found);
            else for (const { labels, value } of found) this.inc(labels, value);
          },
        }),
      });
      const startAt0 = (counter: PromCounter): void => {
        for (const labels of first) counter.inc(labels, 0);
      };
      startAt0(counter);
      return counter;
    },
    gauge(name, read) {
      new Gauge({
        ...describe(name),
        collect() {
          const found = read();
          this.reset();
          if (found === undefined) this.remove();
          else if (typeof found === 'number') this.set(found);
          else for (const { labels, value } of found) this.set(labels, value);
        },
      });
    },
    histogram<Name extends NameOf<'histogram'>>(name: Name) {
      const spec = specOf(name);
      const first = firstSeries(spec) as readonly LabelsOf<Name>[];
      const histogram = new Histogram<LabelsOf<Name>>(spec.buckets ?? [], first);
      histograms.add(name, () => histogram.samples() as Iterable<never>);
      return histogram;
    },
    pages: createPages(),
    contentType: registry.contentType,
    expose: async () => (await registry.metrics()) + Array.from(histograms.lines()).join(''),
  };
}

/** Leaves out metrics of prom-client whose names or first values break rules of Prometheus. */
function collectRuntimeMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (!Object.hasOwn(catalogue, name)) registry.removeSingleMetric(name);
  }
}
