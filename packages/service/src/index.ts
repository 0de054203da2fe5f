export { CountsById, unknownId } from './counts.ts';
export { createHealth, type CheckReport, type Health, type HealthCheck } from './health.ts';
export {
  brokers,
  bytes,
  choice,
  cidrs,
  duration,
  durations,
  flag,
  hexKey,
  httpUrl,
  integer,
  pattern,
  port,
  secret,
  text,
  type Cidr,
} from './kinds.ts';
export { createLog, createLogTo, type Log } from './log.ts';
export { buckets, countUnreadable, createMetrics, watchLag, type Metrics } from './metrics.ts';
export { type PageMetric, type PageSample } from './metrics-page.ts';
export { listen, startProbeServer, type ProbeServer } from './probe-server.ts';
export { exitCodes, runService, type ServiceContext, type ServiceShape } from './run.ts';
export {
  derived,
  doubtfulVariables,
  group,
  readSettings,
  required,
  type Environment,
  type Setting,
  type Shape,
  type ValuesOf,
} from './settings.ts';
export {
  kafkaSettings,
  retrySchedule,
  schemaRegistryUrl,
  secretKeys,
  serviceSettings,
  topicPrefix,
  topicSettings,
  type LogLevel,
  type ServiceSettings,
} from './shared-settings.ts';
