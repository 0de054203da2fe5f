/** All metrics that the services expose. infra/METRICS.md is generated from this catalogue, and rules and dashboards are held to it. */
import { controlMetrics } from './catalogue/control.ts';
import { deliveryMetrics } from './catalogue/delivery.ts';
import { destinationMetrics } from './catalogue/destinations.ts';
import { ingestMetrics } from './catalogue/ingest.ts';
import { kafkaMetrics } from './catalogue/kafka.ts';
import { processMetrics } from './catalogue/process.ts';
import { routerMetrics } from './catalogue/router.ts';
import { runtimeMetrics } from './catalogue/runtime.ts';
import type { MetricSpec, MetricType, Page } from './metric.ts';

export const catalogue = {
  ...processMetrics,
  ...kafkaMetrics,
  ...ingestMetrics,
  ...routerMetrics,
  ...deliveryMetrics,
  ...destinationMetrics,
  ...controlMetrics,
  ...runtimeMetrics,
};

type Catalogue = typeof catalogue;
export type MetricName = keyof Catalogue;

/** The names of the metrics of a type that are on a page. */
export type NameOf<Type extends MetricType, On extends Page = '/metrics'> = {
  [Name in MetricName]: Catalogue[Name] extends { readonly type: Type }
    ? PageOf<Name> extends On
      ? Name
      : never
    : never;
}[MetricName];

type PageOf<Name extends MetricName> = Catalogue[Name] extends { readonly page: infer On extends Page }
  ? On
  : '/metrics';

/** The labels of a metric. A label of a closed set has only the values of that set. */
export type LabelsOf<Name extends MetricName> = Catalogue[Name] extends { readonly labels: infer Labels }
  ? { readonly [Label in keyof Labels]: ValueOf<Labels[Label]> }
  : object;

type ValueOf<Label> = Label extends { readonly values: readonly (infer Value extends string)[] }
  ? Value
  : string;

export function specOf(name: MetricName): MetricSpec {
  return catalogue[name];
}

export function pageOf(spec: MetricSpec): Page {
  return spec.page ?? '/metrics';
}

export function labelNamesOf(spec: MetricSpec): string[] {
  return Object.keys(spec.labels ?? {});
}

/** The series of a counter or histogram that exist from the start, with 0. None where a label depends on the installation. */
export function firstSeries(spec: MetricSpec): readonly Readonly<Record<string, string>>[] {
  if (spec.combinations) return spec.combinations;
  let series: readonly Readonly<Record<string, string>>[] = [{}];
  for (const [name, label] of Object.entries(spec.labels ?? {})) {
    if (!('values' in label)) return [];
    series = series.flatMap((labels) => label.values.map((value) => ({ ...labels, [name]: value })));
  }
  return series;
}

/** A name as it appears in a scrape, and its labels. */
export interface ExposedName {
  readonly name: string;
  readonly labels: readonly string[];
}

/** All names of a scrape: a histogram has `_bucket`, `_sum` and `_count`, a summary has `_sum` and `_count`. */
export function exposedNames(): ExposedName[] {
  return Object.entries<MetricSpec>(catalogue).flatMap(([name, spec]) => {
    const labels = labelNamesOf(spec);
    const sumAndCount = ['_sum', '_count'].map((suffix) => ({ name: `${name}${suffix}`, labels }));
    switch (spec.type) {
      case 'counter':
      case 'gauge':
        return [{ name, labels }];
      case 'summary':
        return sumAndCount;
      case 'histogram':
        return [{ name: `${name}_bucket`, labels: [...labels, 'le'] }, ...sumAndCount];
    }
  });
}
