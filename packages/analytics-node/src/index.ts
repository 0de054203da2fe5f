/** The package in Node. */
export { Analytics, type AnalyticsOptions, type HttpOptions, type KafkaOptions } from './node/analytics.ts';
export type { ConnectionOptions, TlsOptions } from './node/connection-options.ts';
export { fileQueue, type FileQueue, type FileQueueOptions } from './file-queue/file-queue.ts';
export type { KafkaMessage, KafkaProducer } from './node/kafka-producer.ts';
export {
  verifySignature,
  type PublicKey,
  type RequestHeaders,
  type SignatureScheme,
} from './node/verify-signature.ts';
export * from './core/index.ts';
