/** How to reach Kafka: brokers, TLS, authentication, and the name that brokers see. */
import { hostname } from 'node:os';
import { TailraceError } from '@tailrace/errors';
import type { KafkaSettings } from '@tailrace/kafka';
import Type, { type StaticDecode } from 'typebox';
import { httpUrl } from './kinds.ts';
import { certificates, privateKey, problemOfPair } from './pem.ts';

/** Of the client id, so that it fits into the brokers' metrics and every log. */
const maxHostLetters = 100;

const variables = Type.Object({
  brokers: Type.Array(Type.String({ format: 'broker' }), {
    env: 'KAFKA_BROKERS',
    maxItems: 1_000,
    form: 'host:port, or several separated by commas',
    hint: 'Set it to the bootstrap servers as host:port, separated by commas, such as localhost:9092.',
    description: 'Bootstrap servers.',
  }),
  clientPrefix: Type.String({
    env: 'KAFKA_CLIENT_ID',
    pattern: '^[a-zA-Z0-9._-]{1,100}$',
    form: 'up to 100 letters, digits, dots, dashes and underscores',
    default: 'tailrace',
    description: 'Beginning of the client id, which is `<KAFKA_CLIENT_ID>-<service>-<host name>`.',
  }),
  mechanism: Type.Optional(
    Type.Enum(['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'], {
      env: 'KAFKA_SASL_MECHANISM',
      description:
        'SASL mechanism; set it together with user name and password, or for oauthbearer with the token server.',
    }),
  ),
  username: Type.Optional(Type.String({ env: 'KAFKA_SASL_USERNAME', description: 'SASL user name.' })),
  password: Type.Optional(
    Type.String({ env: 'KAFKA_SASL_PASSWORD', writeOnly: true, description: 'SASL password.' }),
  ),
  tokenUrl: Type.Optional(
    httpUrl({
      env: 'KAFKA_OAUTH_TOKEN_URL',
      description: 'Token server of oauthbearer: its token endpoint for the client credentials grant.',
    }),
  ),
  oauthClientId: Type.Optional(
    Type.String({ env: 'KAFKA_OAUTH_CLIENT_ID', description: 'Client id for the token server.' }),
  ),
  clientSecret: Type.Optional(
    Type.String({
      env: 'KAFKA_OAUTH_CLIENT_SECRET',
      writeOnly: true,
      description: 'Client secret for the token server.',
    }),
  ),
  scope: Type.Optional(
    Type.String({ env: 'KAFKA_OAUTH_SCOPE', description: 'Scope to request from the token server.' }),
  ),
  tokenCa: Type.Optional(
    certificates({
      env: 'KAFKA_OAUTH_CA',
      description: 'Certificate authority of the token server, in PEM, or a file that contains it.',
    }),
  ),
  ssl: Type.Boolean({ env: 'KAFKA_SSL', default: false, description: 'Connect with TLS.' }),
  ca: Type.Optional(
    certificates({
      env: 'KAFKA_SSL_CA',
      description: 'Certificate authority of the brokers, in PEM, or a file that contains it.',
    }),
  ),
  cert: Type.Optional(
    certificates({
      env: 'KAFKA_SSL_CERT',
      description: 'Client certificate, in PEM, or a file that contains it; set it together with its key.',
    }),
  ),
  key: Type.Optional(
    privateKey({
      env: 'KAFKA_SSL_KEY',
      description: 'Private key of the client certificate, in PEM, or a file that contains it.',
    }),
  ),
  passphrase: Type.Optional(
    Type.String({
      env: 'KAFKA_SSL_KEY_PASSWORD',
      writeOnly: true,
      description: 'Password of the private key, where it is encrypted.',
    }),
  ),
});
type Values = StaticDecode<typeof variables>;

/** @param service the part of Tailrace that connects, for its client id */
export function kafkaSettings(service: string) {
  return Type.Decode(variables, (values): KafkaSettings => {
    const problems = [...saslProblems(values), ...tlsProblems(values)];
    if (problems.length > 0) throw new TailraceError('invalid-settings', problems.join('\n'));
    const { brokers, clientPrefix, ssl, ca, cert, key, passphrase } = values;
    return {
      brokers,
      clientId: clientIdOf(clientPrefix, service, hostname()),
      ...authentication(values),
      ...(ssl && {
        ssl: { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert, key, passphrase }) },
      }),
    };
  });
}

/** The host name is that of the pod. Its end is kept if it is too long, because the end differs between pods. */
export function clientIdOf(prefix: string, service: string, host: string): string {
  return `${prefix}-${service}-${host.replaceAll(/[^a-zA-Z0-9._-]/g, '-').slice(-maxHostLetters)}`;
}

function authentication(values: Values): Pick<KafkaSettings, 'sasl'> {
  const { mechanism, username = '', password = '', scope, tokenCa: ca } = values;
  if (mechanism === undefined) return {};
  if (mechanism !== 'oauthbearer') return { sasl: { mechanism, username, password } };
  const { tokenUrl = '', oauthClientId: clientId = '', clientSecret = '' } = values;
  return { sasl: { mechanism, tokenUrl, clientId, clientSecret, scope, ca } };
}

function saslProblems(values: Values): string[] {
  const { mechanism } = values;
  const account = { KAFKA_SASL_USERNAME: values.username, KAFKA_SASL_PASSWORD: values.password };
  const client = {
    KAFKA_OAUTH_TOKEN_URL: values.tokenUrl,
    KAFKA_OAUTH_CLIENT_ID: values.oauthClientId,
    KAFKA_OAUTH_CLIENT_SECRET: values.clientSecret,
  };
  const optional = { KAFKA_OAUTH_SCOPE: values.scope, KAFKA_OAUTH_CA: values.tokenCa };
  const oauth = { ...client, ...optional };
  if (mechanism === 'oauthbearer') {
    return [
      ...listed(unset(client), 'not set. KAFKA_SASL_MECHANISM=oauthbearer requires it.'),
      ...listed(set(account), 'not used by KAFKA_SASL_MECHANISM=oauthbearer. Unset it.'),
    ];
  }
  const missing = unset({ KAFKA_SASL_MECHANISM: mechanism, ...account });
  const isPart = missing.length > 0 && (mechanism !== undefined || set(account).length > 0);
  return [
    ...listed(
      isPart ? missing : [],
      'not set. Set mechanism, user name and password together, or none of them.',
    ),
    ...listed(set(oauth), 'set without KAFKA_SASL_MECHANISM=oauthbearer. Set the mechanism, or unset it.'),
  ];
}

function tlsProblems({ ssl, ca, cert, key, passphrase }: Values): string[] {
  const given = { KAFKA_SSL_CA: ca, KAFKA_SSL_CERT: cert, KAFKA_SSL_KEY: key };
  if (!ssl) return listed(set(given), 'set without TLS. Set KAFKA_SSL to true, or unset it.');
  if (cert === undefined && key === undefined) return [];
  const missing = unset({ KAFKA_SSL_CERT: cert, KAFKA_SSL_KEY: key });
  if (cert === undefined || key === undefined) {
    return listed(missing, 'not set. A client certificate needs KAFKA_SSL_CERT and KAFKA_SSL_KEY.');
  }
  const problem = problemOfPair(cert, key, passphrase);
  return problem === undefined ? [] : [problem];
}

type Named = Readonly<Record<string, unknown>>;
const set = (values: Named): string[] => Object.keys(values).filter((name) => values[name] !== undefined);
const unset = (values: Named): string[] => Object.keys(values).filter((name) => values[name] === undefined);

function listed(names: readonly string[], problem: string): string[] {
  return names.length > 0 ? [`${names.join(' and ')}: ${problem}`] : [];
}
