/** Services, CLI and a direct producer on a broker that demands TLS and a password, and allows only what ACLs allow. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { freePort, startOwnBroker } from '@tailrace/local';
import kafkajs from 'kafkajs';
import { certificates } from '../support/receivers/certificates.ts';
import { tailrace } from '../support/processes/cli.ts';
import { startService, type Environment } from '../support/processes/process.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

const users = { tailrace: 'tailrace-secret', shop: 'shop-secret' };
const prefix = 'tailrace.';
let address: string;
let authority: string;
const opened = new AsyncDisposableStack();

before(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-security-'));
  opened.defer(() => rm(folder, { recursive: true }));
  const keyStore = path.join(folder, 'broker.pem');
  const { trusted } = certificates();
  await writeFile(keyStore, trusted.key + trusted.cert);
  authority = path.join(folder, 'authority.pem');
  await writeFile(authority, certificates().authority);
  const port = await freePort();
  const broker = opened.use(
    await startOwnBroker({ env: process.env, quickStart: true, secure: { port, keyStore, users } }),
  );
  address = `127.0.0.1:${port}`;
  await allow(broker.brokers);
});
after(() => opened.disposeAsync());

/** What EVENTS.md asks for, in the words of kafka-acls.sh there. */
async function allow(brokers: readonly string[]): Promise<void> {
  const admin = new kafkajs.Kafka({
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  const { TOPIC, GROUP, TRANSACTIONAL_ID, CLUSTER } = AclResourceTypes;
  const { READ, WRITE, CREATE, DELETE, DESCRIBE, DESCRIBE_CONFIGS } = AclOperationTypes;
  const { LITERAL, PREFIXED } = ResourcePatternTypes;
  type Rule = [
    user: string,
    resource: kafkajs.AclResourceTypes,
    name: string,
    pattern: kafkajs.ResourcePatternTypes,
    operations: readonly kafkajs.AclOperationTypes[],
  ];
  const rules: Rule[] = [
    ['tailrace', TOPIC, prefix, PREFIXED, [READ, WRITE, DESCRIBE, DESCRIBE_CONFIGS, CREATE]],
    ['tailrace', GROUP, prefix, PREFIXED, [READ, DESCRIBE, DELETE]],
    ['tailrace', TRANSACTIONAL_ID, prefix, PREFIXED, [WRITE, DESCRIBE]],
    ['tailrace', CLUSTER, 'kafka-cluster', LITERAL, [DESCRIBE]],
    ['shop', TOPIC, `${prefix}events`, LITERAL, [WRITE, DESCRIBE, CREATE]],
  ];
  await admin.createAcls({
    acl: rules.flatMap(([user, resourceType, resourceName, resourcePatternType, operations]) =>
      operations.map((operation) => ({
        ...{ resourceType, resourceName, resourcePatternType, operation },
        ...{ principal: `User:${user}`, host: '*', permissionType: AclPermissionTypes.ALLOW },
      })),
    ),
  });
  await admin.disconnect();
}

function environment(mechanism: string, more: Environment = {}): Environment {
  return {
    KAFKA_BROKERS: address,
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: 'tailrace',
    KAFKA_SASL_PASSWORD: users.tailrace,
    KAFKA_SSL: 'true',
    KAFKA_SSL_CA: authority,
    TAILRACE_PARTITIONS: '1',
    TAILRACE_METRICS_PORT: '0',
    ...more,
  };
}

for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512']) {
  test(`the command line comes in over TLS with ${mechanism}, and not with a wrong password`, async () => {
    const env = environment(mechanism);
    const applied = await tailrace(['topics', 'apply'], env);
    assert.equal(applied.exitCode, 0, applied.stderr);
    const refused = await tailrace(['topics', 'list'], { ...env, KAFKA_SASL_PASSWORD: 'guessed' });
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, /refused the credentials/);
  });
}

test('a broker with an untrusted certificate is not used', async () => {
  const run = await tailrace(['topics', 'list'], environment('plain', { KAFKA_SSL_CA: '' }));
  assert.equal(run.exitCode, 1);
  assert.match(run.stderr, /cannot be used|did not answer/);
});

test('the whole pipeline works with the documented ACLs, and a producer may write only to events', async () => {
  const env = environment('scram-sha-512');
  await tailrace(['topics', 'apply'], env);
  await using receiver = await startReceiver();
  const file = JSON.stringify({
    sources: [{ id: 'shop', writeKeys: ['wk_shop'] }],
    destinations: [
      { id: 'crm', type: 'Webhooks', sources: ['shop'], settings: { webhooks: [{ url: receiver.url }] } },
    ],
  });
  const applied = await tailrace(['apply', '-f', '-'], env, file);
  assert.equal(applied.exitCode, 0, applied.stderr);
  await using services = new AsyncDisposableStack();
  services.use(await startService('router', env));
  const networks = { TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' };
  services.use(await startService('delivery', { ...env, ...networks }));
  const ingestPort = await freePort();
  services.use(await startService('ingest', { ...env, TAILRACE_INGEST_PORT: String(ingestPort) }));

  const response = await fetch(`http://127.0.0.1:${ingestPort}/v1/page`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('wk_shop:')}` },
    body: JSON.stringify({ userId: 'by-http' }),
  });
  assert.equal(response.status, 200);

  const shop = new kafkajs.Kafka({
    ...{ brokers: [address], logLevel: kafkajs.logLevel.NOTHING, retry: { retries: 1 } },
    ssl: { ca: certificates().authority },
    sasl: { mechanism: 'scram-sha-256', username: 'shop', password: users.shop },
  }).producer();
  await shop.connect();
  const value = JSON.stringify({ type: 'page', userId: 'by-kafka' });
  await shop.send({
    topic: `${prefix}events`,
    messages: [{ key: 'by-kafka', value, headers: { 'write-key': 'wk_shop' } }],
  });
  await assert.rejects(shop.send({ topic: `${prefix}deliveries`, messages: [{ value }] }), /[Aa]uthoriz/);
  await shop.disconnect();

  const requests = await receiver.waitFor(2, 30_000);
  const arrived = requests.map((request) => (request.json() as { userId: string }).userId);
  assert.deepEqual(arrived.sort(), ['by-http', 'by-kafka']);
});
