/** Makes Grafana's JSON of the short form of a dashboard. */
import { addMatchers } from '../promql.ts';
import { placePanels } from './layout.ts';
import type { Dashboard, LabelVariable, Panel, Query, Thresholds } from './dashboard.ts';

/** The addresses that stand in the rules and dashboards, until an installation replaces them by its own. */
export const placeholders = {
  runbooks: 'https://tailrace.example/runbooks',
  grafana: 'https://grafana.example',
} as const;

const datasource = { type: 'prometheus', uid: '${datasource}' } as const;

/** The variables that select targets, by their labels. */
const selections = [
  { name: 'cluster', title: 'Cluster', label: 'cluster' },
  { name: 'namespace', title: 'Namespace', label: 'namespace' },
  { name: 'release', title: 'Release', label: 'tailrace_release' },
  { name: 'prefix', title: 'Topic prefix', label: 'tailrace_prefix' },
] as const;
const matchers = selections.map(({ name, label }) => `${label}=~"$${name}"`);

/** Recorded series and alerts have no prefix. */
function matchersFor(metric: string): readonly string[] {
  return metric.includes(':') || metric === 'ALERTS' ? matchers.slice(0, -1) : matchers;
}

/** The expression that a panel sends, with the variables of the dashboard. */
export function expressionOf({ expr }: Query): string {
  return addMatchers(expr, matchersFor);
}

function grafanaDashboard(dashboard: Dashboard): object {
  const panels = placePanels(dashboard).map(({ title, panel, ...gridPos }, index) =>
    panel
      ? grafanaPanel(panel, index + 1, gridPos)
      : { id: index + 1, type: 'row', title, collapsed: false, panels: [], gridPos },
  );
  return {
    uid: `tailrace-${dashboard.name}`,
    title: `Tailrace / ${dashboard.title}`,
    description: dashboard.description,
    tags: ['tailrace'],
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    links: [
      {
        type: 'dashboards',
        title: 'Tailrace',
        tags: ['tailrace'],
        asDropdown: false,
        includeVars: true,
        keepTime: true,
        icon: 'external link',
        targetBlank: false,
      },
    ],
    annotations: { list: [] },
    templating: { list: variables(dashboard) },
    panels,
  };
}

function grafanaPanel(panel: Panel, id: number, gridPos: object): object {
  const { title, description, kind, unit, runbook, queries, thresholds, noValue = 'unknown' } = panel;
  const isTable = kind === 'table';
  return {
    id,
    type: { stat: 'stat', lines: 'timeseries', table: 'table' }[kind],
    title,
    description,
    datasource,
    gridPos,
    links: [{ title: 'Runbook', url: `${placeholders.runbooks}/${runbook}.md`, targetBlank: true }],
    targets: queries.map((query, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr: expressionOf(query),
      legendFormat: query.legend ?? title,
      ...(kind === 'lines' ? { range: true } : { instant: true }),
      ...(isTable && { format: 'table' }),
    })),
    fieldConfig: {
      defaults: {
        unit,
        noValue,
        min: 0,
        ...(thresholds && {
          thresholds: { mode: 'absolute', steps: stepsOf(thresholds) },
          color: { mode: 'thresholds' },
        }),
        ...(kind === 'lines' && {
          custom: { lineWidth: 1, fillOpacity: 5, showPoints: 'never', spanNulls: false },
        }),
      },
      overrides: [],
    },
    options: options[kind],
    ...(isTable && { transformations: [{ id: 'organize', options: { excludeByName: { Time: true } } }] }),
  };
}

const options = {
  stat: {
    colorMode: 'background',
    graphMode: 'none',
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
  },
  lines: {
    legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
  table: { showHeader: true, sortBy: [{ displayName: 'Value', desc: true }] },
} as const;

function stepsOf({ good, warning, critical }: Thresholds): object[] {
  const step = (color: string, value: number | null): object => ({ color, value });
  const yellow = (value: number | null): object[] => (warning === undefined ? [] : [step('yellow', value)]);
  return good === 'low'
    ? [step('green', null), ...yellow(warning ?? null), step('red', critical)]
    : [step('red', null), ...yellow(critical), step('green', warning ?? critical)];
}

function variables({ variables: more = [] }: Dashboard): object[] {
  return [
    {
      name: 'datasource',
      label: 'Data source',
      type: 'datasource',
      query: 'prometheus',
      refresh: 1,
      hide: 0,
    },
    // Each has the values of the targets that the ones before it select.
    ...selections.map((selection, index) => {
      const before = index === 0 ? '' : `{${matchers.slice(0, index).join(',')}}`;
      return labelVariable({ ...selection, metric: `tailrace_build_info${before}` });
    }),
    ...more.map(({ metric, ...variable }) =>
      labelVariable({ ...variable, metric: addMatchers(metric, () => matchers) }),
    ),
  ];
}

/** All values by default, also the absent one: without a cluster label on the targets, `.*` still selects them. */
function labelVariable({ name, title, metric, label }: LabelVariable): object {
  const query = `label_values(${metric}, ${label})`;
  return {
    name,
    label: title,
    type: 'query',
    datasource,
    definition: query,
    query: { query, refId: name },
    refresh: 2,
    sort: 1,
    hide: 0,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
    options: [],
  };
}

/** The file of a dashboard. */
export function dashboardText(dashboard: Dashboard): string {
  return `${JSON.stringify(grafanaDashboard(dashboard), null, 2)}\n`;
}
