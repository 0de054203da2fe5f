export { dashboards, fileOf } from './dashboards/index.ts';
export type { Dashboard, Panel, Query } from './dashboards/dashboard.ts';
export { dashboardText, expressionOf } from './dashboards/grafana.ts';
export {
  addMatchers,
  fillDurations,
  readExpression,
  scaleDuration,
  scaleExpression,
  type Expression,
  type Selector,
} from './promql.ts';
export {
  alertRules,
  annotationsFor,
  placeholders,
  readRuleGroups,
  recordingRules,
  ruleFiles,
  scaledRules,
  type AlertRule,
  type RecordingRule,
  type RuleGroup,
} from './rules.ts';
export { runbookFiles, runbookNames, type CodeBlock, codeBlocks } from './runbooks.ts';
