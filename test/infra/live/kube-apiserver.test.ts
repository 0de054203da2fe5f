/**
 * A real API server takes the chart, in namespaces that enforce restricted pod security: every value set is installed,
 * upgraded and uninstalled by Helm with server-side apply. No pod runs: there are no controllers and no kubelet.
 */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { runToEnd, type Ended } from '../../support/tools/command.ts';
import { customResourceDefinitions } from '../../support/tools/schemas.ts';
import { toolPath } from '../../support/tools/tools.ts';
import { startApiServer, type ApiServer } from '../../support/kubernetes/api-server.ts';

const chart = path.join(import.meta.dirname, '../../../infra/chart');
const valueSets = globSync('ci/*.yaml', { cwd: chart }).map((file) => path.basename(file, '.yaml'));

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly template?: PodTemplate;
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

interface PodTemplate {
  readonly metadata?: object;
  readonly spec: { readonly volumes?: readonly object[] };
}

let server: ApiServer;
let helm: string;

before(async () => {
  helm = await toolPath('helm');
  server = await startApiServer();
  // Definitions of custom resources are larger than the annotation that a client-side apply would need.
  await server.kubectl(['apply', '--server-side', '-f', await customResourceDefinitions()]);
  // The value sets name these.
  for (const name of ['high', 'highest', 'events']) {
    await server.kubectl(['create', 'priorityclass', name, '--value=1']);
  }
  // Where the value set of a second release has its topics.
  await server.kubectl(['create', 'namespace', 'kafka']);
  await server.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
});
after(() => server[Symbol.asyncDispose]());

async function restrictedNamespace(name: string): Promise<void> {
  await server.kubectl(['create', 'namespace', name]);
  const levels = ['enforce', 'warn', 'audit'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
  await server.kubectl(['label', 'namespace', name, ...levels]);
}

function callHelm(args: readonly string[]): Promise<Ended> {
  return runToEnd(helm, args, { env: server.env });
}

function assertNoWarning({ err }: Ended): void {
  assert.doesNotMatch(err, /warn/i);
}

/** The objects that the release `tailrace` of `namespace` consists of. */
async function objectsOf(namespace: string): Promise<Manifest[]> {
  const { out } = await callHelm(['get', 'manifest', 'tailrace', '--namespace', namespace]);
  return parseAllDocuments(out).map((document) => document.toJS() as Manifest);
}

/** The pod that the controller of a workload would create; none for other objects. */
function podOf({ kind, metadata, spec }: Manifest): object[] {
  const template = spec?.template;
  if (!['Deployment', 'StatefulSet', 'Job'].includes(kind) || !template) return [];
  const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata: { name } }) => ({
    name,
    persistentVolumeClaim: { claimName: `${name}-${metadata.name}-0` },
  }));
  const podSpec = { ...template.spec, volumes: [...(template.spec.volumes ?? []), ...claims] };
  const { name } = metadata;
  return [{ apiVersion: 'v1', kind: 'Pod', metadata: { ...template.metadata, name }, spec: podSpec }];
}

test('a namespace with restricted pod security refuses a pod that may be root', async () => {
  await restrictedNamespace('refusing');
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { containers: [{ name: 'a', image: 'example.invalid/a' }] },
  };
  await assert.rejects(
    server.kubectl(['apply', '--server-side', '-n', 'refusing', '-f', '-'], JSON.stringify(pod)),
    /violates PodSecurity "restricted:latest"/,
  );
});

describe('the API server takes, without a warning, the install and the upgrade of', () => {
  for (const valueSet of valueSets) {
    test(valueSet, async () => {
      const namespace = `values-${valueSet}`;
      const values = ['--values', path.join(chart, 'ci', `${valueSet}.yaml`)];
      const release = ['tailrace', chart, '--namespace', namespace, '--server-side=true', ...values];
      await restrictedNamespace(namespace);
      assertNoWarning(await callHelm(['install', ...release]));
      // The pods themselves, because pod security only warns for what creates them.
      const pods = (await objectsOf(namespace)).flatMap((object) => podOf(object));
      assert.ok(pods.length >= 4, `the release has ${pods.length} workloads`);
      for (const pod of pods) {
        const args = ['create', '--namespace', namespace, '--dry-run=server', '-f', '-'];
        assertNoWarning(await server.kubectl(args, JSON.stringify(pod)));
      }
      const changes = ['image.tag=9.9.9', 'settings.TAILRACE_SHUTDOWN_GRACE=40s', 'ingest.replicas=1'];
      assertNoWarning(await callHelm(['upgrade', ...release, '--set', changes.join(',')]));
      assertNoWarning(await callHelm(['rollback', 'tailrace', '1', '--namespace', namespace]));
      assertNoWarning(await callHelm(['uninstall', 'tailrace', '--namespace', namespace]));
    });
  }
});

test('topics of Strimzi stay when the release is uninstalled', async () => {
  const { out } = await server.kubectl([
    'get',
    'kafkatopics,kafkausers',
    '-n',
    'values-strimzi',
    '-o',
    'name',
  ]);
  const kept = out.trimEnd().split('\n');
  assert.ok(
    kept.some((name) => name.startsWith('kafkatopic.') && name.includes('deliveries')),
    out,
  );
  assert.ok(
    kept.some((name) => name.startsWith('kafkauser.')),
    out,
  );
});

test('two releases in one namespace have no object in common', async () => {
  await restrictedNamespace('shared');
  const install = (name: string, valueSet: string): Promise<Ended> =>
    callHelm([
      'install',
      name,
      chart,
      '-n',
      'shared',
      '--values',
      path.join(chart, 'ci', `${valueSet}.yaml`),
    ]);
  await install('tailrace', 'default');
  // Helm refuses an object that another release owns.
  assertNoWarning(await install('second', 'default'));
});

test('an upgrade changes the pods whose ConfigMap or Secret has changed, and no others', async () => {
  await restrictedNamespace('references');
  const inNamespace = ['--namespace', 'references'];
  const write = (kind: string, object: object): Promise<Ended> =>
    server.kubectl(
      ['apply', '--server-side', ...inNamespace, '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind, ...object }),
    );
  const token = { secretKeyRef: { name: 'api', key: 'token' } };
  const values = {
    settings: { KAFKA_BROKERS: 'kafka:9092' },
    settingsFrom: { TAILRACE_API_TOKEN: token },
    router: { settingsFrom: { SCHEMA_REGISTRY_URL: { configMapKeyRef: { name: 'registry', key: 'url' } } } },
    networkPolicy: { schemaRegistry: [{ podSelector: { matchLabels: { app: 'registry' } } }] },
  };
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-values-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'values.json');
  await writeFile(file, JSON.stringify(values));
  const upgrade = (): Promise<Ended> =>
    callHelm(['upgrade', '--install', 'tailrace', chart, ...inNamespace, '--values', file]);
  /** Names of the workloads and the text of their pods. */
  const pods = async (): Promise<Map<string, string>> =>
    new Map(
      (await objectsOf('references'))
        .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
        .map(({ metadata, spec }) => [metadata.name, JSON.stringify(spec?.template)]),
    );
  await write('ConfigMap', { metadata: { name: 'registry' }, data: { url: 'http://one:8081' } });
  await write('Secret', { metadata: { name: 'api' }, stringData: { token: 'one' } });
  await upgrade();
  const before = await pods();
  const changed = async (): Promise<string[]> => {
    await upgrade();
    const after = await pods();
    return [...after.keys()].filter((name) => after.get(name) !== before.get(name));
  };
  assert.deepEqual(await changed(), []);
  await write('ConfigMap', { metadata: { name: 'registry' }, data: { url: 'http://two:8081' } });
  assert.deepEqual(await changed(), ['tailrace-router']);
  await write('Secret', { metadata: { name: 'api' }, stringData: { token: 'two' } });
  assert.deepEqual((await changed()).sort(), ['tailrace-control', 'tailrace-router']);
});
