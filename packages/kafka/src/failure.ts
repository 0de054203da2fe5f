/**
 * Converts the client library's errors into Tailrace's errors, with a sentence on how to fix them. One classifier for
 * producers, consumers and administration.
 *
 * Not all errors of the library have a name of their own: while brokers hang or connections close, it throws plain errors
 * ("Broker not connected") and type errors. So an error that is thrown in the library's code counts as a failure of Kafka,
 * and an error that is thrown in Tailrace's code is a defect.
 */
import { TailraceError } from '@tailrace/errors';
import type { Refusal } from './patches/connections/refused-permissions.ts';

export interface LibraryError extends Error {
  readonly type?: string;
  readonly broker?: string;
  readonly cause?: unknown;
  readonly originalError?: unknown;
  /** For an authorization error. */
  readonly refusal?: Refusal;
  /** For a request about several topics, the error of each topic that failed. */
  readonly errors?: readonly unknown[];
}

/** The alerts of TLS by which a broker refuses a client. */
const clientCertificateAlert =
  /alert (certificate required|bad certificate|unknown ca|certificate (expired|revoked|unknown)|unsupported certificate|access denied)/i;

/** Returns a TailraceError. An error that does not come from Kafka or the network is a defect, and is returned unchanged. */
export function kafkaFailure(error: unknown, brokers: readonly string[]): unknown {
  if (error instanceof TailraceError || !(error instanceof Error)) return error;
  const chain = errorChain(error);
  const own = chain.find((cause) => cause instanceof TailraceError);
  if (own) return own;
  const types = chain.map((cause) => cause.type);
  const options = { cause: error };

  if (chain.some(({ name }) => name === 'KafkaJSSASLAuthenticationError')) {
    return new TailraceError('kafka-refused-credentials', undefined, options);
  }
  const alert = chain.map(({ message }) => clientCertificateAlert.exec(message)?.[0]).find(Boolean);
  if (alert !== undefined) {
    return new TailraceError(
      'kafka-refused-credentials',
      `Kafka refused the credentials (TLS ${alert}). Check KAFKA_SSL_CERT and KAFKA_SSL_KEY.`,
      options,
    );
  }
  if (types.some((type) => type?.endsWith('AUTHORIZATION_FAILED'))) {
    const refusal = chain.find((cause) => cause.refusal)?.refusal;
    return new TailraceError('kafka-permission-missing', messageOf(refusal), options);
  }
  if (types.includes('INVALID_TIMESTAMP')) {
    return new TailraceError('kafka-refused-clock', undefined, options);
  }
  if (types.includes('UNKNOWN_TOPIC_OR_PARTITION')) {
    return new TailraceError('topic-missing', undefined, options);
  }
  if (types.includes('MESSAGE_TOO_LARGE') || types.includes('RECORD_LIST_TOO_LARGE')) {
    return new TailraceError('record-too-large', undefined, options);
  }
  if (chain.some(isOfLibrary) || chain.some(isNetworkError)) {
    const root: LibraryError = chain.at(-1) ?? error;
    const text = root.message.replace(/\.$/, '');
    const address = `Kafka at ${brokers.join(', ')}`;
    // A broker that returns an error has been reached, so its address is not the problem.
    const message = types.some(Boolean)
      ? `${address} returned an error: ${text}. The brokers' logs say more.`
      : `${address} cannot be used: ${text}. Check KAFKA_BROKERS and that the brokers run.`;
    return new TailraceError('kafka-unavailable', message, options);
  }
  return error;
}

function messageOf(refusal: Refusal | undefined): string | undefined {
  if (!refusal) return undefined;
  const { operation, resource, names } = refusal;
  const shown = names.length > 5 ? [...names.slice(0, 5), 'others'] : names;
  const one = shown.length > 1 ? `one of the ${resource}s` : `the ${resource}`;
  return (
    `Kafka refuses ${operation} on ${one} ${shown.join(', ')}`.trimEnd() +
    ': the user has no permission for it. Grant it; `npx tailrace permissions` lists what each user needs. No restart is needed.'
  );
}

/** The error and its causes, outermost first. */
export function errorChain(error: unknown): LibraryError[] {
  const chain: LibraryError[] = [];
  let next = error;
  while (next instanceof Error && chain.length < 10) {
    const current = next as LibraryError;
    chain.push(current);
    next = current.cause ?? current.originalError ?? current.errors?.[0];
  }
  return chain;
}

function isOfLibrary({ name, stack = '' }: LibraryError): boolean {
  if (name.startsWith('KafkaJS')) return true;
  const thrower = stack.split('\n').find((line) => /^\s+at /.test(line) && !line.includes('node:'));
  return thrower?.includes('node_modules/kafkajs/') === true;
}

function isNetworkError(error: LibraryError): boolean {
  return /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|EPIPE|ETIMEDOUT|ERR_SSL|ERR_TLS)/.test(
    (error as NodeJS.ErrnoException).code ?? '',
  );
}
