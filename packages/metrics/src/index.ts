export {
  catalogue,
  exposedNames,
  firstSeries,
  labelNamesOf,
  pageOf,
  specOf,
  type LabelsOf,
  type MetricName,
  type NameOf,
} from './catalogue.ts';
export {
  deadReasons,
  transformOutcomes,
  type DeadReason,
  type PermanentReason,
  type RejectionCode,
  type RequestRetryReason,
  type RetryReason,
} from './label-values.ts';
export { funnel, type Term } from './funnel.ts';
export { services, type MetricSpec, type MetricType, type Page, type Service } from './metric.ts';
