export { trustProxies, type TrustedProxies } from './client-address.ts';
export { CountsById, unknownId } from './counts.ts';
export { createHealth, type CheckReport, type Health, type HealthCheck } from './health.ts';
export { clientError, closeServer, closingResponse, errorResponses, hasRetryAfter } from './http.ts';
export { createLog, createLogTo, type Log } from './log.ts';
export { type Distribution, type Histogram } from './histogram.ts';
export { watchConsumption } from './kafka-metrics.ts';
export { createMetrics, type Counter, type Metrics } from './metrics.ts';
export { type MetricsPages, type PageSample } from './metrics-page.ts';
export { listen, startProbeServer, type ProbeServer, type Readiness } from './probe-server.ts';
export { exitCodes, runService } from './run.ts';
export { defineService, Service, type ServiceContext, type ServiceDefinition } from './service.ts';
export { bytes, cidrs, duration, hexKey, host, httpUrl, port, type Cidr } from './settings/kinds.ts';
export { formatValue, formOf } from './settings/describe.ts';
export {
  misspelledVariables,
  readSettings,
  variablesOf,
  type Environment,
  type SettingsOf,
} from './settings/read.ts';
export { readBounded } from './settings/bounded-file.ts';
export { kafkaSettings } from './settings/kafka.ts';
export { registrySettings } from './settings/registry.ts';
export { fileVariable } from './settings/secret-file.ts';
export {
  commitsLateAfter,
  ingestPublicUrl,
  receiverSettings,
  retryWindow,
  secretKeys,
  serviceSettings,
  topicPrefix,
  topicSettings,
  trustedProxies,
  type LogLevel,
} from './settings/shared.ts';
export type { TracingSettings } from './settings/tracing.ts';
