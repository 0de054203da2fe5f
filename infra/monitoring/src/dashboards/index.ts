/** All dashboards, and where their JSON is for the chart and compose. */
import path from 'node:path';
import type { Dashboard } from './dashboard.ts';
import { destinations } from './destinations.ts';
import { overview } from './overview.ts';
import { pipeline } from './pipeline.ts';
import { runtime } from './runtime.ts';

export const dashboards: readonly Dashboard[] = [overview, destinations, pipeline, runtime];

export function fileOf({ name }: Pick<Dashboard, 'name'>): string {
  return path.join(import.meta.dirname, `../../../chart/files/dashboards/${name}.json`);
}
