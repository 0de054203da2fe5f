/** The closed sets of label values. The services take the types of these values from here. */
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
] as const satisfies ErrorCode[];
export type RejectionCode = (typeof rejectionCodes)[number];

/** Why a connected destination does not get an event. */
export const filterReasons = [
  'disabled',
  'suppressed',
  'integrations',
  'schema',
  'filter',
  'sample',
  'transform',
  'record-too-large',
] as const;

/** How the run of a transform ends; `skipped` is one that was not made. */
export const transformOutcomes = ['body', 'filtered', 'failed', 'skipped'] as const;

/** Failures of a request that may pass: its URL is tried again. */
const requestRetryReasons = [
  'timeout',
  'server-error',
  'request-timeout',
  'too-many-requests',
  'client-error',
  'connection-refused',
  'connection-reset',
  'connection-failed',
  'dns-failure',
  'unreachable',
  'certificate-expired',
  'proxy-refused',
  'proxy-unauthorized',
  'proxy-unreachable',
  'token-unavailable',
] as const;
export type RequestRetryReason = (typeof requestRetryReasons)[number];

/** Why a URL is tried again: a failed request, or no request because its circuit breaker is open. */
export const retryReasons = [...requestRetryReasons, 'circuit-open'] as const;
export type RetryReason = (typeof retryReasons)[number];

/** Failures that a retry does not fix: the URL is closed for the delivery. */
const permanentReasons = [
  'redirect',
  'client-error',
  'server-error',
  'unexpected-status',
  'self-signed-certificate',
  'untrusted-certificate',
  'misnamed-certificate',
  'address-not-allowed',
] as const;
export type PermanentReason = (typeof permanentReasons)[number];

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
  'transform-failed',
  'malformed-record',
] as const;
export type DeadReason = (typeof deadReasons)[number];

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
