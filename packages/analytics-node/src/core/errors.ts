/** The codes of errors. An error is either thrown to the caller or reported to `onError`, depending on its code. */
export type AnalyticsErrorCode =
  /** Thrown by `new Analytics`, and by `verifySignature` without a secret or a usable key. */
  | 'invalid-options'
  /** Thrown. `field` is the field of the message that is missing or invalid. */
  | 'invalid-message'
  /** Thrown: the call has more than 32 KB as JSON. */
  | 'message-too-large'
  /** Reported, and the call returned false. Thrown by a call that `onError` makes when it receives this code. */
  | 'queue-full'
  /** Reported. The server or Kafka refused these calls permanently, or failed for one with 5xx while it took others. */
  | 'refused'
  /** Reported. The server rejected these calls by name. */
  | 'rejected'
  /** Reported: `maxAttempts` attempts have failed. */
  | 'exhausted'
  /** Reported: an attempt has failed, and these calls are older than `maxAgeMs`. */
  | 'expired'
  /** Reported: the file queue had a record that cannot be read, or could not be written. */
  | 'queue-damaged'
  /**
   * Thrown by a call after `close`. Reported where the deadline of `close` passed. The calls of the last request
   * may have arrived.
   */
  | 'closed';

interface Details {
  readonly field?: string | undefined;
  readonly status?: number | undefined;
  readonly calls?: readonly string[] | undefined;
  readonly cause?: unknown;
}

export class AnalyticsError extends Error {
  override readonly name = 'AnalyticsError';
  readonly code: AnalyticsErrorCode;
  /** For `invalid-message` the field of the message, for `invalid-options` the option. */
  readonly field: string | undefined;
  /** Reported errors only: the HTTP status of the last response, if any. */
  readonly status: number | undefined;
  /**
   * Reported errors only: the unsent calls, each as JSON with its `messageId` and `timestamp`. They can be sent
   * later, unchanged, in the `batch` of a `POST /v1/batch`.
   */
  readonly calls: readonly string[];

  constructor(code: AnalyticsErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.field = details.field;
    this.status = details.status;
    this.calls = details.calls ?? [];
  }
}

export function invalidOption(option: string, sentence: string, cause?: unknown): AnalyticsError {
  return new AnalyticsError('invalid-options', `Option ${option} ${sentence}.`, { field: option, cause });
}

/** The message of any thrown value. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return textOf(error);
  const { code } = error as { readonly code?: string };
  // The error of node:net for several addresses has an empty message.
  return error.message === '' ? (code ?? error.name) : error.message;
}

function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'a value without a text was thrown';
  }
}
