/** Writes the dashboards for Grafana: `npm run docs:dashboards`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { dashboards, fileOf } from './dashboards/index.ts';
import { dashboardText } from './dashboards/grafana.ts';

for (const dashboard of dashboards) {
  mkdirSync(path.dirname(fileOf(dashboard)), { recursive: true });
  writeFileSync(fileOf(dashboard), dashboardText(dashboard));
}
