export { trustProxies, type TrustedProxies } from './http/client-address.ts';
export { CountsById } from './metrics/counts.ts';
export {
  clientError,
  closeServer,
  closingResponse,
  errorResponses,
  hasRetryAfter,
  listen,
} from './http/server.ts';
export { createLogTo, type Log } from './log/log.ts';
export { watchConsumption } from './metrics/kafka.ts';
export { createMetrics, type Counter, type Metrics } from './metrics/metrics.ts';
export { type MetricsPages, type PageSample } from './metrics/page.ts';
export { startProbeServer, type Readiness } from './probes/server.ts';
export { runService } from './life/run.ts';
export { defineService, type ServiceContext } from './life/service.ts';
export { bytes, duration, host, httpUrl, port, type Cidr } from './settings/kinds.ts';
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
  latency,
  lingerMs,
  ingestPublicUrl,
  owner,
  peers,
  receiverSettings,
  retryWindow,
  secretKeys,
  serviceSettings,
  topicPrefix,
  topicSettings,
  trustedProxies,
  type EgressProxy,
} from './settings/shared.ts';
