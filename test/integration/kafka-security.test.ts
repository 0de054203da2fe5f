/**
 * The command line, services and a direct producer on a broker that demands TLS and authentication, and allows only the listed
 * permissions. test/infra/live/kafka-security.test.ts and kafka-permissions.test.ts run longer on the same kind of broker.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startHere, type LogLine } from '@tailrace/service/testing';
import { collect, type Collected } from '@tailrace/testing';
import { permissions } from '@tailrace/topology';
import kafkajs from 'kafkajs';
import { passwordOf, startSecureBroker, type SecureBroker } from '../support/kafka/secure-broker.ts';
import { startTokenServer, type Behaviour, type TokenServer } from '../support/kafka/token-server.ts';
import { tailrace } from '../support/processes/cli.ts';
import type { Environment } from '../support/processes/process.ts';
import { certificates } from '../support/receivers/certificates.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { delivery } from '../../services/delivery/src/open.ts';
import { ingest } from '../../services/ingest/src/open.ts';
import { router } from '../../services/router/src/open.ts';

const prefix = 'tailrace.';
/** May do what `topics apply` does; also the subject of the client certificate. */
const operator = 'tailrace';
/** May do what ingest does, except writing events. */
const half = 'half';

let broker: SecureBroker;
let tokens: TokenServer;
const opened = new AsyncDisposableStack();

before(async () => {
  tokens = opened.use(await startTokenServer({ clients: { [operator]: passwordOf(operator) } }));
  broker = opened.use(await startSecureBroker({ users: [operator, half], tokens }));
  for (const { user, resources } of permissions) {
    await broker.grant(user, resources, prefix);
    if (user === 'topics') await broker.grant(operator, resources, prefix);
    if (user === 'ingest') {
      const granted = resources.map((permission) =>
        permission.type === 'topic' && permission.name === 'events'
          ? { ...permission, operations: ['Describe'] as const }
          : permission,
      );
      await broker.grant(half, granted, prefix);
    }
  }
});
after(() => opened.disposeAsync());

function environment(kafka: Environment, more: Environment = {}): Environment {
  return { ...kafka, TAILRACE_PARTITIONS: '1', TAILRACE_METRICS_PORT: '0', ...more };
}

interface Ingest extends AsyncDisposable {
  readonly port: string;
  readonly log: Collected<LogLine>;
}

async function startIngest(env: Environment): Promise<Ingest> {
  const log = collect<LogLine>('the log of ingest', (line) => JSON.stringify(line));
  const service = await startHere(ingest, { ...env, TAILRACE_INGEST_PORT: '0' }, { onLine: log.add });
  const { port } = await log.find(({ msg }) => msg === 'ready');
  return { port: String(port), log, [Symbol.asyncDispose]: () => service.stop() };
}

const listTopics = (kafka: Environment, more: Environment = {}) =>
  tailrace(['topics', 'list'], environment(kafka, more));

for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512']) {
  test(`the command line connects over TLS with ${mechanism}, and not with a wrong password`, async () => {
    const kafka = broker.environment(operator, mechanism);
    const applied = await tailrace(['topics', 'apply'], environment(kafka));
    assert.equal(applied.exitCode, 0, applied.stderr);
    const refused = await listTopics(kafka, { KAFKA_SASL_PASSWORD: 'guessed' });
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, /refused the credentials/);
  });
}

test('the command line connects with a client certificate, and not without one', async () => {
  const kafka = broker.certificateEnvironment();
  const listed = await listTopics(kafka);
  assert.equal(listed.exitCode, 0, listed.stderr);
  const none = { KAFKA_SSL_CERT: '', KAFKA_SSL_KEY_FILE: '', KAFKA_SSL_KEY_PASSWORD: '' };
  const refused = await listTopics(kafka, none);
  assert.equal(refused.exitCode, 1);
  assert.match(refused.stderr, /refused the credentials.*KAFKA_SSL_CERT/);
});

test('the command line connects with a token', async () => {
  const listed = await listTopics(broker.tokenEnvironment(operator, tokens.tokenUrl));
  assert.equal(listed.exitCode, 0, listed.stderr);
});

const refusals: readonly [what: string, behaviour: Behaviour, more: Environment, message: RegExp][] = [
  ['the client', 'issues', { KAFKA_OAUTH_CLIENT_SECRET: 'guessed' }, /status 401 \(invalid_client: /],
  ['every request', 'fails', {}, /refuses a token with status 503/],
  ['to answer', 'hangs', {}, /did not answer within 5000 ms/],
];
for (const [what, behaviour, more, message] of refusals) {
  test(`a token server that refuses ${what} is named in the error`, async () => {
    tokens.behave(behaviour);
    const refused = await listTopics(broker.tokenEnvironment(operator, tokens.tokenUrl), more);
    tokens.behave('issues');
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, message);
    assert.match(refused.stderr, /KAFKA_OAUTH_TOKEN_URL/);
    assert.doesNotMatch(refused.stderr, /guessed|-secret/);
  });
}

test('a token that the broker refuses is an error with the reason of the broker', async () => {
  tokens.behave('misleads');
  const refused = await listTopics(broker.tokenEnvironment(operator, tokens.tokenUrl));
  tokens.behave('issues');
  assert.equal(refused.exitCode, 1);
  assert.match(refused.stderr, /Kafka refused the token .*invalid_token/);
});

test('a broker with an untrusted certificate is not used', async () => {
  const run = await listTopics(broker.environment(operator), { KAFKA_SSL_CA: '' });
  assert.equal(run.exitCode, 1);
  assert.match(run.stderr, /cannot be used|did not answer/);
});

test('a missing permission is named with its operation and resource, in the log and by the command line', async () => {
  await tailrace(['topics', 'apply'], environment(broker.environment('topics')));
  await using service = await startIngest(
    environment(broker.environment(half), { TAILRACE_INGEST_ACK_TIMEOUT: '5s' }),
  );
  const applied = await tailrace(
    ['apply', '-f', '-'],
    environment(broker.environment('apply')),
    configuration('http://a.example'),
  );
  assert.equal(applied.exitCode, 0, applied.stderr);
  const response = await send(service.port, 'wk_shop');
  assert.equal(response.status, 503);
  const { err } = await service.log.find((line) => line.msg === 'produce request failed, retrying');
  assert.match(
    (err as Error).message,
    /Kafka refuses Write on the topic tailrace\.events: the user has no permission/,
  );

  const refused = await tailrace(['dead', 'list'], environment(broker.environment('export')));
  assert.equal(refused.exitCode, 1);
  assert.match(refused.stderr, /Kafka refuses \w+ on (the topic|one of the topics) tailrace\.deliveries\./);
});

test('16.1 the pipeline works with a user for each service, and a producer may write only to events', async () => {
  const of = (user: string, more: Environment = {}): Environment =>
    environment(broker.environment(user), more);
  await tailrace(['topics', 'apply'], of('topics'));
  await using receiver = await startReceiver();
  const applied = await tailrace(['apply', '-f', '-'], of('apply'), configuration(receiver.url));
  assert.equal(applied.exitCode, 0, applied.stderr);
  await using services = new AsyncDisposableStack();
  const routing = await startHere(router, of('router'));
  services.defer(() => routing.stop());
  const delivering = await startHere(
    delivery,
    of('delivery', { TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' }),
  );
  services.defer(() => delivering.stop());
  const { port } = services.use(await startIngest(of('ingest')));

  const response = await send(port, 'wk_shop');
  assert.equal(response.status, 200);

  const producer = new kafkajs.Kafka({
    brokers: [broker.addresses.passwords],
    logLevel: kafkajs.logLevel.NOTHING,
    retry: { retries: 1 },
    ssl: { ca: certificates().authority },
    sasl: { mechanism: 'scram-sha-256', username: 'producer', password: passwordOf('producer') },
  }).producer();
  await producer.connect();
  const value = JSON.stringify({ type: 'page', userId: 'by-kafka' });
  await producer.send({
    topic: `${prefix}events`,
    messages: [{ key: 'by-kafka', value, headers: { 'write-key': 'wk_shop' } }],
  });
  await assert.rejects(producer.send({ topic: `${prefix}deliveries`, messages: [{ value }] }), /[Aa]uthoriz/);
  await producer.disconnect();

  const requests = await receiver.waitFor(2);
  const arrived = requests.map((request) => (request.json() as { userId: string }).userId);
  assert.deepEqual(arrived.sort(), ['by-http', 'by-kafka']);
});

function configuration(url: string): string {
  return JSON.stringify({
    sources: [{ id: 'shop', writeKeys: ['wk_shop'] }],
    destinations: [{ id: 'crm', type: 'Webhooks', sources: ['shop'], settings: { webhooks: [{ url }] } }],
  });
}

function send(port: string, writeKey: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/page`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${writeKey}:`)}` },
    body: JSON.stringify({ userId: 'by-http' }),
  });
}
