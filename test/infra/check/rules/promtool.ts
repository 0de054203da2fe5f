/** Runs scenarios with `promtool test rules`: series in, alerts out. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { annotationsFor, ruleFiles, type AlertRule } from '../../../support/monitoring/rules.ts';
import { rarelyCollecting } from '../../../support/tools/command.ts';
import { toolPath } from '../../../support/tools/tools.ts';
import type { SeriesTimelines } from './timeline.ts';

export interface Scenario {
  readonly title: string;
  readonly minutes: number;
  /** Minutes between two scrapes. Default: 1. */
  readonly everyMinutes?: number;
  /** Minutes between two evaluations. Default: those between two scrapes. */
  readonly evaluatedEveryMinutes?: number;
  readonly series: SeriesTimelines;
  readonly expected: readonly Expectation[];
}

/** The alerts that fire at a minute, or at any time until then. */
export type Expectation =
  | { readonly minute: number; readonly firing: readonly Firing[] }
  | { readonly until: number; readonly neverFiring: 'any alert' };

export interface Firing {
  readonly rule: AlertRule;
  /** The labels that the expression returns, without those that the rule adds. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Runs one scenario. Resolves with the failures that promtool reports, or '' if it passes. */
export async function runScenario(scenario: Scenario): Promise<string> {
  const failures = await testRules(promtoolFile(scenario));
  return failures === '' ? '' : `${scenario.title}\n${failures}`;
}

/** Runs a file of unit tests. Resolves with the failures that promtool reports, or '' if all pass. */
export async function testRules(tests: object): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-rules-'));
  try {
    const file = path.join(folder, 'tests.yaml');
    // JSON is YAML.
    await writeFile(file, JSON.stringify(tests));
    const promtool = spawn(await toolPath('promtool'), ['test', 'rules', file], {
      stdio: 'pipe',
      env: { ...process.env, ...rarelyCollecting },
    });
    const [out, err, [code]] = await Promise.all([
      text(promtool.stdout),
      text(promtool.stderr),
      once(promtool, 'close') as Promise<[number | null]>,
    ]);
    return code === 0 ? '' : `${out}${err}`;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function promtoolFile(scenario: Scenario): object {
  const {
    title,
    minutes,
    everyMinutes = 1,
    evaluatedEveryMinutes = everyMinutes,
    series,
    expected,
  } = scenario;
  const count = Math.floor(minutes / everyMinutes) + 1;
  const valuesOf = (timeline: (minute: number) => number | undefined): string => {
    let exists = false;
    const values = Array.from({ length: count }, (_, index) => {
      const value = timeline(index * everyMinutes);
      const ended = exists && value === undefined;
      exists = value !== undefined;
      return ended ? 'stale' : (value ?? '_').toString();
    });
    return values.join(' ');
  };
  const fires = expected.filter((one) => 'minute' in one);
  return {
    rule_files: ruleFiles(),
    evaluation_interval: `${String(evaluatedEveryMinutes)}m`,
    tests: [
      {
        name: title,
        interval: `${String(everyMinutes)}m`,
        input_series: Object.entries(series).map(([name, timeline]) => ({
          series: name,
          values: valuesOf(timeline),
        })),
        promql_expr_test: expected.map((one) =>
          'minute' in one
            ? {
                expr: 'ALERTS{alertstate="firing"}',
                eval_time: `${String(one.minute)}m`,
                exp_samples: one.firing.map((firing) => ({ labels: seriesOf(firing), value: 1 })),
              }
            : {
                expr: `count_over_time(ALERTS{alertstate="firing"}[${String(one.until)}m])`,
                eval_time: `${String(one.until)}m`,
                exp_samples: [],
              },
        ),
        // Also compares annotations: a summary that does not name the destination fails here.
        alert_rule_test: fires.flatMap(({ minute, firing }) =>
          [...new Set(firing.map(({ rule }) => rule.alert))].map((alertname) => ({
            alertname,
            eval_time: `${String(minute)}m`,
            exp_alerts: firing
              .filter(({ rule }) => rule.alert === alertname)
              .map(({ rule, labels }) => ({
                exp_labels: { ...rule.labels, ...labels },
                exp_annotations: annotationsFor(rule, labels),
              })),
          })),
        ),
      },
    ],
  };
}

function seriesOf({ rule, labels }: Firing): string {
  const all = { alertname: rule.alert, alertstate: 'firing', ...rule.labels, ...labels };
  return `ALERTS{${Object.entries(all)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')}}`;
}
