/**
 * The rules of infra/chart/files/rules, in promtool: every alert fires, stays silent and resolves. It takes as long as all
 * the other checks, so that its name makes it the first that runs.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { alertRules, ruleFiles, type AlertRule } from '../../support/monitoring/rules.ts';
import { toolPath } from '../../support/tools/tools.ts';
import { alertCases, seriesOf, type AlertCase } from './rules/cases.ts';
import { runScenario, type Firing } from './rules/promtool.ts';
import { identity } from './rules/release.ts';
import { scenarios } from './rules/scenarios.ts';

const rules = alertRules();

/** The rules of an alert with these labels. */
function rulesOf({ alert, rule = {} }: Pick<AlertCase, 'alert' | 'rule'>): AlertRule[] {
  return rules.filter(
    (one) => one.alert === alert && Object.entries(rule).every(([name, value]) => one.labels[name] === value),
  );
}

function firing(one: Pick<AlertCase, 'alert' | 'rule' | 'labels'>): Firing {
  const [rule, ...others] = rulesOf(one);
  assert.ok(rule && others.length === 0, `${one.alert} is one rule with ${JSON.stringify(one.rule)}`);
  return { rule, labels: { ...identity, ...one.labels } };
}

test('promtool finds no problem in the rules', async () => {
  const { stdout } = await promisify(execFile)(await toolPath('promtool'), [
    'check',
    'rules',
    '--lint=all',
    '--lint-fatal',
    ...ruleFiles(),
  ]);
  assert.match(stdout, /SUCCESS/);
});

test('every rule that alerts has a case', () => {
  const cased = new Set(alertCases.flatMap((one) => rulesOf(one)));
  const missing = rules.filter((rule) => !cased.has(rule));
  assert.deepEqual(
    missing.map(({ alert, labels }) => `${alert} ${JSON.stringify(labels)}`),
    [],
  );
});

describe('an alert', { concurrency: 2 }, () => {
  for (const one of alertCases) {
    test(`${one.alert} fires when ${one.when}, and resolves`, async () => {
      const {
        healthy,
        silentAfter,
        firesAfter,
        resolvesAfter,
        everyMinutes = 1,
        evaluatedEveryMinutes,
      } = one;
      const minutes = healthy + firesAfter + everyMinutes + resolvesAfter;
      const failures = await runScenario({
        title: one.when,
        minutes,
        everyMinutes,
        ...(evaluatedEveryMinutes !== undefined && { evaluatedEveryMinutes }),
        series: seriesOf(one),
        expected: [
          { until: healthy + silentAfter, neverFiring: 'any alert' },
          { minute: healthy + firesAfter, firing: [one, ...(one.also ?? [])].map(firing) },
          { minute: minutes, firing: [] },
        ],
      });
      assert.equal(failures, '');
    });
  }
});

describe('a release', { concurrency: 2 }, () => {
  for (const scenario of scenarios) {
    test(scenario.title, async () => {
      const { alerts = [] } = scenario;
      const failures = await runScenario({
        ...scenario,
        expected:
          alerts.length === 0
            ? [{ until: scenario.minutes, neverFiring: 'any alert' }]
            : [{ minute: scenario.minutes, firing: alerts.map(firing) }],
      });
      assert.equal(failures, '');
    });
  }
});
