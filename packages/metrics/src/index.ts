export {
  catalogue,
  exposedNames,
  firstSeries,
  labelNamesOf,
  pageOf,
  specOf,
  type ExposedName,
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
export { funnel, type Equation, type Term } from './funnel.ts';
export { services, type MetricSpec, type MetricType, type Page, type Service } from './metric.ts';
