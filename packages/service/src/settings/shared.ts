/** The settings that several services share. A name has the same meaning in all of them. */
import { TailraceError } from '@tailrace/errors';
import Type, { type StaticDecode } from 'typebox';
import { cidrs, duration, hexKey, host, httpUrl, port } from './kinds.ts';
import { tracingSettings } from './tracing.ts';

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
    host: Type.Optional(
      host({
        env: 'TAILRACE_HOST',
        description: 'Address that every port of the process is on; by default all interfaces.',
      }),
    ),
    metricsPort: port({
      env: 'TAILRACE_METRICS_PORT',
      default: defaults.metricsPort,
      description: 'Port of `/metrics`, `/livez` and `/readyz`.',
    }),
    // Kubernetes kills a process after 30 s; below that, the log still names the component that did not close.
    shutdownDelayMs: duration({
      env: 'TAILRACE_SHUTDOWN_DELAY',
      minimum: 0,
      default: 0,
      description:
        'Time to keep serving after SIGTERM, while `/readyz` is 503 already, until load balancers send nothing more.',
    }),
    shutdownGraceMs: duration({
      env: 'TAILRACE_SHUTDOWN_GRACE',
      default: 25 * secondMs,
      description: 'Time to finish what is in flight when the process is stopped, after the delay.',
    }),
    tracing: tracingSettings(),
  };
}

/** The prefix of every topic's name, as `topicNames` of @tailrace/topology takes it. */
export function topicPrefix() {
  return Type.String({
    env: 'TAILRACE_TOPIC_PREFIX',
    pattern: '^[a-zA-Z0-9._-]{1,150}$',
    form: 'up to 150 letters, digits, dots, dashes and underscores',
    default: 'tailrace.',
    description: 'Prefix of the names of topics and consumer groups.',
  });
}

/** The installation that the topics belong to, as `openConfig` of @tailrace/config takes it. */
export function owner() {
  return Type.Optional(
    Type.String({
      env: 'TAILRACE_OWNER',
      pattern: '^[!-~]{1,200}$',
      form: 'up to 200 letters, digits and signs without spaces',
      description:
        'Installation that the topics belong to, such as namespace/release. Control marks topics without an owner. Processes with another ' +
        'one are refused.',
    }),
  );
}

/** The other replicas of the service, as `openKafka` of a service takes them. */
export function peers() {
  return Type.Optional(
    Type.String({
      env: 'TAILRACE_PEERS',
      pattern: '^[a-zA-Z0-9._-]{1,253}$',
      form: 'a host name',
      description:
        'Name with the addresses of all replicas, such as a headless Service. A replica that alone cannot reach Kafka, by their probes, is ' +
        'then not ready.',
    }),
  );
}

/** When a consumer starts nothing new, as `commitsLateAfterMs` of @tailrace/kafka takes it. */
export function commitsLateAfter() {
  return duration({
    env: 'TAILRACE_COMMITS_LATE_AFTER',
    minimum: secondMs,
    default: 2 * secondMs,
    description:
      'Nothing new is started while finished work has waited this long for its commit, because it would be repeated. ' +
      'Commits that take less than half of it are never late.',
  });
}

/** Whether records wait for others, so that several share a request to Kafka. `lingerMs` has the longest wait of each choice. */
export function latency() {
  return Type.Enum(['balanced', 'lowest'], {
    env: 'TAILRACE_LATENCY',
    default: 'balanced',
    description:
      'balanced: while many events arrive, each waits up to 8 ms for others that share its request to Kafka, which saves a quarter ' +
      'of the CPU time at 200 a second and a third at 1,000. lowest: none waits.',
  });
}

export const lingerMs = { balanced: 8, lowest: 0 } as const;

/** The settings that decide which topics exist. */
export function topicSettings() {
  return Type.Object({
    prefix: topicPrefix(),
    owner: owner(),
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
    throw new TailraceError(
      'invalid-settings',
      'TAILRACE_SECRET_KEY: not set, but TAILRACE_SECRET_KEY_PREVIOUS is. Set it to the newer of the two keys.',
    );
  });
}

/** The address of ingest as applications see it. */
export function ingestPublicUrl() {
  return Type.Optional(
    httpUrl({
      env: 'TAILRACE_INGEST_PUBLIC_URL',
      description:
        'URL at which applications reach ingest, for the settings of the browser SDK and for snippets of the console; by default the ' +
        'host of the request.',
    }),
  );
}

/** Proxies whose headers are believed, as `trustProxies` takes them. */
export function trustedProxies() {
  return cidrs({
    env: 'TAILRACE_TRUSTED_PROXIES',
    description:
      'Networks of proxies whose `X-Forwarded-For` has the address of the client, for the audit log and for `context.ip` of ' +
      'events, and whose `X-Forwarded-Host` has the host of the console.',
  });
}

/** The time limit and the networks of requests to receivers. */
export function receiverSettings() {
  return {
    timeoutMs: duration({
      env: 'TAILRACE_DELIVERY_TIMEOUT',
      default: 5 * secondMs,
      maximum: 300 * secondMs,
      description: 'Time limit of one request to a receiver, from connecting to the headers of the response.',
    }),
    allowedNetworks: cidrs({
      env: 'TAILRACE_ALLOW_PRIVATE_NETWORKS',
      description: 'Networks that webhooks may reach although they are not public.',
    }),
    proxy: egressProxy(),
  };
}

/** The proxy through which webhooks are sent. */
export interface EgressProxy {
  readonly url: string;
  /** `user:password` */
  readonly credentials?: string | undefined;
}

function egressProxy() {
  const proxy = Type.Object({
    url: Type.Optional(
      Type.String({
        env: 'TAILRACE_EGRESS_PROXY',
        format: 'proxy-url',
        form: 'http:// or https:// with a host and perhaps a port, without user name, password or path',
        description:
          'Proxy through which webhooks, the tokens for them and webhooks of notifications are sent, and nothing else.',
      }),
    ),
    credentials: Type.Optional(
      Type.String({
        env: 'TAILRACE_EGRESS_PROXY_CREDENTIALS',
        pattern: '^[^:\\u0000-\\u001f\\u007f]+:[^\\u0000-\\u001f\\u007f]*$',
        form: 'user:password',
        writeOnly: true,
        description: 'User name and password for the proxy, as `user:password`.',
      }),
    ),
  });
  return Type.Decode(proxy, ({ url, credentials }): EgressProxy | undefined => {
    if (url !== undefined) return { url, credentials };
    if (credentials === undefined) return undefined;
    throw new TailraceError(
      'invalid-settings',
      'TAILRACE_EGRESS_PROXY: not set, but TAILRACE_EGRESS_PROXY_CREDENTIALS is. Set it to the URL of the proxy.',
    );
  });
}
