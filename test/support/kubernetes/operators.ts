/** Operators that clusters commonly have, from the manifests of their modules, with the images of infra/node/images.ts. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { operatorModules, type ToolName } from '../tools/catalogue.ts';
import { goModule } from '../tools/tools.ts';
import type { Cluster } from './cluster.ts';

const prometheusImage = 'quay.io/prometheus/prometheus:v3.4.2';

/** The program of each image, and where it is. */
export const operatorImages = {
  'quay.io/prometheus-operator/prometheus-operator:v0.85.0': {
    program: 'prometheus-operator',
    as: '/bin/operator',
  },
  'quay.io/prometheus-operator/prometheus-config-reloader:v0.85.0': {
    program: 'prometheus-config-reloader',
    as: '/bin/prometheus-config-reloader',
  },
  [prometheusImage]: { program: 'prometheus-kubernetes', as: '/bin/prometheus' },
  'ghcr.io/kedacore/keda:main': { program: 'keda-operator', as: '/keda' },
  'ghcr.io/kedacore/keda-metrics-apiserver:main': { program: 'keda-adapter', as: '/keda-adapter' },
  'ghcr.io/projectcontour/contour:v1.33.8': { program: 'contour', as: '/bin/contour' },
  'envoyproxy/envoy:distroless-v1.38.9': { program: 'envoy', as: '/usr/local/bin/envoy' },
} as const satisfies Readonly<Record<string, { readonly program: ToolName; readonly as: string }>>;

/** An ingress controller, which serves the class `contour` in the namespace `projectcontour`. */
export async function installContour(cluster: Cluster): Promise<AsyncDisposable> {
  const manifest = await readManifest(operatorModules.contour, 'examples/render/contour.yaml');
  return install(cluster, manifest, 'projectcontour', ['deployment/contour', 'daemonset/envoy']);
}

/** KEDA, without its webhooks, in the namespace `keda`. */
export async function installKeda(cluster: Cluster): Promise<AsyncDisposable> {
  const { Dir: source } = await goModule(operatorModules.keda);
  const rendered = await cluster.kubectl('kustomize', path.join(source, 'config/minimal'));
  // The images cannot be pulled again.
  const manifest = rendered.replaceAll('imagePullPolicy: Always', 'imagePullPolicy: IfNotPresent');
  const workloads = ['deployment/keda-operator', 'deployment/keda-metrics-apiserver'];
  return install(cluster, manifest, 'keda', workloads);
}

/** The operator, and a Prometheus in the namespace `monitoring` that takes the ServiceMonitors and rules of all namespaces. */
export async function installPrometheus(cluster: Cluster): Promise<AsyncDisposable> {
  const bundle = await readManifest(operatorModules.prometheusOperator, 'bundle.yaml');
  await using installed = new AsyncDisposableStack();
  installed.use(await install(cluster, bundle, 'default', ['deployment/prometheus-operator']));
  const everything = {
    serviceMonitorSelector: {},
    serviceMonitorNamespaceSelector: {},
    ruleSelector: {},
    ruleNamespaceSelector: {},
  };
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monitoring' } },
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'prometheus', namespace: 'monitoring' },
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'prometheus-views' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'prometheus', namespace: 'monitoring' }],
    },
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'Prometheus',
      metadata: { name: 'prometheus', namespace: 'monitoring' },
      spec: {
        version: prometheusImage.split(':').at(-1),
        image: prometheusImage,
        serviceAccountName: 'prometheus',
        evaluationInterval: '10s',
        ...everything,
      },
    },
  ];
  const manifest = objects.map((object) => JSON.stringify(object)).join('\n---\n');
  installed.use(await install(cluster, manifest, 'monitoring', []));
  await cluster.kubectl(
    'wait',
    '--for=condition=Available',
    '-n',
    'monitoring',
    'prometheus/prometheus',
    '--timeout=300s',
  );
  return installed.move();
}

async function readManifest(module: string, file: string): Promise<string> {
  const { Dir: source } = await goModule(module);
  return readFile(path.join(source, file), 'utf8');
}

/** Applies a manifest, and waits for workloads. */
async function install(
  cluster: Cluster,
  manifest: string,
  namespace: string,
  workloads: readonly string[],
): Promise<AsyncDisposable> {
  const file = path.join(cluster.folder, `${namespace}.yaml`);
  await writeFile(file, manifest);
  await cluster.kubectl('apply', '--server-side', '-f', file);
  for (const workload of workloads) {
    await cluster.kubectl('rollout', 'status', '-n', namespace, workload, '--timeout=300s');
  }
  return {
    async [Symbol.asyncDispose]() {
      await cluster.kubectl('delete', '--ignore-not-found', '-f', file);
    },
  };
}
