export { CountsById, unknownId } from './counts.ts';
export { createHealth, type CheckReport, type Health, type HealthCheck } from './health.ts';
export { clientError, closeServer, closingResponse, errorResponses, hasRetryAfter } from './http.ts';
export { createLog, createLogTo, type Log } from './log.ts';
export { buckets, countUnreadable, createMetrics, watchLag, type Metrics } from './metrics.ts';
export { type PageMetric, type PageSample } from './metrics-page.ts';
export { listen, startProbeServer, type ProbeServer } from './probe-server.ts';
export { exitCodes, runService, type ServiceContext } from './run.ts';
export { bytes, cidrs, duration, hexKey, httpUrl, port, type Cidr } from './settings/kinds.ts';
export { formatValue, formOf } from './settings/describe.ts';
export {
  misspelledVariables,
  readSettings,
  variablesOf,
  type Environment,
  type SettingsOf,
} from './settings/read.ts';
export {
  kafkaSettings,
  receiverSettings,
  retryWindow,
  schemaRegistryUrl,
  secretKeys,
  serviceSettings,
  topicPrefix,
  topicSettings,
  type LogLevel,
} from './settings/shared.ts';
