export { tierDelaysMs, topicNames, topicSpecs, type TopicNames } from './catalogue.ts';
export { decodeDelivery, deliveryKey, encodeDelivery, userKeyOf, type Delivery } from './delivery.ts';
export { formatDuration, parseDuration } from './duration.ts';
export type { AttemptRecord, UrlAttempt } from './attempt.ts';
export type { EventUsage, UsageRecord } from './usage.ts';
