/** What went wrong, by a code that programs can branch on. Thrown to a caller or handed to `onError`: the code decides. */
export type AnalyticsErrorCode =
  /** Thrown by `new Analytics`, and by `verifySignature` where the secret is empty. */
  | 'invalid-options'
  /** Thrown: `field` names what is missing or wrong in the message. */
  | 'invalid-message'
  /** Thrown: the call has more than 32 KB as JSON. */
  | 'message-too-large'
  /** Reported; the call itself returned false. */
  | 'queue-full'
  /** Reported: the server, or Kafka, will not take these calls, however often they are sent. */
  | 'refused'
  /** Reported: the server took the batch, but set these calls of it aside. */
  | 'rejected'
  /** Reported: `maxAttempts` attempts have failed. */
  | 'exhausted'
  /**
   * Thrown by a call after `close`. Reported: the deadline of `close` has passed; the calls of the last request may have
   * arrived.
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
  /** Of `invalid-message`: the field, as the message spells it. Of `invalid-options`: the option. */
  readonly field: string | undefined;
  /** Of what is reported: the HTTP status of the last answer, where there was one. */
  readonly status: number | undefined;
  /**
   * Of what is reported: the calls that were not sent, each as JSON with its `messageId` and `timestamp`. What is kept
   * of them can be sent later as it is, in the `batch` of a `POST /v1/batch`.
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

/** The message of anything that was thrown. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  // What node:net throws for several addresses has no message of its own.
  return error.message === '' ? (code ?? error.name) : error.message;
}
