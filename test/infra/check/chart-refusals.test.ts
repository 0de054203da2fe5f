/** Values that would only fail when pods run, or never, are refused with a sentence. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { chartFolder, namespace, refusal } from '../../support/kubernetes/chart.ts';
import { status } from '../../support/receivers/answers.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { run } from '../../support/tools/command.ts';
import { toolPath } from '../../support/tools/tools.ts';

const secret = (key: string) => ({ secretKeyRef: { name: 'existing', key } });

interface Case {
  readonly title: string;
  readonly values: object;
  readonly sentence: string;
  readonly valueSets?: readonly string[];
}

const cases: readonly Case[] = [
  {
    title: 'a name that begins with a digit',
    values: { fullnameOverride: '1st' },
    sentence: 'names of Services cannot begin with "1st". Set it to lower-case letters, digits and dashes',
  },
  {
    title: 'no brokers',
    values: { settings: { KAFKA_BROKERS: '' } },
    sentence: 'settings.KAFKA_BROKERS is not set: set it to the bootstrap servers',
  },
  {
    title: 'a broker without a port',
    values: { settings: { KAFKA_BROKERS: 'a:9092, kafka' } },
    sentence: 'KAFKA_BROKERS has the broker kafka without a port: write it as host:port.',
  },
  ...[
    { level: '', of: (from: object) => ({ settingsFrom: from }) },
    { level: 'ingest.', of: (from: object) => ({ ingest: { settingsFrom: from } }) },
  ].flatMap(({ level, of }) => [
    ...['KAFKA_BROKERS', 'TAILRACE_INGEST_PORT', 'TAILRACE_SHUTDOWN_GRACE'].map((name) => ({
      title: `a reference to ${level}${name}`,
      values: of({ [name]: { configMapKeyRef: { name: 'a', key: 'b' } } }),
      sentence: `${level}settingsFrom.${name}: the chart needs the value itself. Set it in ${level}settings.`,
    })),
    {
      title: `a reference to ${level}OTEL_EXPORTER_OTLP_ENDPOINT without its peers`,
      values: of({ OTEL_EXPORTER_OTLP_ENDPOINT: secret('url') }),
      sentence: `${level}settingsFrom.OTEL_EXPORTER_OTLP_ENDPOINT: the chart cannot read the host and the port, so no network policy would allow them. Name its pods or addresses in networkPolicy.telemetry.`,
    },
  ]),
  {
    title: 'networks that network policies would have to allow in a ConfigMap',
    values: {
      settingsFrom: { TAILRACE_ALLOW_PRIVATE_NETWORKS: { configMapKeyRef: { name: 'a', key: 'b' } } },
    },
    sentence: 'settingsFrom.TAILRACE_ALLOW_PRIVATE_NETWORKS: the chart needs the value itself.',
  },
  {
    title: 'no token of the API',
    values: { settingsFrom: { TAILRACE_API_TOKEN: null } },
    sentence: 'settingsFrom.TAILRACE_API_TOKEN is not set: control needs it.',
  },
  {
    title: 'a secret as a plain value',
    values: { settings: { KAFKA_SASL_PASSWORD: 'hunter2' } },
    sentence: 'settings.KAFKA_SASL_PASSWORD is a secret, so it may not be a plain value',
  },
  {
    title: 'a secret of one service as a plain value',
    values: { delivery: { settings: { TAILRACE_SECRET_KEY: 'ab' } } },
    sentence: 'refer to it with delivery.settingsFrom.TAILRACE_SECRET_KEY.secretKeyRef.',
  },
  {
    title: 'a secret in a ConfigMap',
    values: { jobs: { settingsFrom: { KAFKA_SSL_KEY: { configMapKeyRef: { name: 'a', key: 'b' } } } } },
    sentence: 'jobs.settingsFrom.KAFKA_SSL_KEY is a secret, so it needs a secretKeyRef with name and key.',
  },
  {
    title: 'a password in a URL',
    values: { settings: { SCHEMA_REGISTRY_URL: 'https://user:password@registry' } },
    sentence: 'settings.SCHEMA_REGISTRY_URL contains a password',
  },
  {
    title: 'a private key in a certificate',
    values: { settings: { KAFKA_SSL_CERT: '-----BEGIN PRIVATE KEY-----' } },
    sentence: 'settings.KAFKA_SSL_CERT contains a private key',
  },
  {
    title: 'a setting as an extra variable',
    values: { pods: { extraEnv: [{ name: 'KAFKA_SASL_PASSWORD', value: 'hunter2' }] } },
    sentence:
      'pods.extraEnv: KAFKA_SASL_PASSWORD is a setting of Tailrace: set it in settings or settingsFrom.',
  },
  {
    title: 'the file of a secret as an extra variable',
    values: { router: { pods: { extraEnv: [{ name: 'KAFKA_SSL_KEY_FILE', value: '/a' }] } } },
    sentence: 'router.pods.extraEnv: KAFKA_SSL_KEY_FILE is a setting of Tailrace',
  },
  {
    title: 'an extra variable that looks like a secret',
    values: { ingest: { pods: { extraEnv: [{ name: 'PROXY_PASSWORD', value: 'hunter2' }] } } },
    sentence: 'ingest.pods.extraEnv: PROXY_PASSWORD looks like a secret',
  },
  {
    title: 'an extra variable that could be meant for Tailrace',
    values: { pods: { extraEnv: [{ name: 'TAILRACE_FOO', value: '1' }] } },
    sentence: 'pods.extraEnv: Tailrace has no setting TAILRACE_FOO.',
  },
  ...[
    { field: 'sharedSecret', settings: { sharedSecret: 'hunter2' } },
    { field: 'previousSharedSecret', settings: { previousSharedSecret: 'literal:env:hunter2' } },
    { field: 'tls.clientKey', settings: { tls: { clientKey: 'hunter2' } } },
    { field: 'auth.password', settings: { auth: { username: 'ada', password: 'hunter2' } } },
    { field: 'auth.token', settings: { auth: { token: 'hunter2' } } },
    { field: 'oauth2.clientSecret', settings: { oauth2: { clientSecret: 'hunter2' } } },
    { field: 'ed25519.key', settings: { ed25519: { key: 'hunter2' } } },
    {
      field: 'webhooks[0].headers',
      settings: { webhooks: [{ headers: { Authorization: 'Bearer hunter2' } }] },
    },
    {
      field: 'webhooks[0].headers',
      settings: { webhooks: [{ headers: { 'X-Team': 'hunter2' }, secretHeaders: ['x-team'] }] },
    },
  ].map(({ field, settings }) => ({
    title: `a plain secret in the inline configuration: ${field}`,
    values: { configuration: { inline: { destinations: [{ settings }] } } },
    sentence: `configuration.inline: destinations[0].settings.${field} is a secret, which would be in a ConfigMap`,
  })),
  ...[
    { field: 'webhook.url', notification: { webhook: { url: 'https://hooks.example.com/hunter2' } } },
    { field: 'webhook.routingKey', notification: { webhook: { routingKey: 'hunter2' } } },
    { field: 'email.password', notification: { email: { password: 'hunter2' } } },
  ].map(({ field, notification }) => ({
    title: `a plain secret in the inline configuration: notifications of ${field}`,
    values: { configuration: { inline: { notifications: [notification] } } },
    sentence: `configuration.inline: notifications[0].${field} is a secret, which would be in a ConfigMap`,
  })),
  {
    title: 'the previous secret key alone',
    values: { settingsFrom: { TAILRACE_SECRET_KEY: null, TAILRACE_SECRET_KEY_PREVIOUS: secret('a') } },
    sentence: 'settingsFrom.TAILRACE_SECRET_KEY is not set, but TAILRACE_SECRET_KEY_PREVIOUS is',
  },
  {
    title: 'more replicas than partitions',
    values: { router: { replicas: 25 } },
    sentence:
      'router.replicas (25) is above settings.TAILRACE_PARTITIONS (24): a replica without a partition has no work.',
  },
  {
    title: 'an autoscaler above the partitions',
    values: { delivery: { autoscaling: { maxReplicas: 30 } } },
    valueSets: ['keda'],
    sentence: 'delivery.autoscaling.maxReplicas (30) is above settings.TAILRACE_PARTITIONS (24)',
  },
  {
    title: 'an autoscaler whose limits are the wrong way round',
    values: { ingest: { autoscaling: { enabled: true, minReplicas: 11 } } },
    sentence: 'ingest.autoscaling.minReplicas (11) is above maxReplicas (10).',
  },
  {
    title: 'an autoscaler without Prometheus',
    values: { delivery: { autoscaling: { enabled: true } } },
    sentence:
      'autoscaling.prometheus.serverAddress is not set: delivery.autoscaling needs the URL of Prometheus.',
  },
  {
    title: 'an autoscaler without access to Kafka',
    values: { autoscaling: { kafka: { authenticationRef: null } } },
    valueSets: ['keda-kafka'],
    sentence: 'autoscaling.kafka.authenticationRef is not set: KEDA needs its own access to Kafka.',
  },
  {
    title: 'a schedule without its tiers',
    values: { settings: { TAILRACE_RETRY_SCHEDULE: '10s,120s,60m' } },
    valueSets: ['minimal'],
    sentence:
      'TAILRACE_RETRY_SCHEDULE has the delay 2m, but topics.retryTiers does not: create the topic tailrace.deliveries.retry.2m, then add 2m',
  },
  {
    title: 'a schedule of one service',
    values: { delivery: { settings: { TAILRACE_RETRY_SCHEDULE: '10s' } } },
    sentence:
      'delivery.settings.TAILRACE_RETRY_SCHEDULE would differ from the other services: set it in settings',
  },
  {
    title: 'a schedule that the chart cannot read',
    values: { settingsFrom: { TAILRACE_RETRY_SCHEDULE: { configMapKeyRef: { name: 'a', key: 'b' } } } },
    sentence: 'settingsFrom.TAILRACE_RETRY_SCHEDULE: the chart needs the value itself. Set it in settings.',
  },
  {
    title: 'topics of Strimzi without a cluster',
    values: { topics: { manage: 'strimzi' } },
    sentence: 'strimzi.cluster is not set: with topics.manage strimzi',
  },
  {
    title: 'users of Strimzi in another namespace',
    values: { strimzi: { namespace: 'kafka' } },
    valueSets: ['strimzi'],
    sentence: 'strimzi.users needs Kafka in the namespace of the release',
  },
  {
    title: 'a port that the system chooses',
    values: { ingest: { settings: { TAILRACE_INGEST_PORT: 0 } } },
    sentence: 'ingest: a port is 0, so probes and Services cannot reach it',
  },
  {
    title: 'one port for two purposes',
    values: { control: { settings: { TAILRACE_METRICS_PORT: 8081 } } },
    sentence: 'control: TAILRACE_METRICS_PORT and the port of the API are the same, 8081.',
  },
  {
    title: 'a relative folder for data',
    values: { control: { settings: { TAILRACE_DATA_DIR: 'data' } } },
    sentence: 'control.settings.TAILRACE_DATA_DIR must be an absolute path',
  },
  {
    title: 'an Ingress without a host',
    values: { ingest: { ingress: { enabled: true } } },
    sentence: 'ingest.ingress.hosts is empty: name at least one host.',
  },
  {
    title: 'an HTTPRoute without a Gateway',
    values: { control: { httpRoute: { enabled: true } } },
    sentence: 'control.httpRoute.parentRefs is empty: name the Gateway.',
  },
  {
    title: 'one claim for several replicas',
    values: { control: { replicas: 2, persistence: { existingClaim: 'history' } } },
    sentence: 'control.replicas is above 1, but control.persistence.existingClaim is one volume',
  },
  {
    title: 'two configurations',
    values: { configuration: { inline: { sources: [] }, existingSecret: { name: 'a' } } },
    sentence: 'configuration.inline and configuration.existingSecret are both set: use one of them.',
  },
];

describe('the chart refuses', () => {
  for (const { title, values, sentence, valueSets } of cases) {
    test(title, async () => {
      const message = await refusal(values, valueSets);
      assert.ok(message.includes(sentence), message || 'it was accepted');
    });
  }

  test('several problems together', async () => {
    const message = await refusal({ settings: { KAFKA_BROKERS: '' }, router: { replicas: 99 } });
    assert.match(message, /KAFKA_BROKERS is not set/);
    assert.match(message, /router\.replicas \(99\)/);
  });

  test('a quantity that Kubernetes would refuse', async () => {
    const memory = (limit: unknown) => ({ ingest: { resources: { limits: { memory: limit } } } });
    assert.match(await refusal(memory('lots')), /\/ingest\/resources\/limits\/memory/);
    for (const valid of ['1.5Gi', 1e9, '500m']) assert.equal(await refusal(memory(valid)), '');
  });

  test('a field that would be twice in an object', async () => {
    assert.match(await refusal({ pods: { spec: { volumes: [] } } }), /invalid propertyName 'volumes'/);
    assert.match(await refusal({ pods: { container: { env: [] } } }), /invalid propertyName 'env'/);
    assert.match(await refusal({ commonLabels: { 'helm.sh/chart': 'a' } }), /invalid propertyName 'helm/);
  });

  test('no secret in its own message', async () => {
    assert.doesNotMatch(await refusal({ settings: { KAFKA_SASL_PASSWORD: 'hunter2' } }), /hunter2/);
  });
});

test('an upgrade that would leave topics or change a volume is refused, where Helm can ask the cluster', async () => {
  const set = (instance: string, prefix: string, storage: string) => ({
    metadata: {
      name: `${instance}-control`,
      labels: { 'app.kubernetes.io/name': 'tailrace', 'app.kubernetes.io/instance': instance },
    },
    spec: {
      template: { spec: { containers: [{ env: [{ name: 'TAILRACE_TOPIC_PREFIX', value: prefix }] }] } },
      volumeClaimTemplates: [{ spec: { resources: { requests: { storage } } } }],
    },
  });
  const ofApps = { name: 'statefulsets', singularName: 'statefulset', namespaced: true, kind: 'StatefulSet' };
  const items = [set('tailrace', 'tailrace.', '4Gi'), set('other', 'other.', '1Gi'), { metadata: {} }];
  const apps = { groupVersion: 'apps/v1', version: 'v1' };
  const answers: Readonly<Record<string, object>> = {
    '/version': { major: '1', minor: '36', gitVersion: 'v1.36.0' },
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/api/v1': { kind: 'APIResourceList', groupVersion: 'v1', resources: [] },
    '/apis': { kind: 'APIGroupList', groups: [{ name: 'apps', versions: [apps], preferredVersion: apps }] },
    '/apis/apps/v1': {
      kind: 'APIResourceList',
      groupVersion: 'apps/v1',
      resources: [{ ...ofApps, verbs: ['get', 'list'] }],
    },
    [`/apis/apps/v1/namespaces/${namespace}/statefulsets`]: {
      kind: 'StatefulSetList',
      apiVersion: 'apps/v1',
      items,
    },
  };
  await using server = await startReceiver({
    answer: ({ path: asked }) => {
      const found = answers[asked.split('?')[0] ?? ''];
      const body = JSON.stringify(
        found ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 },
      );
      return status(found ? 200 : 404, { 'content-type': 'application/json' }, body);
    },
  });
  const problem = async (values: object): Promise<string> => {
    const args = ['template', 'tailrace', chartFolder, '--namespace', namespace, '--dry-run=server'];
    const cluster = ['--kube-apiserver', server.url, '-f', path.join(chartFolder, 'ci/default.yaml')];
    const options = { input: JSON.stringify(values) };
    const ended = run(await toolPath('helm'), [...args, ...cluster, '-f', '-'], options);
    return ended.catch((error: unknown) => String(error));
  };
  const sentence = /set settings\.TAILRACE_TOPIC_PREFIX to tailrace\./;
  assert.match(await problem({ fullnameOverride: 'events' }), sentence);
  // This server knows too little for an install.
  const installs = /unable to build kubernetes objects/;
  assert.match(await problem({}), installs);
  const kept = { fullnameOverride: 'events', settings: { TAILRACE_TOPIC_PREFIX: 'tailrace.' } };
  assert.match(await problem(kept), installs);

  const persistence = (values: object): Promise<string> => problem({ control: { persistence: values } });
  const steps = 'kubectl -n events delete statefulset tailrace-control --cascade=orphan';
  for (const [values, wanted] of [
    [{ size: '8Gi' }, '8Gi'],
    [{ size: '4G' }, '4G'],
    [{ enabled: false }, '0'],
    [{ existingClaim: 'history' }, '0'],
  ] as const) {
    const message = await persistence(values);
    assert.ok(message.includes(`volumes of 4Gi, and Kubernetes cannot change that to ${wanted}.`), message);
    assert.ok(message.includes(steps), message);
  }
  for (const size of ['4096Mi', 2 ** 32]) assert.match(await persistence({ size }), installs);
});

test('every sentence of the checks is tried', () => {
  const text = readFileSync(path.join(chartFolder, 'templates/_checks.tpl'), 'utf8').replace(
    /\{\{\/\*[^]*?\*\/\}\}/g,
    '',
  );
  const sentences = text
    .split('\n')
    .filter((line) => !line.trim().startsWith('{{-') && line.trim().endsWith('.'));
  assert.ok(sentences.length >= 20);
  const tried = [
    ...cases.map(({ sentence }) => sentence),
    'Tailrace has no such setting.',
    'ingest has no such setting.',
    ', and the upgrade would leave them for others that begin with ',
    'To grow a volume, change its claim. Then run ',
    ' --cascade=orphan`, which stops no pod, and upgrade again.',
  ];
  for (const sentence of sentences) {
    // The longest part without a value identifies it.
    const [fixed = ''] = sentence.split(/\{\{.*?\}\}/).sort((a, b) => b.length - a.length);
    const isTried = tried.some((found) => found.includes(fixed.trim()) || overlap(found, fixed));
    assert.ok(isTried, `no case for: ${sentence}`);
  }
});

/** Whether twenty characters in a row are in both. */
function overlap(one: string, other: string): boolean {
  const length = 20;
  for (let start = 0; start + length <= other.length; start += 1) {
    if (one.includes(other.slice(start, start + length))) return true;
  }
  return false;
}
