/** The settings that several services share, so that one name means one thing everywhere. */
import { readFileSync } from 'node:fs';
import type { KafkaSettings } from '@tailrace/kafka';
import { parseDuration } from '@tailrace/topics';
import {
  brokers,
  choice,
  duration,
  durations,
  flag,
  hexKey,
  httpUrl,
  integer,
  pattern,
  port,
  secret,
  text,
} from './kinds.ts';
import { derived, group, required, type Reading, type Setting } from './settings.ts';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** What `runService` itself needs; every service spreads this into its settings. */
export interface ServiceSettings {
  readonly logLevel: LogLevel;
  readonly metricsPort: number;
  readonly shutdownGraceMs: number;
}

export function serviceSettings(defaults: { readonly metricsPort: number }): {
  readonly [Name in keyof ServiceSettings]: Setting<ServiceSettings[Name]>;
} {
  return {
    logLevel: choice('LOG_LEVEL', logLevels, 'info'),
    metricsPort: port('TAILRACE_METRICS_PORT', defaults.metricsPort),
    // Below the 30 s after which Kubernetes kills, so that what hung is still named in the log.
    shutdownGraceMs: duration('TAILRACE_SHUTDOWN_GRACE', 25_000),
  };
}

/** How to reach Kafka; `clientId` is what the brokers' logs and quotas call this process. */
export function kafkaSettings(clientId: string): Setting<KafkaSettings> {
  const security = group(
    {
      brokers: required(
        brokers('KAFKA_BROKERS'),
        'Give the bootstrap servers as host:port, separated by commas, such as localhost:9092.',
      ),
      mechanism: choice('KAFKA_SASL_MECHANISM', ['plain', 'scram-sha-256', 'scram-sha-512']),
      username: text('KAFKA_SASL_USERNAME'),
      password: secret('KAFKA_SASL_PASSWORD'),
      ssl: flag('KAFKA_SSL', false),
      sslCa: text('KAFKA_SSL_CA'),
    },
    ({ mechanism, username, password, ssl, sslCa }) => {
      const problems: string[] = [];
      const together = {
        KAFKA_SASL_MECHANISM: mechanism,
        KAFKA_SASL_USERNAME: username,
        KAFKA_SASL_PASSWORD: password,
      };
      const unset = Object.entries(together).filter(([, value]) => value === undefined);
      if (unset.length > 0 && unset.length < 3) {
        const names = unset.map(([name]) => name).join(' and ');
        problems.push(`${names}: not set. Set mechanism, username and password together, or none of them.`);
      }
      if (sslCa !== undefined && !ssl) {
        problems.push('KAFKA_SSL_CA: set without TLS. Set KAFKA_SSL to true too, or unset KAFKA_SSL_CA.');
      }
      return problems;
    },
  );
  return derived(security, ({ brokers, mechanism, username = '', password = '', ssl, sslCa }) => {
    const authority = readAuthority(sslCa);
    if ('problems' in authority) return authority;
    const settings: KafkaSettings = {
      brokers,
      clientId,
      ...(mechanism && { sasl: Object.freeze({ mechanism, username, password }) }),
      ...(ssl && { ssl: Object.freeze(authority.value === undefined ? {} : { ca: authority.value }) }),
    };
    return { value: Object.freeze(settings) };
  });
}

function readAuthority(pemOrPath: string | undefined): Reading<string | undefined> {
  const isPem = (content: string): boolean => content.includes('-----BEGIN CERTIFICATE-----');
  if (pemOrPath === undefined || isPem(pemOrPath)) return { value: pemOrPath };
  try {
    const content = readFileSync(pemOrPath, 'utf8');
    if (isPem(content)) return { value: content };
    return { problems: ['KAFKA_SSL_CA: the file holds no certificate in PEM form'] };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problems: [`KAFKA_SSL_CA: neither a certificate in PEM form nor a file: ${why}`] };
  }
}

/** A registry with Confluent's interface; user name and password may be in the URL. */
export function schemaRegistryUrl(): Setting<string | undefined> {
  return httpUrl('SCHEMA_REGISTRY_URL');
}

/** The prefix of every topic's name, as `topicNames` of @tailrace/topics takes it. */
export function topicPrefix(): Setting<string> {
  return pattern(
    'TAILRACE_TOPIC_PREFIX',
    'up to 150 letters, digits, dots, dashes and underscores',
    /^[a-zA-Z0-9._-]{1,150}$/,
    'tailrace.',
  );
}

const hourMs = 3_600_000;
const defaultScheduleMs = '10s,1m,5m,20m,1h,1h,1h,20m'.split(',').map((delay) => parseDuration(delay) ?? NaN);

/** Delays before the second, third ... attempt, in milliseconds. */
export function retrySchedule(): Setting<readonly number[]> {
  return durations('TAILRACE_RETRY_SCHEDULE', Object.freeze(defaultScheduleMs), {
    atMost: 50,
    maxMs: 4 * hourMs,
  });
}

/** What decides which topics there are. */
export function topicSettings(): Setting<{
  readonly prefix: string;
  readonly partitions: number;
  /** Copies of each record in topics that are created; undefined for what the number of brokers allows. */
  readonly replication: number | undefined;
  readonly retryScheduleMs: readonly number[];
}> {
  return group({
    prefix: topicPrefix(),
    partitions: integer('TAILRACE_PARTITIONS', { min: 1, max: 10_000 }, 6),
    replication: integer('TAILRACE_REPLICATION', { min: 1, max: 9 }),
    retryScheduleMs: retrySchedule(),
  });
}

const secretKeyBytes = 32;

/** The keys of secrets at rest: the one that seals, and during a rotation the one before, which still opens. */
export function secretKeys(): Setting<{
  readonly current: Buffer | undefined;
  readonly previous: Buffer | undefined;
}> {
  return group(
    {
      current: hexKey('TAILRACE_SECRET_KEY', secretKeyBytes),
      previous: hexKey('TAILRACE_SECRET_KEY_PREVIOUS', secretKeyBytes),
    },
    ({ current, previous }) =>
      previous !== undefined && current === undefined
        ? [
            'TAILRACE_SECRET_KEY: not set, and TAILRACE_SECRET_KEY_PREVIOUS is. Set it to the newer of the two.',
          ]
        : [],
  );
}
