export {
  auditSchema,
  decodeAudit,
  encodeAudit,
  newAudit,
  type AuditActor,
  type AuditedField,
  type AuditRecord,
} from './audit.ts';
export { bounded, boundedOrNull, maxStoredLength } from './bounded.ts';
export {
  decodeDelivery,
  deliveryKey,
  encodeDelivery,
  eventAcceptedAtHeader,
  progressHeaders,
  replayedByHeader,
  replayedFromHeader,
  replayIdHeader,
  transformFailedHeader,
  transformVersionHeader,
  unmadeStep,
  userKeyOf,
  type Delivery,
} from './delivery.ts';
export { decisionSentences } from './decision-text.ts';
export {
  decisionLimits,
  decodeDecision,
  encodeDecision,
  type Decision,
  type DecisionGroup,
  type DecisionRule,
  type FilteredDestinations,
} from './decision.ts';
export {
  decodeRecall,
  encodeRecallRequest,
  encodeRecallState,
  isMarked,
  type RecallKind,
  type RecallMark,
  type RecallProgress,
  type RecallRequest,
  type RecallState,
} from './recall.ts';
export {
  encodeExchanges,
  exchangeSchema,
  exchangesHeader,
  withExchanges,
  type UrlExchange,
} from './exchange.ts';
export { objectIn, type ValueOf } from './json.ts';
export { formatPosition, parsePosition, type RecordPosition } from './position.ts';
export { isAboutReceiver, type AttemptRecord, type UrlAttempt } from './attempt.ts';
export type { EventUsage, UsageRecord } from './usage.ts';
export { waitingHeader, waitingPlaceOf, type WaitingPlace } from './waiting.ts';
