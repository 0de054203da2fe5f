/** The closed sets of label values. Tests of the services hold them to the unions of the code. */
import { errorTable, type ErrorCode } from '@tailrace/errors';

/** Every code, for labels whose metrics list the usual ones as `combinations`. */
export const errorCodes = Object.keys(errorTable) as ErrorCode[];

export const callTypes = ['track', 'identify', 'page', 'screen', 'group', 'alias'] as const;
export const eventTypes = [...callTypes, 'delete'] as const;

/** The errors with which ingest answers. */
export const ingestCodes = [
  'malformed-request',
  'request-timeout',
  'malformed-json',
  'invalid-call',
  'call-too-large',
  'batch-too-large',
  'unknown-write-key',
  'rate-limited',
  'not-found',
  'unsupported-encoding',
  'overloaded',
  'kafka-unavailable',
  'record-too-large',
  'internal-error',
  'shutting-down',
] as const;

/** The errors that a parsed call can end with. */
export const refusedCallCodes = [
  'invalid-call',
  'call-too-large',
  'rate-limited',
  'batch-too-large',
  'overloaded',
  'kafka-unavailable',
  'record-too-large',
  'internal-error',
  'shutting-down',
] as const;

export const ingestRoutes = [
  ...callTypes,
  'batch',
  'pixel',
  'settings',
  'openapi',
  'metrics',
  'preflight',
  'none',
] as const;

/** The statuses of ingest. */
export const ingestStatuses = [
  '200',
  '204',
  '400',
  '401',
  '404',
  '408',
  '413',
  '415',
  '429',
  '500',
  '503',
] as const;

/** Why the router rejects a record. */
export const rejectionCodes = [
  'malformed-json',
  'unsupported-encoding',
  'unknown-schema',
  'schema-mismatch',
  'call-too-large',
  'invalid-call',
  'unknown-source',
  'unknown-write-key',
  'record-too-large',
  'unreadable-batch',
] as const;

/** Why a connected destination does not get an event. */
export const filterReasons = [
  'disabled',
  'suppressed',
  'integrations',
  'schema',
  'filter',
  'record-too-large',
] as const;

/** Why an attempt is followed by another. */
export const retryReasons = [
  'timeout',
  'server-error',
  'request-timeout',
  'too-many-requests',
  'connection-refused',
  'connection-reset',
  'connection-failed',
  'dns-failure',
  'unreachable',
  'certificate-expired',
  'circuit-open',
] as const;

/** Why a receiver's answer closes its URL for a delivery. */
export const permanentReasons = [
  'redirect',
  'client-error',
  'unexpected-status',
  'self-signed-certificate',
  'untrusted-certificate',
  'misnamed-certificate',
  'address-not-allowed',
] as const;

/** Why a delivery is a dead letter. */
export const deadReasons = [
  ...permanentReasons,
  'attempts-exhausted',
  'circuit-open',
  'window-exceeded',
  'no-open-url',
  'destination-deleted',
  'destination-disabled',
  'drained',
  'user-deleted',
  'malformed-record',
] as const;

/** Why an attempt is the last one of its delivery. */
export const deadAttemptReasons = [
  ...permanentReasons,
  'attempts-exhausted',
  'window-exceeded',
  'circuit-open',
] as const;

/** The causes for which a delivery waits before its first attempt. */
export const heldBy = ['none', 'paused', 'breaker', 'rate', 'order', 'lane'] as const;

/** Combinations of one label. */
export function each<const Name extends string, Value extends string>(
  name: Name,
  values: readonly Value[],
): readonly Readonly<Record<Name, Value>>[] {
  return values.map((value) => ({ [name]: value }) as Record<Name, Value>);
}
