/**
 * A Kafka as platform teams have it: TLS, passwords, client certificates, tokens, and an authorizer that allows only what ACLs
 * grant. It has a user for each part of Tailrace, with the permissions of packages/topology.
 */
import { createPrivateKey } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startOwnBroker } from '@tailrace/local';
import { permissions, type Operation, type Permission } from '@tailrace/topology';
import kafkajs from 'kafkajs';
import type { Environment } from '../processes/process.ts';
import { certificates } from '../receivers/certificates.ts';
import { closedPort } from '../receivers/closed-port.ts';
import { secured, type SecureListener } from './secure-listeners.ts';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

/** A check of the authorizer. */
export interface Decision {
  readonly user: string;
  readonly allowed: boolean;
  /** `READ`. */
  readonly operation: string;
  /** `Topic:LITERAL:tailrace.events`. */
  readonly resource: string;
  /** The ACL that allowed it, as `operation type pattern name`; undefined where it was denied. */
  readonly rule: string | undefined;
}

export interface SecureBroker extends AsyncDisposable {
  /** Of the listener without authentication, whose clients may do everything. */
  readonly brokers: readonly string[];
  /** `host:port` of the other listeners. */
  readonly addresses: { readonly passwords: string; readonly certificates: string; readonly tokens: string };
  /** A file with the authority of all certificates. */
  readonly authority: string;
  /** Settings of a client with a password. */
  environment(user: string, mechanism?: string): Environment;
  /** Settings of a client with a certificate, whose user is `tailrace`. Its key is encrypted. */
  certificateEnvironment(): Environment;
  /** Settings of a client with a token for the user. */
  tokenEnvironment(user: string, tokenUrl: string): Environment;
  /** Grants a permission to a user. */
  grant(user: string, granted: readonly Permission[], prefix: string): Promise<void>;
  /** All decisions so far. */
  decisions(): Promise<Decision[]>;
}

export interface SecureBrokerOptions {
  /** Users in addition to those of the table of permissions. */
  readonly users?: readonly string[];
  readonly tokens?: Omit<NonNullable<SecureListener['tokens']>, 'port'>;
  readonly reauthenticateMs?: number;
}

export async function startSecureBroker(options: SecureBrokerOptions = {}): Promise<SecureBroker> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-secure-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const { trusted, authority: authorityPem } = certificates();
  const fileOf = (name: string): string => path.join(folder, name);
  const [keyStore, authority, clientKey] = [
    fileOf('broker.pem'),
    fileOf('authority.pem'),
    fileOf('client.pem'),
  ];
  const log = fileOf('decisions.log');
  await writeFile(clientKey, encrypted(certificates().client.key));
  await writeFile(keyStore, trusted.key + trusted.cert);
  await writeFile(authority, authorityPem);
  const names = [...permissions.map(({ user }) => user), ...(options.users ?? [])];
  const ports = {
    passwords: await closedPort(),
    certificates: await closedPort(),
    tokens: await closedPort(),
  };
  const secure: SecureListener = {
    port: ports.passwords,
    keyStore,
    users: Object.fromEntries(names.map((name) => [name, passwordOf(name)])),
    certificates: { port: ports.certificates, authority },
    ...(options.tokens && { tokens: { ...options.tokens, port: ports.tokens } }),
    ...(options.reauthenticateMs !== undefined && { reauthenticateMs: options.reauthenticateMs }),
    decisions: log,
  };
  const broker = opened.use(
    await startOwnBroker({ env: process.env, quickStart: true, changes: secured(secure) }),
  );
  const admin = new kafkajs.Kafka({
    brokers: [...broker.brokers],
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  opened.defer(() => admin.disconnect());
  const addressOf = (port: number): string => `127.0.0.1:${port}`;
  const all = opened.move();
  return {
    brokers: broker.brokers,
    addresses: {
      passwords: addressOf(ports.passwords),
      certificates: addressOf(ports.certificates),
      tokens: addressOf(ports.tokens),
    },
    authority,
    environment: (user, mechanism = 'scram-sha-512') => ({
      KAFKA_BROKERS: addressOf(ports.passwords),
      KAFKA_SSL: 'true',
      KAFKA_SSL_CA: authority,
      KAFKA_SASL_MECHANISM: mechanism,
      KAFKA_SASL_USERNAME: user,
      KAFKA_SASL_PASSWORD: passwordOf(user),
    }),
    certificateEnvironment: () => ({
      KAFKA_BROKERS: addressOf(ports.certificates),
      KAFKA_SSL: 'true',
      KAFKA_SSL_CA: authority,
      KAFKA_SSL_CERT: certificates().client.cert,
      KAFKA_SSL_KEY_FILE: clientKey,
      KAFKA_SSL_KEY_PASSWORD: keyPassword,
    }),
    tokenEnvironment: (user, tokenUrl) => ({
      KAFKA_BROKERS: addressOf(ports.tokens),
      KAFKA_SSL: 'true',
      KAFKA_SSL_CA: authority,
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_OAUTH_TOKEN_URL: tokenUrl,
      KAFKA_OAUTH_CLIENT_ID: user,
      KAFKA_OAUTH_CLIENT_SECRET: passwordOf(user),
    }),
    async grant(user, granted, prefix) {
      await admin.createAcls({ acl: granted.flatMap((permission) => aclsOf(user, permission, prefix)) });
    },
    decisions: async () => parseDecisions(await readFile(log, 'utf8')),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const keyPassword = 'key-secret';

function encrypted(key: string): string {
  const how = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: keyPassword } as const;
  return createPrivateKey(key).export(how).toString();
}

export function passwordOf(user: string): string {
  return `${user}-secret`;
}

const types = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  transactionalId: AclResourceTypes.TRANSACTIONAL_ID,
};
const patterns = { literal: ResourcePatternTypes.LITERAL, prefix: ResourcePatternTypes.PREFIXED };
const operationTypes: Readonly<Record<Operation, kafkajs.AclOperationTypes>> = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Alter: AclOperationTypes.ALTER,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
};

function aclsOf(user: string, permission: Permission, prefix: string): kafkajs.AclEntry[] {
  const { type, name, patternType, prefixed, operations } = permission;
  return operations.map((operation) => ({
    resourceType: types[type],
    resourceName: prefixed ? prefix + name : name,
    resourcePatternType: patterns[patternType],
    operation: operationTypes[operation],
    principal: `User:${user}`,
    host: '*',
    permissionType: AclPermissionTypes.ALLOW,
  }));
}

function parseDecisions(log: string): Decision[] {
  const line =
    /Principal = User:(\S+) is (Allowed|Denied) operation = (\S+) from host = \S+ on resource = (.+?) for request/;
  const acl = /resourceType=(\w+), resourceName=([^,]+), patternType=(\w+).*?operation=(\w+)/;
  return log.split('\n').flatMap((text): Decision[] => {
    const [, user = '', outcome, operation = '', resource = ''] = line.exec(text) ?? [];
    if (user === '' || user === 'ANONYMOUS') return [];
    const [, type = '', name = '', pattern = '', granted = ''] =
      acl.exec(text.split('based on rule')[1] ?? '') ?? [];
    const rule = type === '' ? undefined : ruleOf(granted, type, pattern, name);
    return [{ user, allowed: outcome === 'Allowed', operation, resource, rule }];
  });
}

function ruleOf(...parts: string[]): string {
  return parts.join(' ');
}

/** The permissions of a user as rules of decisions. */
export function rulesOf(granted: readonly Permission[], prefix: string): string[] {
  const upper = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
  return granted.flatMap(({ type, name, patternType, prefixed, operations }) =>
    operations.map((operation) =>
      ruleOf(
        upper(operation),
        upper(type),
        patternType === 'prefix' ? 'PREFIXED' : 'LITERAL',
        prefixed ? prefix + name : name,
      ),
    ),
  );
}
