/**
 * Every failure Tailrace can name, in one table: what a code means, the HTTP status that tells a caller
 * about it, and how to fix it. The reference page (README.md beside this package) is generated from it.
 *
 * Outcomes that belong to normal work (a delivery that is retried, a call that is filtered) are values, not
 * errors; what is thrown and is not a `TailraceError` is a defect, and stops the process.
 */
export { nearestName } from './nearest.ts';

interface ErrorEntry {
  /** HTTP status for a caller of ingest or control; 500 where the error never reaches one. */
  readonly status: number;
  /** What went wrong, as one clause. */
  readonly meaning: string;
  /** What the reader should do about it. */
  readonly hint: string;
}

export const errorTable = {
  'malformed-request': {
    status: 400,
    meaning: 'the request is not HTTP as it should be',
    hint: 'Check its request line, headers and Content-Length; headers may have 16 KB.',
  },
  'request-timeout': {
    status: 408,
    meaning: 'the request did not arrive in time',
    hint: 'Send it again; the whole of it has to arrive within 60 seconds.',
  },
  'malformed-json': {
    status: 400,
    meaning: 'the body is not JSON in UTF-8',
    hint: 'Send one JSON object, encoded as UTF-8.',
  },
  'invalid-call': {
    status: 400,
    meaning: 'a tracking call breaks a rule of its type',
    hint: 'The message names the field and the rule; correct the call and send it again.',
  },
  'call-too-large': {
    status: 413,
    meaning: 'a call is larger than 32 KB',
    hint: 'Send less in properties, traits or context; the limit is 32 KB for a call after decompression.',
  },
  'batch-too-large': {
    status: 413,
    meaning: 'a batch is larger than 500 KB or holds more than 2,500 calls',
    hint: 'Split the batch; the limits are 500 KB after decompression and 2,500 calls.',
  },
  'unknown-write-key': {
    status: 401,
    meaning: 'no enabled source has this write key',
    hint: 'Send the write key of an enabled source as the user name of HTTP Basic auth.',
  },
  'rate-limited': {
    status: 429,
    meaning: 'the source sends more calls a second than its rate limit',
    hint: 'Send it again after the seconds in Retry-After, or raise rateLimit of the source.',
  },
  'too-many-at-once': {
    status: 429,
    meaning: 'as many of these run already as may run at a time',
    hint: 'Wait for one to end, and send it again.',
  },
  'unknown-source': {
    status: 401,
    meaning: 'a record names no enabled source',
    hint: 'Set the Kafka header `source-id` or `write-key` to those of an enabled source.',
  },
  'not-found': {
    status: 404,
    meaning: 'there is nothing at this path',
    hint: 'The paths there are stand in /openapi.json of the same server.',
  },
  'invalid-request': {
    status: 400,
    meaning: 'a parameter or the body of a request breaks a rule',
    hint: 'The message names the field and the rule; correct the request and send it again.',
  },
  unauthorized: {
    status: 401,
    meaning: 'the request has no token that the control plane knows',
    hint: 'Send a token of TAILRACE_API_TOKEN or TAILRACE_API_READ_TOKEN as Authorization: Bearer <token>.',
  },
  forbidden: {
    status: 403,
    meaning: 'the token is for reading only',
    hint: 'Send a token of TAILRACE_API_TOKEN.',
  },
  'method-not-allowed': {
    status: 405,
    meaning: 'the path is there, but not with this method',
    hint: 'Use a method that the header Allow names.',
  },
  conflict: {
    status: 409,
    meaning: 'the request does not fit what is there',
    hint: 'The message says what is in the way; look at it and decide anew.',
  },
  'precondition-failed': {
    status: 412,
    meaning: 'what is to be changed is not what If-Match says',
    hint: 'Get it again, make the change in that, and send it with the new ETag.',
  },
  'body-too-large': {
    status: 413,
    meaning: 'the body of a request is larger than is taken here',
    hint: 'Send less in one request.',
  },
  'unsupported-media-type': {
    status: 415,
    meaning: 'the Content-Type of a request is not one that is understood here',
    hint: 'Send JSON as application/json.',
  },
  'control-unavailable': {
    status: 503,
    meaning: 'the control service does not answer',
    hint: 'Start it with `npm start` or `npm run control`, or set TAILRACE_URL to where it runs.',
  },
  'unsupported-encoding': {
    status: 415,
    meaning: 'the body is in an encoding that is not understood',
    hint: 'Send the body as it is, or with Content-Encoding gzip or deflate.',
  },
  overloaded: {
    status: 503,
    meaning: 'requests hold as much memory as they may together',
    hint: 'Send it again after the seconds in Retry-After.',
  },
  'kafka-unavailable': {
    status: 503,
    meaning: 'Kafka did not acknowledge in time',
    hint: 'Send it again after the seconds in Retry-After; check KAFKA_BROKERS and that the brokers run.',
  },
  'transactions-unavailable': {
    status: 503,
    meaning: 'Kafka has no coordinator for transactions',
    hint:
      'On fewer than three brokers, set transaction.state.log.replication.factor and transaction.state.log.min.isr ' +
      'of Kafka to 1; they are 3 and 2 by default.',
  },
  'kafka-refused-credentials': {
    status: 503,
    meaning: 'Kafka refused the credentials',
    hint: 'Check KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD and KAFKA_SSL.',
  },
  'topic-missing': {
    status: 503,
    meaning: 'a topic does not exist',
    hint: 'Create the topics with `npx tailrace topics apply`.',
  },
  'unreadable-batch': {
    status: 400,
    meaning: 'a batch of records cannot be decoded, or takes too much memory decoded',
    hint: 'The message names the records and the reason. Send them again in smaller batches, or in another compression.',
  },
  'partition-missing': {
    status: 503,
    meaning: 'a record is for a partition that its topic does not have',
    hint: 'Run `npx tailrace doctor`, which names the topics whose partition counts differ.',
  },
  'unequal-partitions': {
    status: 503,
    meaning:
      'deliveries, its retry tiers, the replay lane and the dead letters do not have equally many partitions',
    hint:
      'Make them equal with `npx tailrace topics apply --partitions N --only deliveries`, where N is the largest ' +
      'number among them; `npx tailrace doctor` names it.',
  },
  'too-few-brokers': {
    status: 409,
    meaning: 'a topic is to have more copies than there are brokers',
    hint: 'Start as many brokers, or set TAILRACE_REPLICATION to the number that there is.',
  },
  'unknown-schema': {
    status: 400,
    meaning: 'the schema registry has no schema with the id that a record names',
    hint: 'Write with a schema of the registry that SCHEMA_REGISTRY_URL names.',
  },
  'schema-mismatch': {
    status: 400,
    meaning: 'a record is not what its schema says',
    hint: 'Write it with the serializer of its schema; the message says where they differ.',
  },
  'registry-unavailable': {
    status: 503,
    meaning: 'the schema registry does not answer',
    hint: 'Check SCHEMA_REGISTRY_URL and that the registry runs.',
  },
  'incompatible-schema': {
    status: 409,
    meaning: 'the schema registry does not take a schema as the next version of its subject',
    hint: 'Look at the versions and the compatibility of the subject in the registry.',
  },
  'record-too-large': {
    status: 413,
    meaning: 'Kafka refuses a record of this size',
    hint: 'Raise max.message.bytes of the topic, or send less.',
  },
  'internal-error': {
    status: 500,
    meaning: 'Tailrace has a defect',
    hint: 'Send it again; report it together with the line in the log of the service.',
  },
  'invalid-settings': {
    status: 500,
    meaning: 'a setting is missing or wrong',
    hint: 'The message lists every problem; correct them and start again.',
  },
  'invalid-configuration': {
    status: 400,
    meaning: 'sources or destinations break a rule',
    hint: 'The message lists every problem with its place; correct them and apply again.',
  },
  'secret-locked': {
    status: 503,
    meaning: 'a secret of the configuration is sealed with a key that this process does not have',
    hint: 'Give the key as TAILRACE_SECRET_KEY or TAILRACE_SECRET_KEY_PREVIOUS.',
  },
  'secret-key-missing': {
    status: 409,
    meaning: 'a secret cannot be stored, because there is no key to seal it with',
    hint: 'Set TAILRACE_SECRET_KEY to 32 bytes in hex, such as `openssl rand -hex 32` makes.',
  },
  'invalid-membership': {
    status: 400,
    meaning: 'a line of the membership of an audience cannot be used',
    hint: 'The message names the line and the rule; correct it and send the whole membership again.',
  },
  'local-start-failed': {
    status: 500,
    meaning: 'something that `npm start` or a test brings along could not be started',
    hint: 'The message says what is missing or in the way; put it right and start again.',
  },
  'history-unavailable': {
    status: 503,
    meaning: 'what happened to events cannot be looked up now',
    hint: 'The message says why; see TAILRACE_DATA_DIR and the disk it is on. Nothing else depends on it.',
  },
  superseded: {
    status: 409,
    meaning: 'another process has taken over this work',
    hint: 'Let that one end; then run this one again where something is left to do.',
  },
  'shutting-down': {
    status: 503,
    meaning: 'this process is stopping',
    hint: 'Send it again; another replica, or this one after its restart, will take it.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;

/** One field that breaks a rule: `settings.webhooks[0].url`, and the rule as a clause that follows it. */
export interface FieldProblem {
  readonly field: string;
  readonly rule: string;
}

/** A failure with a code from {@link errorTable}. `message` says what happened, in one or more sentences. */
export class TailraceError extends Error {
  readonly code: ErrorCode;
  /** Each field that is wrong, where it is about fields; `message` has them too. */
  readonly problems: readonly FieldProblem[] | undefined;
  /** Seconds after which it may go better, where that is known. */
  readonly retryAfterS: number | undefined;

  constructor(
    code: ErrorCode,
    message?: string,
    options?: ErrorOptions & { readonly retryAfterS?: number; readonly problems?: readonly FieldProblem[] },
  ) {
    const { meaning, hint } = errorTable[code];
    super(message ?? `${capitalise(meaning)}. ${hint}`, options);
    this.name = 'TailraceError';
    this.code = code;
    this.retryAfterS = options?.retryAfterS;
    this.problems = options?.problems;
  }

  /** HTTP status that tells a caller about this error. */
  get status(): number {
    return errorTable[this.code].status;
  }
}

/** Whether `error` is a TailraceError, of the given code where one is given. */
export function isTailraceError(error: unknown, code?: ErrorCode): error is TailraceError {
  return error instanceof TailraceError && (code === undefined || error.code === code);
}

function capitalise(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
