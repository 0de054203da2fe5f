/**
 * The table of all errors that Tailrace can name: their HTTP status, their meaning and how to fix them.
 * docs/errors.md is generated from it.
 *
 * Results of normal work (a delivery that is retried, a call that is filtered) are values. Any thrown error
 * that is not a `TailraceError` is a defect and ends the process.
 */
export { nearestName } from './nearest.ts';

interface ErrorEntry {
  /** HTTP status of an answer of ingest or control with this error. */
  readonly status: number;
  /** The problem, as one clause. */
  readonly meaning: string;
  /** How to fix it, in full sentences. */
  readonly hint: string;
}

export const errorTable = {
  'malformed-request': {
    status: 400,
    meaning: 'the request is not valid HTTP',
    hint: 'Check the request line, the headers (16 KB at most) and Content-Length.',
  },
  'request-timeout': {
    status: 408,
    meaning: 'the request did not arrive in time',
    hint: 'Send the request again; all of it must arrive within 60 seconds.',
  },
  'malformed-json': {
    status: 400,
    meaning: 'the body is not JSON in UTF-8',
    hint: 'Send one JSON object, encoded as UTF-8.',
  },
  'invalid-call': {
    status: 400,
    meaning: 'a tracking call breaks a rule of its type',
    hint: 'Correct the field that the message names, and send the call again.',
  },
  'call-too-large': {
    status: 413,
    meaning: 'a call is larger than 32 KB',
    hint: 'Send less data in properties, traits or context. The limit is 32 KB after decompression, with numbers such as 1e20 written out.',
  },
  'batch-too-large': {
    status: 413,
    meaning:
      'a batch is larger than 500 KB, holds more than 2,500 calls, or becomes more than 6,000 KB of events',
    hint: 'Split the batch; the limits are 500 KB after decompression, 2,500 calls, and 6,000 KB with its context in each call.',
  },
  'unknown-write-key': {
    status: 401,
    meaning: 'no enabled source has this write key',
    hint: 'Send the write key of an enabled source as the user name of HTTP Basic auth.',
  },
  'rate-limited': {
    status: 429,
    meaning: 'the source sends more calls or bytes a second than its rate limits allow',
    hint: 'Send the request again after the number of seconds in Retry-After, or raise rateLimit or rateLimitBytes of the source.',
  },
  'too-many-requests': {
    status: 429,
    meaning: 'the token sends more requests than its rate limit allows',
    hint: 'Send the request again after the number of seconds in Retry-After, or raise TAILRACE_API_RATE_LIMIT.',
  },
  'too-many-at-once': {
    status: 429,
    meaning: 'the limit of concurrent operations of this kind is reached',
    hint: 'Wait until one of them ends, and send the request again.',
  },
  'unknown-source': {
    status: 401,
    meaning: 'a record does not name an enabled source',
    hint: 'Set the Kafka header `source-id` or `write-key` to the id or a write key of an enabled source.',
  },
  'not-found': {
    status: 404,
    meaning: 'there is no resource at this path',
    hint: 'See /openapi.json of the same server for its paths.',
  },
  expired: {
    status: 410,
    meaning: 'the record with the body has expired from its topic',
    hint: 'Send the event again from its source.',
  },
  'invalid-request': {
    status: 400,
    meaning: 'a parameter or the body of the request is invalid',
    hint: 'Correct the field that the message names, and send the request again.',
  },
  unauthorized: {
    status: 401,
    meaning: 'the request has no valid token',
    hint: 'Send a token of the API as Authorization: Bearer <token>: one of TAILRACE_API_TOKEN, or one that was created and is neither expired nor revoked.',
  },
  forbidden: {
    status: 403,
    meaning: 'the scope or the limits of the token do not permit the request',
    hint: 'Send another token; `npx tailrace create token` makes one.',
  },
  'method-not-allowed': {
    status: 405,
    meaning: 'the path does not support this method',
    hint: 'Use a method from the header Allow.',
  },
  conflict: {
    status: 409,
    meaning: 'the request conflicts with the current state',
    hint: 'Read the current state that the message names, and decide again.',
  },
  'too-many-suppressions': {
    status: 409,
    meaning: 'there are as many suppressed and deleted users as the services keep in memory',
    hint: 'Lift suppressions or deletions that are no longer needed.',
  },
  'idempotency-key-reused': {
    status: 422,
    meaning: 'the Idempotency-Key belongs to another request',
    hint: 'Use a new key for each request, and the same key only to send the same request again.',
  },
  'precondition-failed': {
    status: 412,
    meaning: 'the resource has changed since the ETag in If-Match',
    hint: 'Get the resource again, apply the change to it, and send it with the new ETag.',
  },
  'body-too-large': {
    status: 413,
    meaning: 'the body of the request is too large for this path',
    hint: 'Send less data in one request.',
  },
  'unsupported-media-type': {
    status: 415,
    meaning: 'the Content-Type of the request is not supported',
    hint: 'Send JSON as application/json.',
  },
  'control-unavailable': {
    status: 503,
    meaning: 'the control service does not respond',
    hint: 'Start it with `npm start` or `npm run control`, or set TAILRACE_URL to where it runs.',
  },
  'unsupported-encoding': {
    status: 415,
    meaning: 'the encoding of the body is not supported',
    hint: 'Send the body without compression, or with Content-Encoding gzip or deflate.',
  },
  overloaded: {
    status: 503,
    meaning: 'the memory limit for requests is reached',
    hint: 'Send the request again after the number of seconds in Retry-After.',
  },
  'kafka-unavailable': {
    status: 503,
    meaning: 'Kafka did not acknowledge in time',
    hint: 'Check KAFKA_BROKERS and that the brokers run. Send the request again after the number of seconds in Retry-After.',
  },
  'config-needs-newer-release': {
    status: 503,
    meaning: 'the configuration uses features that this release does not have',
    hint: 'Run the newer release that wrote the configuration, or remove the features from the destinations.',
  },
  'other-owner': {
    status: 503,
    meaning: 'the topics belong to another installation',
    hint: 'Set another TAILRACE_TOPIC_PREFIX. To take the topics over, set TAILRACE_OWNER to their owner, and stop the other installation.',
  },
  'transactions-unavailable': {
    status: 503,
    meaning: 'Kafka has no transaction coordinator',
    hint:
      'On fewer than three brokers, set transaction.state.log.replication.factor and transaction.state.log.min.isr ' +
      'of Kafka to 1; the defaults are 3 and 2.',
  },
  'kafka-refused-credentials': {
    status: 503,
    meaning: 'Kafka refused the credentials',
    hint: 'Check KAFKA_SASL_MECHANISM with the settings of its mechanism, KAFKA_SSL, and KAFKA_SSL_CERT if the brokers require one.',
  },
  'kafka-refused-clock': {
    status: 503,
    meaning: 'Kafka refuses records for their time',
    hint:
      'The clock of this machine and that of the brokers differ by more than message.timestamp.after.max.ms. Synchronise both ' +
      '(NTP). No restart is needed.',
  },
  'kafka-refused-commits': {
    status: 503,
    meaning: 'Kafka refuses the commits of this replica, because it removed it from its consumer group',
    hint: 'The replica joins the group again by itself. If this goes on, check its connection to the brokers, and restart it.',
  },
  'kafka-permission-missing': {
    status: 503,
    meaning: 'the user has no permission for an operation in Kafka',
    hint: 'Grant the permission that the message names; `npx tailrace permissions` lists what each user needs.',
  },
  'kafka-token-unavailable': {
    status: 503,
    meaning: 'the token server gives no token for Kafka',
    hint:
      'Check KAFKA_OAUTH_TOKEN_URL, KAFKA_OAUTH_CLIENT_ID, KAFKA_OAUTH_CLIENT_SECRET and KAFKA_OAUTH_SCOPE, and that the ' +
      'token server runs.',
  },
  'topic-missing': {
    status: 503,
    meaning: 'a topic does not exist',
    hint: 'Create the topics with `npx tailrace topics apply`. If they exist, allow the user to describe them.',
  },
  'unreadable-batch': {
    status: 400,
    meaning: 'a batch of records cannot be decoded, or is too large when decoded',
    hint: 'Send the records that the message names again, in smaller batches or with another compression.',
  },
  'partition-missing': {
    status: 503,
    meaning: 'a record names a partition that its topic does not have',
    hint: 'Run `npx tailrace doctor`, which lists the topics whose partition counts differ.',
  },
  'unequal-partitions': {
    status: 503,
    meaning:
      'deliveries, its retry topics, the replay topic and the dead letters have different partition counts',
    hint:
      'Run `npx tailrace topics apply --partitions N --only deliveries`, where N is the largest of the counts; ' +
      '`npx tailrace doctor` shows it.',
  },
  'too-few-brokers': {
    status: 409,
    meaning: 'a topic needs more copies than there are brokers',
    hint: 'Start more brokers, or set TAILRACE_REPLICATION to the number of brokers.',
  },
  'unknown-schema': {
    status: 400,
    meaning: 'the schema registry has no schema with the id that a record names',
    hint: 'Write the record with a schema of the registry at SCHEMA_REGISTRY_URL.',
  },
  'schema-mismatch': {
    status: 400,
    meaning: 'a record does not match its schema',
    hint: 'Write the record with the serializer of its schema; the message names the difference.',
  },
  'registry-unavailable': {
    status: 503,
    meaning: 'the schema registry does not respond',
    hint: 'Check SCHEMA_REGISTRY_URL and that the registry runs.',
  },
  'incompatible-schema': {
    status: 409,
    meaning: 'the schema registry rejects a schema as the next version of its subject',
    hint: 'Check the versions and the compatibility setting of the subject in the registry.',
  },
  'record-too-large': {
    status: 413,
    meaning: 'Kafka rejects a record of this size',
    hint: 'Raise max.message.bytes of the topic, or send a smaller record.',
  },
  'internal-error': {
    status: 500,
    meaning: 'Tailrace has a defect',
    hint: 'Send the request again. Report the defect together with the log line of the service.',
  },
  'invalid-settings': {
    status: 500,
    meaning: 'a setting is missing or invalid',
    hint: 'Correct every problem that the message lists, and start again.',
  },
  'invalid-configuration': {
    status: 400,
    meaning: 'sources or destinations are invalid',
    hint: 'Correct every problem that the message lists, and apply the configuration again.',
  },
  'invalid-export': {
    status: 400,
    meaning: 'an export of the configuration cannot be opened',
    hint: 'Use a complete copy of the file, and the key or passphrase that the message names.',
  },
  'secret-locked': {
    status: 503,
    meaning: 'a secret of the configuration is encrypted with a key that this process does not have',
    hint: 'Set TAILRACE_SECRET_KEY or TAILRACE_SECRET_KEY_PREVIOUS to that key.',
  },
  'secret-key-missing': {
    status: 409,
    meaning: 'a secret cannot be stored, because there is no key to encrypt it with',
    hint: 'Set TAILRACE_SECRET_KEY to 32 bytes in hex; make a key with `openssl rand -hex 32`.',
  },
  'invalid-membership': {
    status: 400,
    meaning: 'a line of an audience membership is invalid',
    hint: 'Correct the line that the message names, and send the whole membership again.',
  },
  'local-start-failed': {
    status: 500,
    meaning: 'a process that `npm start` or a test needs could not be started',
    hint: 'Fix the cause that the message names, and start again.',
  },
  'history-unavailable': {
    status: 503,
    meaning: 'the history of events cannot be read now',
    hint: 'See the reason in the message, and check TAILRACE_DATA_DIR and its disk. Deliveries do not depend on it.',
  },
  'took-too-long': {
    status: 408,
    meaning: 'the work has taken the longest time that it may take',
    hint: 'See the message. A replay or sync of a limited token continues with the rest when it is started again; choose a higher rate, or use an unlimited token.',
  },
  'replay-too-large': {
    status: 409,
    meaning: 'a replay of events covers more deliveries than control can compare in its memory',
    hint: 'Replay shorter periods one after another, or the sources one by one.',
  },
  superseded: {
    status: 409,
    meaning: 'another process has taken over this work',
    hint: 'Wait until the other process ends; run this one again if work is left.',
  },
  'shutting-down': {
    status: 503,
    meaning: 'this process is stopping',
    hint: 'Send the request again; another replica, or this one after its restart, accepts it.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;

/** An invalid field such as `settings.webhooks[0].url`, and the rule as a clause that follows its name. */
export interface FieldProblem {
  readonly field: string;
  readonly rule: string;
}

/** An error with a code from {@link errorTable}. `message` describes this case in full sentences. */
export class TailraceError extends Error {
  readonly code: ErrorCode;
  /** The invalid fields, for an error about fields; `message` names them too. */
  readonly problems: readonly FieldProblem[] | undefined;
  /** Seconds after which to try again, if known. */
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

  /** HTTP status of an answer with this error. */
  get status(): number {
    return errorTable[this.code].status;
  }
}

/** Whether `error` is a TailraceError, with the code `code` if it is given. */
export function isTailraceError(error: unknown, code?: ErrorCode): error is TailraceError {
  return error instanceof TailraceError && (code === undefined || error.code === code);
}

function capitalise(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
