export { batchSchema, callSchemas, callTypes, type CallType } from './call-schema.ts';
export {
  callBytes,
  fitsEvents,
  maxBatchBytes,
  maxBatchCalls,
  maxBatchEventBytes,
  maxCallBytes,
  maxEventBytes,
} from './limits.ts';
export { formatInstant, isInstant, parseInstant } from './instant.ts';
export { deliveryId, recordMessageId, replayedDeliveryId } from './name-based-id.ts';
export { producerSchema } from './producer-schema.ts';
export { readBatch, readCall, type BatchFields, type ReadOptions, type ReadResult } from './read-call.ts';
export { exactNumber, isRawNumber, wholeDigits } from './number.ts';
export { idProblem } from './read-field.ts';
export { parseJson, parseSizedJson, type SizedJson } from './read-json.ts';
export {
  eventTypes,
  maxIdLength,
  userKey,
  type EventType,
  type JsonObject,
  type TailraceEvent,
} from './schema.ts';
export { webhookBody, webhookDocument } from './webhook-body.ts';
export { writeJson } from './write-json.ts';
export { formatDuration, parseDuration, parseMoment } from './duration.ts';
