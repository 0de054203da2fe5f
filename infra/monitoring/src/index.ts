export { dashboards, fileOf } from './dashboards/index.ts';
export type { Query } from './dashboards/dashboard.ts';
export { dashboardText, expressionOf, placeholders } from './dashboards/grafana.ts';
