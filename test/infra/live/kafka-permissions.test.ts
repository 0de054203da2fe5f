/**
 * Every part of Tailrace with a user of its own, which has exactly the permissions of packages/topology/src/permissions.ts, on a broker
 * with an authorizer. The log of the authorizer then shows that nothing was denied, and that every permission was needed.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { permissions, topicNames } from '@tailrace/topology';
// Before kafkajs, of which it replaces modules.
import '@tailrace/kafka';
import kafkajs from 'kafkajs';
import { eventually } from '@tailrace/testing';
import { openKafka, type TestKafka } from '../../support/kafka/kafka-client.ts';
import { frame, startFaultyRegistry, type FaultyRegistry } from '../../support/kafka/registry.ts';
import {
  passwordOf,
  rulesOf,
  startSecureBroker,
  type SecureBroker,
} from '../../support/kafka/secure-broker.ts';
import { tailrace } from '../../support/processes/cli.ts';
import { adminToken, secretKey, startControl, type Control } from '../../support/processes/control.ts';
import { startService, type Environment, type ServiceProcess } from '../../support/processes/process.ts';
import { status } from '../../support/receivers/answers.ts';
import { certificates } from '../../support/receivers/certificates.ts';
import { startReceiver, type Receiver } from '../../support/receivers/receiver.ts';
import { closedPort } from '../../support/receivers/closed-port.ts';

type Json = Readonly<Record<string, unknown>>;

const prefix = 'shop.';
const names = topicNames(prefix);
const opened = new AsyncDisposableStack();
let broker: SecureBroker;
let kafka: TestKafka;
let registry: FaultyRegistry;
let receiver: Receiver;
let folder: string;
/** The answer of the receiver, by destination. */
const answers: Record<string, number> = { crm: 200, down: 400, late: 503, ordered: 503 };

before(async () => {
  broker = opened.use(await startSecureBroker());
  for (const { user, resources } of permissions) await broker.grant(user, resources, prefix);
  kafka = opened.use(openKafka(broker.brokers));
  registry = opened.use(await startFaultyRegistry());
  receiver = opened.use(await startReceiver({ answer: ({ path }) => status(answers[path.slice(1)] ?? 200) }));
  folder = await mkdtemp(path.join(tmpdir(), 'tailrace-permissions-'));
  opened.defer(() => rm(folder, { recursive: true }));
});
after(() => opened.disposeAsync());

function environment(user: string, more: Environment = {}): Environment {
  return {
    ...broker.environment(user),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_PARTITIONS: '2',
    TAILRACE_RETRY_SCHEDULE: '1s,1h',
    TAILRACE_OWNER: 'shop/tailrace',
    TAILRACE_METRICS_PORT: '0',
    TAILRACE_SECRET_KEY: secretKey,
    TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    ...more,
  };
}

async function command(user: string, args: readonly string[], input = ''): Promise<string> {
  const { exitCode, stdout, stderr } = await tailrace(args, environment(user), input);
  assert.equal(exitCode, 0, `${args.join(' ')}: ${stderr}${stdout}`);
  return stdout;
}

const configuration = JSON.stringify({
  sources: [{ id: 'web', writeKeys: ['wk_web'] }],
  destinations: ['crm', 'down', 'late', 'ordered', 'off'].map((id) => ({
    id,
    type: 'Webhooks',
    sources: ['web'],
    // So that each event has a decision.
    ...(id === 'off' && { enabled: false }),
    ...(id === 'ordered' && { ordering: 'user' }),
    settings: { webhooks: [{ url: `RECEIVER/${id}` }] },
  })),
});

const itemsOf = (json: Json): readonly Json[] => json['items'] as Json[];

test('every part works with exactly its permissions, and each permission is needed', async () => {
  await command('topics', ['topics', 'apply']);
  await command('topics', ['topics', 'apply', '--partitions', '3']);
  await command('topics', ['topics', 'list']);
  await command('apply', ['apply', '-f', '-'], configuration.replaceAll('RECEIVER', receiver.url));

  await using services = new AsyncDisposableStack();
  const start = async (name: string, more: Environment = {}): Promise<ServiceProcess> =>
    services.use(await startService(name, environment(name, more)));
  const ingestPort = String(await closedPort());
  const [control, router, delivery] = await Promise.all([
    startControl([], prefix, {
      ...environment('control'),
      TAILRACE_CONTROL_PORT: '0',
      TAILRACE_DATA_DIR: path.join(folder, 'control'),
    }),
    start('router', { SCHEMA_REGISTRY_URL: registry.url }),
    start('delivery'),
    start('ingest', { TAILRACE_INGEST_PORT: ingestPort }),
  ]);
  services.use(control);

  await accept(`http://127.0.0.1:${ingestPort}`);
  await produce(1, 'by-kafka');
  await operate(control, delivery, router);

  const file = path.join(folder, 'export');
  await command('export', ['config', 'export', '--file', file]);
  await command('apply', ['config', 'import', file, '--merge']);
  // The replayed deliveries became dead letters again.
  await untilHolds(names.deliveriesDead, 4);
  await command('dead', ['dead', 'list']);
  await command('dead', ['dead', 'replay', '--all', '--yes']);
  await replayed(control);
  await fallBehind(`http://127.0.0.1:${ingestPort}`, delivery, router);
  const unrouted = await control.expect(200, { path: '/v1/events/fourth' });
  assert.equal(unrouted['outcome'], 'not-routed');
  const doctor = await tailrace(['doctor'], { ...environment('doctor'), TAILRACE_URL: control.url });
  assert.doesNotMatch(doctor.stdout + doctor.stderr, /permission/);
  const around = new Date().toISOString();
  for (const [id, user] of [
    ['by-http', 'ada'],
    ['waiting', 'bob'],
  ] as const) {
    const period = ['--around', around, '--within', '1h'];
    assert.doesNotMatch(await command('why', ['why', id, '--user', user, ...period]), /permission/);
  }
  await control.process.stop();
  await control.process.restart();
  await services.disposeAsync();
  await assertExact();
});

/** Calls over HTTP: one that is accepted, and one in a batch that is rejected. */
async function accept(ingest: string, messageId = 'by-http'): Promise<void> {
  const batch = [
    { type: 'track', event: 'Ordered', userId: 'ada', messageId },
    { type: 'track', userId: 'ada' },
  ];
  const response = await fetch(`${ingest}/v1/batch`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('wk_web:')}` },
    body: JSON.stringify({ batch }),
  });
  assert.equal(response.status, 200, await response.text());
}

/** Leaves unfinished records in every topic that the router and delivery consume. */
async function fallBehind(ingest: string, delivery: ServiceProcess, router: ServiceProcess): Promise<void> {
  answers['late'] = 503;
  const tier = names.retryTier(3_600_000);
  const before = await endOf(tier);
  await accept(ingest, 'second');
  await untilHolds(tier, before + 1);
  await delivery.stop();
  const deliveries = await endOf(names.deliveries);
  await accept(ingest, 'third');
  await untilHolds(names.deliveries, deliveries + 1);
  await command('dead', ['dead', 'replay', '--all', '--yes']);
  await produce(2, 'waiting');
  await router.stop();
  await accept(ingest, 'fourth');
}

/** Records of a producer: one that the router rejects, and one whose schema is not available for a while. */
async function produce(schemaId: number, messageId: string): Promise<void> {
  const rejected = await endOf(names.eventsRejected);
  const waiting = await endOf(names.eventsWaiting);
  registry.answers(() => 500);
  const producer = new kafkajs.Kafka({
    brokers: [broker.addresses.passwords],
    ssl: { ca: certificates().authority },
    sasl: { mechanism: 'scram-sha-512', username: 'producer', password: passwordOf('producer') },
    logLevel: kafkajs.logLevel.NOTHING,
  }).producer({ idempotent: true, allowAutoTopicCreation: false });
  await producer.connect();
  const headers = { 'write-key': 'wk_web' };
  const call = { type: 'track', event: 'Ordered', userId: 'bob', messageId };
  await producer.send({
    topic: names.events,
    messages: [
      { key: 'bob', value: 'not JSON', headers },
      { key: 'bob', value: frame(schemaId, call), headers },
    ],
  });
  await producer.disconnect();
  await untilHolds(names.eventsRejected, rejected + 1);
  await untilHolds(names.eventsWaiting, waiting + 1);
}

async function endOf(topic: string): Promise<number> {
  const ends = await kafka.offsetsAt(topic, Date.now() + 3_600_000);
  return [...ends.values()].reduce((sum, end) => sum + end, 0);
}

async function untilHolds(topic: string, count: number): Promise<void> {
  await eventually(
    () => endOf(topic),
    (sum) => sum >= count,
  );
}

async function operate(control: Control, delivery: ServiceProcess, router: ServiceProcess): Promise<void> {
  // A router that begins with waiting events, and with the ids that it knows.
  await router.stop();
  registry.answers(() => 200);
  await router.restart();
  await untilHolds(names.deliveries, 8);
  const tier = names.retryTier(3_600_000);
  await untilHolds(tier, 2);
  await untilHolds(names.deliveriesDead, 2);
  await untilHolds(names.usage, 1);
  await untilHolds(names.attempts, 8);
  // A delivery service that begins with ordered deliveries that wait.
  await delivery.stop();
  await delivery.restart();

  const list = '/v1/deliveries?limit=50';
  const listed = await eventually(
    async () => itemsOf(await control.expect(200, { path: list })),
    (items) => items.length >= 8,
  );
  for (const { deliveryId } of listed) {
    await control.expect(200, { path: `/v1/deliveries/${String(deliveryId)}/body` });
  }
  await control.expect(200, { path: '/v1/events/unknown' });
  const calls = await fetch(`${control.url}/v1/sources/web/calls/stream`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  assert.equal(calls.status, 200);
  await calls.body?.cancel();

  answers['late'] = answers['ordered'] = 200;
  await control.expect(202, { method: 'POST', path: '/v1/destinations/late/retry' });
  await control.expect(202, { method: 'POST', path: '/v1/destinations/ordered/retry' });
  await replayed(control);
  for (const id of ['late', 'ordered']) {
    await eventually(
      () => control.expect(200, { path: `/v1/destinations/${id}/recall` }),
      (json) => json['state'] === 'done',
    );
  }
  await control.expect(200, {
    method: 'PATCH',
    path: '/v1/destinations/crm',
    body: { name: 'CRM' },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  // A change that is reported as an event, because a destination is connected to the built-in source.
  const creation = {
    method: 'POST',
    path: '/v1/destinations',
    body: {
      id: 'chat',
      type: 'Webhooks',
      sources: ['tailrace'],
      settings: { webhooks: [{ url: `${receiver.url}/chat` }] },
    },
    headers: { 'idempotency-key': 'create-chat' },
  };
  await control.expect(201, creation);
  // The answer is read again from its topic.
  await control.expect(201, creation);
  await control.expect(200, { method: 'POST', path: '/v1/destinations/crm/pause' });
  await control.expect(200, { method: 'POST', path: '/v1/destinations/crm/resume' });
  await untilHolds(names.destinationsHealth, 1);
  await control.expect(200, { path: '/v1/audit' });
  const signedIn = await control.ask({ method: 'POST', path: '/v1/session' });
  const cookie = signedIn.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const headers = { cookie, 'x-tailrace-console': '1' };
  await control.expect(204, { method: 'DELETE', path: '/v1/session', token: null, headers });
  for (const users of [['ada'], ['bob']]) {
    const audience = '/v1/sources/web/audiences/vip';
    await control.expect(202, {
      method: 'PUT',
      path: audience,
      bytes: users.map((id) => `{"userId":"${id}"}\n`).join(''),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    await eventually(
      () => control.expect(200, { path: audience }),
      (json) => (json['sync'] as Json)['state'] === 'done',
    );
  }
  await control.expect(202, {
    method: 'POST',
    path: '/v1/deletions',
    body: { requestId: 'gdpr-1', userIds: ['ada'] },
  });
  await eventually(
    () => control.expect(200, { path: '/v1/deletions/gdpr-1' }),
    (json) => json['state'] === 'sent',
  );
}

/** A replay of dead letters and counts of events through the API. */
async function replayed(control: Control): Promise<void> {
  await kafka.ensureTopics([{ name: names.eventsRestore, partitions: 1, config: {} }]);
  const publisher = kafka.publisher();
  await publisher.publish({ topic: names.eventsRestore, key: null, value: '{}' });
  const count = { kind: 'events', from: '1h', dryRun: true };
  for (const more of [{}, count, { ...count, topic: names.eventsRestore }]) {
    const body = { destination: 'down', ...more };
    const replay = await control.expect(202, { method: 'POST', path: '/v1/replays', body });
    await eventually(
      () => control.expect(200, { path: `/v1/replays/${String(replay['id'])}` }),
      (json) => json['endedAt'] !== undefined,
    );
  }
}

async function assertExact(): Promise<void> {
  const decisions = await broker.decisions();
  const denied = decisions.filter(({ allowed }) => !allowed);
  const found = permissions.map(({ user, resources }) => {
    const used = new Set(
      decisions.flatMap((one) =>
        one.user === user && one.rule?.startsWith(`${one.operation} `) === true ? [one.rule] : [],
      ),
    );
    return {
      user,
      denied: [
        ...new Set(
          denied.filter((one) => one.user === user).map((one) => `${one.operation} ${one.resource}`),
        ),
      ],
      unused: rulesOf(resources, prefix).filter((rule) => !used.has(rule)),
    };
  });
  assert.deepEqual(
    found,
    permissions.map(({ user }) => ({ user, denied: [], unused: [] })),
  );
}
