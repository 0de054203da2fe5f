/** Rules, dashboards and runbooks name only metrics, labels and values that the services expose. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { dashboards, expressionOf } from '@tailrace/monitoring';
import { fillDurations } from '../../support/monitoring/promql.ts';
import { alertRules, recordingRules } from '../../support/monitoring/rules.ts';
import { codeBlocks, runbookFiles } from '../../support/monitoring/runbooks.ts';
import { targetLabels, unknownIn } from './known-series.ts';

test('rules use metrics, labels and values of the catalogue', () => {
  for (const { expr } of [...alertRules(), ...recordingRules()]) assert.deepEqual(unknownIn(expr), [], expr);
});

test('dashboards use metrics, labels and values of the catalogue, or recorded ones', () => {
  for (const { rows } of dashboards) {
    for (const { title, queries } of rows.flatMap(({ panels }) => panels)) {
      for (const query of queries) {
        assert.deepEqual(unknownIn(fillDurations(expressionOf(query), '5m')), [], title);
      }
    }
  }
});

test('runbooks use metrics, labels and values of the catalogue, in queries and in the text', () => {
  for (const file of runbookFiles().values()) {
    const text = readFileSync(file, 'utf8');
    const queries = codeBlocks(text).filter(({ language }) => language === 'promql');
    for (const { text: expr } of queries) assert.deepEqual(unknownIn(expr), [], file);
    for (const [, name = ''] of text.matchAll(/`(tailrace_[a-z_]+)`/g)) {
      if (!targetLabels.includes(name)) assert.deepEqual(unknownIn(name), [], file);
    }
  }
});

test('a name that does not exist is found: a metric, a label, a value, a grouping', () => {
  for (const [expr, problem] of [
    ['rate(tailrace_made_up_total[5m])', 'no service exposes tailrace_made_up_total'],
    ['tailrace_build_info{topic="a"}', 'tailrace_build_info has no label topic'],
    ['tailrace_dead_letters_total{reason="tired"}', 'tailrace_dead_letters_total never has reason="tired"'],
    [
      'tailrace_routing_delay_seconds_bucket{le="31"}',
      'tailrace_routing_delay_seconds_bucket never has le="31"',
    ],
    ['sum by (destination_id) (tailrace_ready)', 'no metric of tailrace_ready has the label destination_id'],
  ] as const) {
    assert.deepEqual(unknownIn(expr), [problem]);
  }
  assert.throws(() => unknownIn('sum by (topic'), /not PromQL/);
});
