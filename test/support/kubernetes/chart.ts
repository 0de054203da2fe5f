/** The chart of infra/chart, rendered by helm. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { rarelyCollecting } from '../tools/command.ts';
import { toolPath } from '../tools/tools.ts';

export const chartFolder = path.join(import.meta.dirname, '../../../infra/chart');
export const namespace = 'events';

export type Labels = Readonly<Record<string, string>>;

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels: Labels;
  readonly annotations?: Labels;
}

/** An object of Kubernetes. `spec` has the fields that tests read; an object has those of its kind, which kubeconform checks. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: Spec;
  readonly data?: Labels;
}

interface Spec {
  readonly replicas?: number;
  /** Of a workload or a budget; `selectorOf` also reads that of a Service. */
  readonly selector: { readonly matchLabels: Labels };
  readonly template: PodTemplate;
  readonly jobTemplate: { readonly spec: { readonly template: PodTemplate } };
  readonly serviceName?: string;
  readonly podManagementPolicy?: string;
  readonly volumeClaimTemplates?: readonly unknown[];
  readonly unhealthyPodEvictionPolicy?: string;
  readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
  readonly topicName: string;
  readonly partitions: number;
  readonly config: Labels;
  readonly ingress: readonly NetworkRule[];
  readonly egress: readonly NetworkRule[];
  readonly podSelector: { readonly matchLabels: Labels };
  readonly maxReplicas?: number;
  readonly maxReplicaCount?: number;
  readonly advanced?: { readonly horizontalPodAutoscalerConfig: { readonly behavior: ScalingBehaviours } };
  readonly triggers: readonly {
    readonly type: string;
    readonly metricType: string;
    readonly metadata: Labels;
    readonly authenticationRef?: object;
  }[];
}

interface ScalingBehaviours {
  readonly scaleUp: ScalingBehaviour;
  readonly scaleDown: ScalingBehaviour;
}

interface ScalingBehaviour {
  readonly stabilizationWindowSeconds: number;
  readonly policies: readonly {
    readonly type: string;
    readonly value: number;
    readonly periodSeconds: number;
  }[];
}

export interface NetworkRule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports: readonly { readonly protocol: string; readonly port?: number | string }[];
}

interface Peer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  readonly namespaceSelector?: { readonly matchLabels?: Labels };
  readonly podSelector?: {
    readonly matchLabels?: Labels;
    readonly matchExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
  };
}

export interface Rendering {
  /** Default: the current major version. */
  readonly tool?: 'helm' | 'helm-3';
  readonly release?: string;
  /** Its namespace. */
  readonly into?: string;
  /** What the cluster knows beside its own objects; by default it is unknown. */
  readonly apiVersions?: readonly string[];
  /** Files in `ci/`, without ending. */
  readonly valueSets?: readonly string[];
  /** Merged over the files. */
  readonly values?: object;
}

/** The value sets in `ci/`. */
export const valueSets: readonly string[] = readdirSync(path.join(chartFolder, 'ci')).map((file) =>
  path.basename(file, '.yaml'),
);

export function readChartFile(file: string): unknown {
  return parse(readFileSync(path.join(chartFolder, file), 'utf8'), { merge: true });
}

/** Runs helm with the chart and these values. */
export async function helm(
  args: readonly string[],
  { tool = 'helm', valueSets: sets = ['default'], values = {} }: Rendering = {},
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const files = sets.flatMap((name) => ['-f', path.join(chartFolder, 'ci', `${name}.yaml`)]);
  const { status, stdout, stderr } = spawnSync(await toolPath(tool), [...args, ...files, '-f', '-'], {
    input: JSON.stringify(values),
    env: { ...process.env, ...rarelyCollecting },
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  });
  return { code: status, out: stdout, err: stderr };
}

/** The text of all objects. */
export async function renderText(rendering: Rendering = {}): Promise<string> {
  const { release = 'tailrace', into = namespace, apiVersions = [] } = rendering;
  const known = apiVersions.flatMap((version) => ['--api-versions', version]);
  const args = ['template', release, chartFolder, '--namespace', into, ...known];
  const { code, out, err } = await helm(args, rendering);
  if (code !== 0) throw new Error(err);
  return out;
}

const parsed = new Map<string, readonly Manifest[]>();

/** The objects of a text, of which other renderings have most too. */
function objectsIn(text: string): readonly Manifest[] {
  const known = parsed.get(text);
  if (known) return known;
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Manifest | null);
  const objects = documents.filter((object) => object !== null);
  parsed.set(text, objects);
  return objects;
}

const renderings = new Map<string, Promise<Manifest[]>>();

export function render(rendering: Rendering = {}): Promise<Manifest[]> {
  const key = JSON.stringify(rendering);
  const known = renderings.get(key);
  if (known) return known;
  const objects = renderText(rendering).then((text) => text.split(/^---$/m).flatMap(objectsIn));
  renderings.set(key, objects);
  return objects;
}

/** The message with which helm refuses these values; empty if it accepts them. */
export async function refusal(
  values: object,
  sets: readonly string[] = ['default'],
  options: readonly string[] = [],
): Promise<string> {
  const args = ['template', 'tailrace', chartFolder, ...options];
  const { code, err } = await helm(args, { valueSets: sets, values });
  return code === 0 ? '' : err;
}

export const ofKind = (objects: readonly Manifest[], ...kinds: string[]): Manifest[] =>
  objects.filter(({ kind }) => kinds.includes(kind));

export function named(objects: readonly Manifest[], kind: string, name: string): Manifest {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found) return found;
  const names = ofKind(objects, kind).map(({ metadata }) => metadata.name);
  throw new Error(`There is no ${kind} ${name}, but: ${names.join(', ')}`);
}

export interface PodTemplate {
  readonly metadata: { readonly labels: Labels; readonly annotations?: Labels };
  readonly spec: {
    readonly containers: readonly [Container];
    readonly securityContext: {
      readonly runAsNonRoot: boolean;
      readonly runAsUser?: number;
      readonly seccompProfile: object;
    };
    readonly automountServiceAccountToken: boolean;
    readonly enableServiceLinks: boolean;
    readonly terminationGracePeriodSeconds: number;
    readonly topologySpreadConstraints: readonly { readonly topologyKey: string }[];
    readonly volumes: readonly {
      readonly name: string;
      readonly projected?: {
        readonly sources: readonly {
          readonly secret: { readonly items: readonly { readonly path: string }[] };
        }[];
      };
    }[];
  };
}

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env: readonly Variable[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources: { readonly requests: Labels; readonly limits: Labels };
  readonly securityContext: object;
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
    readonly configMapKeyRef?: { readonly name: string; readonly key: string };
  };
}

/** Workloads, Jobs and Pods, each with the template of its pods. */
export function workloads(
  objects: readonly Manifest[],
): { readonly object: Manifest; readonly pod: PodTemplate }[] {
  return ofKind(objects, 'Deployment', 'StatefulSet', 'Job', 'CronJob', 'Pod').map((object) => {
    if (object.kind === 'Pod') return { object, pod: object as unknown as PodTemplate };
    const spec = object.kind === 'CronJob' ? object.spec.jobTemplate.spec : object.spec;
    return { object, pod: spec.template };
  });
}

/** The workload of a service, with the template of its pods. */
export function podOf(objects: readonly Manifest[], component: string): PodTemplate {
  const found = workloads(objects).find(
    ({ object }) => object.metadata.labels['app.kubernetes.io/component'] === component,
  );
  if (found) return found.pod;
  throw new Error(`There is no workload of ${component}`);
}

/** The labels that select the pods of a workload, a budget or a Service. */
export function selectorOf({ kind, spec }: Manifest): Labels {
  return kind === 'Service' ? (spec.selector as unknown as Labels) : spec.selector.matchLabels;
}

export const matches = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);

/** The variables of the only container of a pod, by name. */
export function variablesOfPod(pod: PodTemplate): Map<string, Variable> {
  return new Map(pod.spec.containers[0].env.map((variable) => [variable.name, variable]));
}
