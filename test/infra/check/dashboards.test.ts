/** The dashboards of infra/chart/files/dashboards, as Grafana reads them. No Grafana has rendered them in a test. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { dashboards, dashboardText, fileOf, placeholders } from '@tailrace/monitoring';
import { Ajv } from 'ajv';
import { fillDurations, readExpression } from '../../support/monitoring/promql.ts';
import { alertRules, annotationsFor } from '../../support/monitoring/rules.ts';
import { runbookNames } from '../../support/monitoring/runbooks.ts';
import { dashboardSchema } from './dashboard-schema.ts';

interface GrafanaPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly links?: readonly { readonly url: string }[];
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}

interface GrafanaDashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly GrafanaPanel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
}

const folder = path.dirname(fileOf({ name: '' }));
const files = globSync('*.json', { cwd: folder }).sort();
const read = (file: string): GrafanaDashboard =>
  JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as GrafanaDashboard;
const all = files.map(read);
const isData = ({ type }: GrafanaPanel): boolean => type !== 'row';

test('the files are what npm run docs:dashboards writes, and no other', () => {
  assert.deepEqual(files, dashboards.map(({ name }) => `${name}.json`).sort());
  for (const dashboard of dashboards) {
    assert.equal(readFileSync(fileOf(dashboard), 'utf8'), dashboardText(dashboard), dashboard.name);
  }
});

test('each file has the form of a dashboard', () => {
  const validate = new Ajv({ allErrors: true, strict: false }).compile(dashboardSchema);
  for (const file of files) {
    validate(read(file));
    assert.deepEqual(validate.errors ?? [], [], file);
  }
});

test('uids, titles and the ids of panels are unique', () => {
  const unique = (values: readonly unknown[]): void => {
    assert.equal(new Set(values).size, values.length, values.join());
  };
  unique(all.map(({ uid }) => uid));
  unique(all.map(({ title }) => title));
  for (const { panels } of all) {
    unique(panels.map(({ id }) => id));
    unique(panels.map(({ title }) => title));
  }
});

describe('a panel', () => {
  for (const { title, panels } of all) {
    for (const panel of panels.filter(isData)) {
      test(`${title}: "${panel.title}" has a description, an existing runbook and the variables in every selector`, () => {
        assert.match(panel.description ?? '', /^[A-Z].+\.$/);
        const [link] = panel.links ?? [];
        const runbook = path.basename(link?.url ?? '', '.md');
        assert.ok(link?.url.startsWith(`${placeholders.runbooks}/`));
        assert.ok(runbookNames().includes(runbook), runbook);
        for (const { expr, datasource } of panel.targets ?? []) {
          assert.equal(datasource.uid, '${datasource}');
          for (const { metric, matchers } of readExpression(fillDurations(expr, '5m')).selectors) {
            const used = matchers.map(({ label, value }) => `${label} ${value}`);
            for (const needed of ['cluster $cluster', 'namespace $namespace', 'tailrace_release $release']) {
              assert.ok(used.includes(needed), `${metric}: ${needed}`);
            }
          }
        }
      });
    }
  }
});

test('panels do not overlap, and fit into the 24 columns', () => {
  for (const { title, panels } of all) {
    const taken = new Set<string>();
    for (const { gridPos } of panels) {
      assert.ok(gridPos.x + gridPos.w <= 24, title);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          assert.ok(!taken.has(`${String(x)},${String(y)}`), `${title}: ${String(x)},${String(y)}`);
          taken.add(`${String(x)},${String(y)}`);
        }
      }
    }
  }
});

test('the first row has no pods, so that a roll-out draws no gaps', () => {
  for (const { title, panels } of all) {
    const second = panels.findIndex(({ type }, index) => index > 0 && type === 'row');
    const first = panels.slice(1, second);
    assert.ok(first.length >= 3, title);
    for (const { targets = [], title: panel } of first) {
      for (const { expr } of targets) {
        const labels = readExpression(fillDurations(expr, '5m')).groupings.map(({ label }) => label);
        assert.ok(!labels.includes('pod') && !labels.includes('instance'), `${title}: ${panel}`);
        assert.match(expr, /\b(sum|max|count|min|topk)\b/, `${title}: ${panel} is aggregated over pods`);
      }
    }
  }
});

test('a rate of events is 0, not "No data", where none happened', () => {
  for (const { title, panels } of all) {
    for (const { targets = [], title: panel } of panels.filter(isData)) {
      for (const { expr } of targets) {
        // Of pods there is a line for each one, from the start: their counters begin at 0.
        if (!/\b(rate|increase)\(/.test(expr) || /by \([^)]*\bpod\b/.test(expr)) continue;
        if (panel === 'Requests to Kafka that succeed') continue;
        assert.match(expr, /or on\(\) (vector|group|0 \*)/, `${title}: ${panel}`);
      }
    }
  }
});

test('each dashboard has variables for data source, cluster, namespace, release and prefix', () => {
  for (const { templating } of all) {
    assert.deepEqual(
      templating.list.slice(0, 5).map(({ name, type }) => `${name} ${type}`),
      ['datasource datasource', 'cluster query', 'namespace query', 'release query', 'prefix query'],
    );
  }
});

test('the dashboard that an alert names exists, and has the variables that the link sets', () => {
  for (const rule of alertRules()) {
    const url = new URL(annotationsFor(rule, { cluster: 'a', namespace: 'b' })['dashboard_url'] ?? '');
    assert.equal(url.origin, placeholders.grafana);
    const dashboard = all.find(({ uid }) => url.pathname === `/d/${uid}`);
    assert.ok(dashboard, url.href);
    for (const name of url.searchParams.keys()) {
      const variables = dashboard.templating.list.map((variable) => `var-${variable.name}`);
      assert.ok(variables.includes(name), `${rule.alert}: ${name}`);
    }
  }
});
