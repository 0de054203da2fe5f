/** The short form in which dashboards are written. grafana.ts makes Grafana's JSON of it. */

export interface Dashboard {
  /** The file name and, after `tailrace-`, the uid. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** More variables than data source, cluster, namespace, release and prefix. */
  readonly variables?: readonly LabelVariable[];
  readonly rows: readonly Row[];
}

/** A variable with the values of a label. */
export interface LabelVariable {
  readonly name: string;
  readonly title: string;
  readonly metric: string;
  readonly label: string;
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Panel {
  readonly title: string;
  /** The meaning of the figure, and which value is good. */
  readonly description: string;
  readonly kind: 'stat' | 'lines' | 'table';
  readonly unit: Unit;
  /** The alert whose runbook helps where the figure is bad. */
  readonly runbook: string;
  readonly queries: readonly Query[];
  /** Where the colour changes, for figures. */
  readonly thresholds?: Thresholds;
  /** Shown without a value. Default: `unknown`. A count has no need of it: its query returns 0. */
  readonly noValue?: string;
  /** Of 24 columns. Default: what the kind needs. */
  readonly width?: number;
}

/** Units of Grafana. */
type Unit = 'percentunit' | 'short' | 's' | 'bytes' | 'reqps' | 'ops' | 'dtdurations' | 'none';

export interface Thresholds {
  readonly good: 'low' | 'high';
  readonly warning?: number;
  readonly critical: number;
}

export interface Query {
  /** PromQL without the variables of the dashboard: each selector gets them. `$__rate_interval` and `$__range` may be used. */
  readonly expr: string;
  /** The name of a line: text, with `{{label}}`. */
  readonly legend?: string;
}

/** A panel of one kind and one query. */
export type Single = Omit<Panel, 'kind' | 'queries'> & Pick<Query, 'expr'>;

/** A figure. */
export function stat({ expr, ...panel }: Single): Panel {
  return { ...panel, kind: 'stat', queries: [{ expr }] };
}

/** A count that is 0 where all is well. */
export function problems(panel: Omit<Single, 'unit'>): Panel {
  return stat({ ...panel, unit: 'short', thresholds: { good: 'low', critical: 1 } });
}

/** The lines of one query. */
export function lines({ expr, legend, ...panel }: Single & Required<Query>): Panel {
  return { ...panel, kind: 'lines', queries: [{ expr, legend }] };
}

/** A row for each series that is not 0. */
export function table({ expr, ...panel }: Single): Panel {
  return { noValue: 'none', ...panel, kind: 'table', queries: [{ expr: orZero(expr) }] };
}

interface Rates extends Pick<Panel, 'title' | 'description' | 'runbook'> {
  /** Counters by the name of their line, which may be `{{label}}` for one line for each value. */
  readonly of: Readonly<Record<string, string>>;
}

/** Counters per second. */
export function rates({ of, ...panel }: Rates): Panel {
  return {
    ...panel,
    kind: 'lines',
    unit: 'ops',
    queries: Object.entries(of).map(([legend, metric]) => {
      const label = /\{\{(\w+)\}\}/.exec(legend)?.[1];
      const by = label === undefined ? '' : ` by (${label}) `;
      return { expr: orZero(`sum${by}(rate(${metric}[$__rate_interval]))`), legend };
    }),
  };
}

/** The median and the 99th percentile of a histogram of seconds over all replicas. */
export function percentiles({
  metric,
  matchers,
  ...panel
}: Omit<Panel, 'kind' | 'queries' | 'unit'> & { metric: string; matchers?: string }): Panel {
  const queries = [0.5, 0.99].map((quantile) => ({
    expr: quantileOf(quantile, metric, matchers),
    legend: `p${String(quantile * 100)}`,
  }));
  return { ...panel, kind: 'lines', unit: 's', queries };
}

/** An expression that is 0 where it has no series, because nothing of the kind has happened. */
export function orZero(expr: string): string {
  return `(${expr}) or on() vector(0)`;
}

/** A share of events; 1 where there were no events, and no value where the metric does not exist. */
export function shareOf(part: string, all: string, exists: string): string {
  return `((${part}) / (${all} > 0)) or on() group(${exists})`;
}

/** A quantile of a histogram over all replicas; 0 where nothing was measured. */
export function quantileOf(quantile: number, metric: string, matchers = ''): string {
  return orZero(
    `histogram_quantile(${String(quantile)}, sum by (le) (rate(${metric}_bucket${matchers}[$__rate_interval]))) >= 0`,
  );
}
