/** The settings that several services share. A name has the same meaning in all of them. */
import { readFileSync } from 'node:fs';
import { TailraceError } from '@tailrace/errors';
import type { KafkaSettings } from '@tailrace/kafka';
import Type, { type StaticDecode } from 'typebox';
import { cidrs, duration, hexKey, httpUrl, port } from './kinds.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

const logLevel = Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
  env: 'LOG_LEVEL',
  default: 'info',
  description: 'Lowest level of the log lines that are written.',
});
export type LogLevel = StaticDecode<typeof logLevel>;

/** The settings that `runService` needs; every service spreads them into its own. */
export function serviceSettings(defaults: { readonly metricsPort: number }) {
  return {
    logLevel,
    metricsPort: port({
      env: 'TAILRACE_METRICS_PORT',
      default: defaults.metricsPort,
      description: 'Port of `/metrics`, `/livez` and `/readyz`.',
    }),
    // Kubernetes kills a process after 30 s; below that, the log still names the component that did not close.
    shutdownGraceMs: duration({
      env: 'TAILRACE_SHUTDOWN_GRACE',
      default: 25 * secondMs,
      description: 'Time to finish what is in flight when the process is stopped.',
    }),
  };
}

/** How to reach Kafka; `clientId` identifies this process in the brokers' logs and quotas. */
export function kafkaSettings(clientId: string) {
  const variables = Type.Object({
    brokers: Type.Array(Type.String({ format: 'broker' }), {
      env: 'KAFKA_BROKERS',
      maxItems: 1_000,
      form: 'host:port, or several separated by commas',
      hint: 'Set it to the bootstrap servers as host:port, separated by commas, such as localhost:9092.',
      description: 'Bootstrap servers.',
    }),
    mechanism: Type.Optional(
      Type.Enum(['plain', 'scram-sha-256', 'scram-sha-512'], {
        env: 'KAFKA_SASL_MECHANISM',
        description: 'SASL mechanism; set it together with user name and password.',
      }),
    ),
    username: Type.Optional(Type.String({ env: 'KAFKA_SASL_USERNAME', description: 'SASL user name.' })),
    password: Type.Optional(
      Type.String({ env: 'KAFKA_SASL_PASSWORD', writeOnly: true, description: 'SASL password.' }),
    ),
    ssl: Type.Boolean({ env: 'KAFKA_SSL', default: false, description: 'Connect with TLS.' }),
    ca: Type.Optional(
      Type.Decode(
        Type.String({
          env: 'KAFKA_SSL_CA',
          form: 'a file, or a certificate in PEM',
          description: 'Certificate authority of the brokers, in PEM, or a file that contains it.',
        }),
        readAuthority,
      ),
    ),
  });
  return Type.Decode(variables, ({ brokers, mechanism, username, password, ssl, ca }): KafkaSettings => {
    const sasl = Object.entries({
      KAFKA_SASL_MECHANISM: mechanism,
      KAFKA_SASL_USERNAME: username,
      KAFKA_SASL_PASSWORD: password,
    });
    const unset = sasl.flatMap(([name, value]) => (value === undefined ? [name] : []));
    const problems: string[] = [];
    if (unset.length > 0 && unset.length < sasl.length) {
      const names = unset.join(' and ');
      problems.push(`${names}: not set. Set mechanism, user name and password together, or none of them.`);
    }
    if (ca !== undefined && !ssl) {
      problems.push('KAFKA_SSL_CA: set without TLS. Set KAFKA_SSL to true, or unset KAFKA_SSL_CA.');
    }
    if (problems.length > 0) throw invalid(problems.join('\n'));
    return {
      ...{ brokers, clientId },
      ...(mechanism && { sasl: { mechanism, username: username ?? '', password: password ?? '' } }),
      ...(ssl && { ssl: ca === undefined ? {} : { ca } }),
    };
  });
}

function readAuthority(pemOrPath: string): string {
  const isPem = (content: string): boolean => content.includes('-----BEGIN CERTIFICATE-----');
  if (isPem(pemOrPath)) return pemOrPath;
  let content: string;
  try {
    content = readFileSync(pemOrPath, 'utf8');
  } catch (error) {
    throw invalid(
      `KAFKA_SSL_CA: neither a certificate in PEM nor a readable file: ${(error as Error).message}`,
    );
  }
  if (!isPem(content)) throw invalid('KAFKA_SSL_CA: the file contains no certificate in PEM');
  return content;
}

/** A registry with Confluent's interface; user name and password may be in the URL. */
export function schemaRegistryUrl() {
  return Type.Optional(
    httpUrl({
      env: 'SCHEMA_REGISTRY_URL',
      description:
        'Schema registry with the interface of Confluent; user name and password may be in the URL.',
    }),
  );
}

/** The prefix of every topic's name, as `topicNames` of @tailrace/topics takes it. */
export function topicPrefix() {
  return Type.String({
    env: 'TAILRACE_TOPIC_PREFIX',
    pattern: '^[a-zA-Z0-9._-]{1,150}$',
    form: 'up to 150 letters, digits, dots, dashes and underscores',
    default: 'tailrace.',
    description: 'Prefix of the names of topics and consumer groups.',
  });
}

/** The settings that decide which topics exist. */
export function topicSettings() {
  return Type.Object({
    prefix: topicPrefix(),
    partitions: Type.Integer({
      env: 'TAILRACE_PARTITIONS',
      minimum: 1,
      maximum: 10_000,
      default: 6,
      description: 'Partitions of topics that are created.',
    }),
    replication: Type.Optional(
      Type.Integer({
        env: 'TAILRACE_REPLICATION',
        minimum: 1,
        maximum: 9,
        description:
          'Copies of each record in topics that are created; by default 3, or the number of brokers if fewer.',
      }),
    ),
    retryScheduleMs: Type.Array(Type.Integer({ unit: 'ms', minimum: 1, maximum: 4 * hourMs }), {
      env: 'TAILRACE_RETRY_SCHEDULE',
      maxItems: 50,
      form: '1 to 50 durations such as 10s,1m,1h, each at most 4h',
      default: [10 * secondMs, ...[1, 5, 20, 60, 60, 60, 20].map((minutes) => minutes * minuteMs)],
      description: 'Delays before the second, third … attempt. Each different delay has a retry topic.',
    }),
  });
}

export function retryWindow() {
  return duration({
    env: 'TAILRACE_RETRY_WINDOW',
    maximum: 4 * hourMs,
    default: 4 * hourMs,
    description: 'No attempt is made later than this after the first.',
  });
}

/** The keys for secrets at rest: `current` encrypts; during a rotation `previous` still decrypts. */
export function secretKeys() {
  const keys = Type.Object({
    current: Type.Optional(
      hexKey(32, {
        env: 'TAILRACE_SECRET_KEY',
        description: 'Key that encrypts the secrets of destinations in Kafka.',
      }),
    ),
    previous: Type.Optional(
      hexKey(32, {
        env: 'TAILRACE_SECRET_KEY_PREVIOUS',
        description: 'The key before the current one, during a rotation.',
      }),
    ),
  });
  return Type.Decode(keys, (values) => {
    if (values.current !== undefined || values.previous === undefined) return values;
    throw invalid(
      'TAILRACE_SECRET_KEY: not set, but TAILRACE_SECRET_KEY_PREVIOUS is. Set it to the newer of the two keys.',
    );
  });
}

/** The time limit and the networks of requests to receivers. */
export function receiverSettings() {
  return {
    timeoutMs: duration({
      env: 'TAILRACE_DELIVERY_TIMEOUT',
      default: 5 * secondMs,
      description: 'Time limit of one request to a receiver, from connecting to the headers of the response.',
    }),
    allowedNetworks: cidrs({
      env: 'TAILRACE_ALLOW_PRIVATE_NETWORKS',
      description: 'Networks that webhooks may reach although they are not public.',
    }),
  };
}

function invalid(problem: string): TailraceError {
  return new TailraceError('invalid-settings', problem);
}
