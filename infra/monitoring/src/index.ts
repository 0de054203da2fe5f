export { dashboards, fileOf } from './dashboards/index.ts';
export type { Dashboard, Panel, Query } from './dashboards/dashboard.ts';
export { dashboardText, expressionOf, placeholders } from './dashboards/grafana.ts';
export {
  fillDurations,
  readExpression,
  scaleDuration,
  scaleExpression,
  type Expression,
  type Selector,
} from './promql.ts';
