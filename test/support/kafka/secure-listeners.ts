/** Listeners that require TLS and authentication, beside the one without, and allow only operations with an ACL. */
import type { BrokerChanges } from '@tailrace/local';

export interface SecureListener {
  /** Of the listener for passwords. */
  readonly port: number;
  /** A PEM file with the key (PKCS 8) and the certificate. */
  readonly keyStore: string;
  /** Passwords by user name, for PLAIN and SCRAM. */
  readonly users: Readonly<Record<string, string>>;
  /** A listener for client certificates. */
  readonly certificates?: {
    readonly port: number;
    /** A PEM file with the authority of the clients. */
    readonly authority: string;
  };
  /** A listener for OAUTHBEARER, which accepts tokens with these claims. */
  readonly tokens?: {
    readonly port: number;
    readonly jwksUrl: string;
    readonly issuer: string;
    readonly audience: string;
  };
  /** Clients have to authenticate again after this time (`connections.max.reauth.ms`). */
  readonly reauthenticateMs?: number;
  /** Writes each decision of the authorizer into the file. */
  readonly decisions?: string;
}

type Properties = ReturnType<BrokerChanges['properties']>;

/** Clients of the listener without authentication may do everything. */
export function secured(secure: SecureListener): BrokerChanges {
  return {
    properties: (base) => propertiesOf(base, secure),
    systemProperties: systemPropertiesOf(secure),
    users: secure.users,
  };
}

function propertiesOf(base: Properties, secure: SecureListener): Properties {
  const { port, keyStore, users, certificates, tokens, reauthenticateMs } = secure;
  const plainUsers = Object.entries(users).map(([name, password]) => `user_${name}="${password}"`);
  const module = (name: string): string => `org.apache.kafka.common.security.${name}LoginModule required`;
  const listeners = [
    { name: 'SECURE', protocol: 'SASL_SSL', port },
    ...(certificates ? [{ name: 'CERTIFICATES', protocol: 'SSL', port: certificates.port }] : []),
    ...(tokens ? [{ name: 'TOKENS', protocol: 'SASL_SSL', port: tokens.port }] : []),
  ];
  const add = (property: string, more: readonly string[]): Properties => ({
    [property]: [base[property], ...more].join(','),
  });
  const addresses = listeners.map(({ name, port }) => `${name}://127.0.0.1:${port}`);
  return {
    ...base,
    ...add('listeners', addresses),
    ...add('advertised.listeners', addresses),
    ...add(
      'listener.security.protocol.map',
      listeners.map(({ name, protocol }) => `${name}:${protocol}`),
    ),
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keyStore,
    'listener.name.secure.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'listener.name.secure.plain.sasl.jaas.config': `${module('plain.Plain')} ${plainUsers.join(' ')};`,
    'listener.name.secure.scram-sha-256.sasl.jaas.config': `${module('scram.Scram')};`,
    'listener.name.secure.scram-sha-512.sasl.jaas.config': `${module('scram.Scram')};`,
    ...(certificates && {
      'listener.name.certificates.ssl.client.auth': 'required',
      'listener.name.certificates.ssl.truststore.type': 'PEM',
      'listener.name.certificates.ssl.truststore.location': certificates.authority,
      'listener.name.certificates.ssl.principal.mapping.rules': 'RULE:^CN=([^,]+).*$/$1/,DEFAULT',
    }),
    ...(tokens && {
      'listener.name.tokens.sasl.enabled.mechanisms': 'OAUTHBEARER',
      'listener.name.tokens.oauthbearer.sasl.jaas.config': `${module('oauthbearer.OAuthBearer')};`,
      'listener.name.tokens.oauthbearer.sasl.server.callback.handler.class':
        'org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler',
      'sasl.oauthbearer.jwks.endpoint.url': tokens.jwksUrl,
      'sasl.oauthbearer.expected.issuer': tokens.issuer,
      'sasl.oauthbearer.expected.audience': tokens.audience,
    }),
    ...(reauthenticateMs !== undefined && { 'connections.max.reauth.ms': reauthenticateMs }),
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS',
  };
}

function systemPropertiesOf({ tokens, decisions }: SecureListener): Record<string, string> {
  return {
    // Kafka 4 fetches keys from these addresses only.
    ...(tokens && { 'org.apache.kafka.sasl.oauthbearer.allowed.urls': tokens.jwksUrl }),
    ...(decisions !== undefined && {
      'tailrace.authorizer.log': decisions,
      'tailrace.authorizer.level': 'debug',
    }),
  };
}
