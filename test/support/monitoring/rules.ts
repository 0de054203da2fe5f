/** Reads the alerting and recording rules that the chart ships. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { scaleDuration, scaleExpression } from './promql.ts';

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: 'critical' | 'warning' } & Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly (RecordingRule | AlertRule)[];
}

const folder = path.join(import.meta.dirname, '../../../infra/chart/files/rules');

/** The absolute paths of the rule files. */
export function ruleFiles(): string[] {
  return globSync('*.yaml', { cwd: folder })
    .sort()
    .map((file) => path.join(folder, file));
}

export function readRuleGroups(file: string): readonly RuleGroup[] {
  return (parse(readFileSync(file, 'utf8')) as { groups: RuleGroup[] }).groups;
}

function allRules(): (RecordingRule | AlertRule)[] {
  return ruleFiles().flatMap((file) => readRuleGroups(file).flatMap(({ rules }) => rules));
}

export function alertRules(): AlertRule[] {
  return allRules().filter((rule) => 'alert' in rule);
}

export function recordingRules(): RecordingRule[] {
  return allRules().filter((rule) => 'record' in rule);
}

/** The annotations of an alert with these labels. Their templates refer to labels only. */
export function annotationsFor(
  { annotations, labels: added }: AlertRule,
  labels: Readonly<Record<string, string>>,
): Record<string, string> {
  const all: Readonly<Record<string, string>> = { ...labels, ...added };
  return Object.fromEntries(
    Object.entries(annotations).map(([name, template]) => [
      name,
      template.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => all[label] ?? ''),
    ]),
  );
}

/**
 * The text of a rule file for a test that cannot wait hours: windows, offsets, `for` and the seconds that a gauge is compared to
 * are divided by `factor`. Shares, factors of burn rates and least numbers of events stay.
 */
export function scaledRules(file: string, factor: number): string {
  const groups = readRuleGroups(file).map(({ name, rules }) => ({
    name,
    rules: rules.map((rule) => ({
      ...rule,
      expr: scaleExpression(rule.expr, factor),
      ...('for' in rule && { for: scaleDuration(rule.for, factor) }),
    })),
  }));
  return stringify({ groups });
}
