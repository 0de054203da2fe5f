export {
  Analytics,
  type AnalyticsOptions,
  type CloseOptions,
  type CloseResult,
  type HttpOptions,
  type KafkaOptions,
} from './analytics.ts';
export { AnalyticsError, type AnalyticsErrorCode } from './errors.ts';
export type { KafkaMessage, KafkaProducer } from './kafka-producer.ts';
export type {
  Alias,
  CallType,
  CommonFields,
  Group,
  Identify,
  Integrations,
  Messages,
  Page,
  Screen,
  Track,
  User,
} from './messages.ts';
export { verifySignature } from './verify-signature.ts';
