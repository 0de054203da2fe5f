/** The description of one metric, from which it is registered, documented and tested. */

export type Service = 'ingest' | 'router' | 'delivery' | 'control';

export const services: readonly Service[] = ['ingest', 'router', 'delivery', 'control'];

/** The path of the metrics port that serves a metric. */
export type Page = '/metrics' | '/metrics/destinations' | '/metrics/sources' | '/metrics/partitions';

export type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary';

/** A label whose values are all known here. */
interface ClosedLabel<Value extends string = string> {
  readonly values: readonly Value[];
}

/** A label whose values depend on the installation. `bound` says in words how many there can be. */
interface BoundedLabel {
  readonly bound: string;
}

export interface MetricSpec {
  readonly type: MetricType;
  /** A base unit of Prometheus, or the things that are counted, in the plural. */
  readonly unit: string;
  readonly labels?: Readonly<Record<string, ClosedLabel | BoundedLabel>>;
  /**
   * The combinations of labels that can occur, where not every combination can. A counter or histogram shows them from the
   * start, with 0: without a first value, Prometheus cannot see the first increase.
   */
  readonly combinations?: readonly Readonly<Record<string, string>>[];
  /** The upper bounds of a histogram. */
  readonly buckets?: readonly number[];
  readonly services: readonly Service[];
  /** Default: `/metrics`. */
  readonly page?: Page;
  /** One or two full sentences. */
  readonly help: string;
}

/** Buckets in seconds. */
export const buckets = {
  /** Work inside one process and exchanges with a broker: 1 ms to 10 s. */
  request: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  /** Requests to a broker, of every kind: few, because there is a histogram for each kind. */
  exchange: [0.005, 0.025, 0.1, 0.5, 1, 5, 10],
  /**
   * Ages since the acceptance of an event. 8 ms is the goal of an unloaded pipeline, 30 s the objective for the first attempt
   * and 4 h the retry window.
   */
  age: [
    0.005, 0.008, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 300, 1_800, 3_600, 7_200, 14_400,
  ],
} as const;

type Details = Omit<MetricSpec, 'type' | 'unit' | 'services' | 'page'>;

const ofType =
  <const Type extends MetricType>(type: Type) =>
  <const Named extends Details>(unit: string, details: Named) => ({ type, unit, ...details });

export const counter = ofType('counter');
export const gauge = ofType('gauge');
export const histogram = ofType('histogram');
export const summary = ofType('summary');

/** The metrics that the same services have on the same page. */
export function metricsOf<
  const Shared extends Pick<MetricSpec, 'services' | 'page'>,
  const Specs extends Readonly<Record<string, Omit<MetricSpec, 'services'>>>,
>(shared: Shared, specs: Specs): { readonly [Name in keyof Specs]: Shared & Specs[Name] } {
  const entries = Object.entries(specs).map(([name, spec]) => [name, { ...shared, ...spec }]);
  return Object.fromEntries(entries) as { readonly [Name in keyof Specs]: Shared & Specs[Name] };
}
