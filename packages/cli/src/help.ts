/** The end of the help of each command: its examples, and the environment variables that it reads. */

/** The environment variables that a command reads, by how it works. */
const environment = {
  api: [
    ['TAILRACE_API_TOKEN', 'a token of the control service (required)'],
    ['TAILRACE_URL', 'the control service (default http://localhost:8081)'],
  ],
  kafka: [
    ['KAFKA_BROKERS', 'bootstrap servers, host:port,... (required)'],
    ['KAFKA_CLIENT_ID', 'beginning of the client id (default tailrace)'],
    ['KAFKA_SASL_MECHANISM', 'plain, scram-sha-256, scram-sha-512 or oauthbearer'],
    ['KAFKA_SASL_USERNAME', 'set together with the mechanism and the password'],
    ['KAFKA_SASL_PASSWORD', 'set together with the mechanism and the user name'],
    ['KAFKA_OAUTH_TOKEN_URL', 'token server, for oauthbearer'],
    ['KAFKA_OAUTH_CLIENT_ID', 'client id for the token server'],
    ['KAFKA_OAUTH_CLIENT_SECRET', 'client secret for the token server'],
    ['KAFKA_OAUTH_SCOPE', 'scope to request from the token server'],
    ['KAFKA_OAUTH_CA', 'certificate authority of the token server'],
    ['KAFKA_SSL', 'true to use TLS (default false)'],
    ['KAFKA_SSL_CA', 'certificate authority, as PEM or the path of a file'],
    ['KAFKA_SSL_CERT', 'client certificate, as PEM or the path of a file'],
    ['KAFKA_SSL_KEY', 'its private key, as PEM or the path of a file'],
    ['KAFKA_SSL_KEY_PASSWORD', 'password of the private key'],
    ['TAILRACE_TOPIC_PREFIX', 'prefix of topic names (default tailrace.)'],
    ['TAILRACE_OWNER', 'the installation that the topics belong to'],
    ['TAILRACE_PARTITIONS', 'partitions of topics to create (default 6)'],
    ['TAILRACE_REPLICATION', 'copies of topics to create (default: by the number of brokers)'],
    ['TAILRACE_RETRY_SCHEDULE', 'delays between attempts, such as 10s,1m,5m'],
    ['TAILRACE_SECRET_KEY', 'key that encrypts secrets in Kafka'],
    ['TAILRACE_SECRET_KEY_PREVIOUS', 'previous key, during a rotation'],
  ],
  doctor: [
    ['TAILRACE_DOCTOR_TARGETS', 'replicas, as router=host:port,...; every address of a host is one'],
    ['TAILRACE_INGEST_PORT', 'port of ingest on this machine (default 8080)'],
    ['TAILRACE_CONTROL_PORT', 'port of control on this machine (default 8081)'],
    ['TAILRACE_METRICS_PORT', 'first of the four metrics ports of npm start (default 9464)'],
  ],
  secretKeys: [
    ['TAILRACE_SECRET_KEY', 'key that encrypts secrets in Kafka'],
    ['TAILRACE_SECRET_KEY_PREVIOUS', 'previous key, during a rotation'],
  ],
  passphrase: [['TAILRACE_EXPORT_PASSPHRASE', 'seals and opens exports, in place of the secret key']],
  prefix: [['TAILRACE_TOPIC_PREFIX', 'prefix of topic names (default tailrace.)']],
  schemas: [
    ['SCHEMA_REGISTRY_URL', 'a schema registry'],
    ['SCHEMA_REGISTRY_USERNAME', 'user name for it'],
    ['SCHEMA_REGISTRY_PASSWORD', 'password for it'],
    ['SCHEMA_REGISTRY_TOKEN', 'bearer token for it, instead of user name and password'],
    ['SCHEMA_REGISTRY_CA', 'its certificate authority, as PEM or the path of a file'],
  ],
  retryWindow: [['TAILRACE_RETRY_WINDOW', 'time from the first to the last attempt (default 4h)']],
} as const satisfies Record<string, readonly (readonly [name: string, meaning: string])[]>;

export type EnvironmentOf = keyof typeof environment;

/** The end of the help of a command. */
export function notes({
  examples,
  reads,
  times,
}: {
  readonly examples: readonly string[];
  readonly reads: readonly EnvironmentOf[];
  /** Whether it takes a time. */
  readonly times: boolean;
}): string {
  const variables = reads.flatMap((kind) => [...environment[kind]]);
  return [
    ...(times ? ['', aboutTimes] : []),
    '',
    'Examples:',
    ...examples.map((example) => `  ${/ \| | && |^[A-Z]+=/.test(example) ? example : `tailrace ${example}`}`),
    ...(variables.length > 0 ? ['', 'Environment variables:'] : []),
    ...variables.map(([name, meaning]) => `  ${name.padEnd(28)}  ${meaning}`.trimEnd()),
    ...(reads.some((kind) => kind !== 'prefix')
      ? ['  A secret may be in a file: <NAME>_FILE is its path.']
      : []),
    ...(variables.length > 0 ? [`  ${'NO_COLOR'.padEnd(28)}  no colours if set`] : []),
    '',
    'Exit codes: 0 done, 1 failed, 2 invalid command line or settings, 130 interrupted.',
  ].join('\n');
}

const aboutTimes =
  'A <time> is a date and time in ISO 8601, UTC by default (2026-05-01T08:30), or an age\n' +
  '(90s, 15m, 2h, 7d).';
