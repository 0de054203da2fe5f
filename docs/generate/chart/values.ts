/** The values of infra/chart: their forms and meanings, which are values.schema.json. Defaults are in values.yaml. */
import { settingMaps, settingSource, sharedSettingMaps } from './setting-schemas.ts';
import { settingsByProcess } from './settings.ts';

export type Schema = Readonly<Record<string, unknown>>;

const described =
  (schema: Schema) =>
  (description: string, more: Schema = {}): Schema => ({
    ...schema,
    ...more,
    description,
  });
const text = described({ type: 'string' });
const flag = described({ type: 'boolean' });
const count = described({ type: 'integer', minimum: 1, maximum: 10_000 });
const orNone = { minimum: 0 };
const list = described({ type: 'array' });
const texts = described({ type: 'array', items: { type: 'string', minLength: 1 } });
const map = described({ type: 'object' });
const port = described({ type: 'integer', minimum: 1, maximum: 65_535 });
const choice = (options: readonly string[], description: string): Schema => ({ enum: options, description });
const quantity = described({
  type: ['string', 'number'],
  pattern: '^[0-9]+([.][0-9]+)?(m|[kMGTP]|[KMGTP]i|e[0-9]+)?$',
});
const url = described({ type: 'string', pattern: '^$|^https?://' });
const strings = described({ type: 'object', additionalProperties: { type: 'string' } });
/** Labels that the chart sets itself would be twice in an object. */
const labels = described({
  type: 'object',
  additionalProperties: { type: 'string' },
  propertyNames: {
    not: {
      pattern:
        '^(app\\.kubernetes\\.io/(name|instance|component|version|part-of|managed-by)|helm\\.sh/chart)$',
    },
  },
});

export const group = (properties: Readonly<Record<string, Schema>>, description?: string): Schema => ({
  type: 'object',
  ...(description !== undefined && { description }),
  properties,
  additionalProperties: false,
});

/** Fields beside those that the chart sets, which would be twice in an object. */
const otherFields = (description: string, own: readonly string[]): Schema =>
  map(description, { propertyNames: { not: { enum: own } } });
const ofPods = [
  'labels',
  'annotations',
  'nodeSelector',
  'tolerations',
  'affinity',
  'priorityClassName',
  'dnsConfig',
];
const ownOfSpec = [
  ...ofPods,
  'serviceAccountName',
  'automountServiceAccountToken',
  'enableServiceLinks',
  'imagePullSecrets',
  'restartPolicy',
  'terminationGracePeriodSeconds',
  'securityContext',
  'topologySpreadConstraints',
  'containers',
  'volumes',
];
const probe = map('As in a container, except its action.', {
  propertyNames: { not: { enum: ['httpGet', 'exec', 'tcpSocket', 'grpc'] } },
});

const podOptions = {
  labels: labels('As in a pod.'),
  annotations: strings('As in a pod.'),
  nodeSelector: strings('As in a pod.'),
  tolerations: list('As in a pod.'),
  affinity: map('As in a pod.'),
  priorityClassName: text('As in a pod.'),
  dnsConfig: map('As in a pod.'),
  extraEnv: list(
    'Variables that are not settings of Tailrace, as in a container, such as `NODE_EXTRA_CA_CERTS`.',
    {
      items: { type: 'object', required: ['name'] },
    },
  ),
  extraVolumes: list('Added to those of the chart.'),
  extraVolumeMounts: list('Added to those of the chart.'),
  extraContainers: list('Added to those of the chart, not in Jobs, which would not end.'),
  spec: otherFields('Other fields of a pod, such as `hostAliases` and `initContainers`.', ownOfSpec),
  container: otherFields('Other fields of the container, such as `envFrom` and `lifecycle`.', [
    'name',
    'image',
    'imagePullPolicy',
    'args',
    'env',
    'ports',
    'resources',
    'securityContext',
    'volumeMounts',
    'startupProbe',
    'readinessProbe',
    'livenessProbe',
  ]),
  probes: group({ startup: probe, readiness: probe, liveness: probe }),
};
const ownPods = group(podOptions, 'Merged over `pods`; lists replace.');

const resources = group({
  requests: map('Reserved CPU and memory.', { additionalProperties: quantity('As in a pod.') }),
  limits: map('Most memory.', { additionalProperties: quantity('As in a pod.') }),
});
const disruptionBudget = group({
  maxUnavailable: described({ type: ['integer', 'string'] })('Pods that may be evicted at the same time.'),
  minAvailable: described({ type: ['integer', 'string'] })('Used in place of `maxUnavailable`.'),
});
const serviceAccount = group({
  name: text('An existing ServiceAccount to use.'),
  annotations: strings('Merged over those of all.'),
});
const service = group({
  type: choice(['ClusterIP', 'NodePort', 'LoadBalancer'], 'Type of the Service.'),
  port: port('Port of the Service.'),
  annotations: strings('As in a Service.'),
  loadBalancerSourceRanges: texts('As in a Service.'),
  nodePort: port('As in a Service; by default the cluster chooses it.'),
  spec: otherFields('Other fields of a Service, such as `loadBalancerClass`.', [
    'type',
    'loadBalancerSourceRanges',
    'ports',
    'selector',
  ]),
});
const ingress = group({
  enabled: flag('Create an Ingress.'),
  className: text('As in an Ingress.'),
  annotations: strings('As in an Ingress.'),
  hosts: texts('Host names. All paths lead to the service.'),
  tls: list('As in an Ingress.'),
});
const httpRoute = group({
  enabled: flag('Create an HTTPRoute of the Gateway API.'),
  annotations: strings('As in an HTTPRoute.'),
  parentRefs: list('As in an HTTPRoute.'),
  hostnames: texts('Host names; by default those of the Gateway.'),
});

const process = (name: string) => {
  const settings = settingsByProcess[name];
  if (settings === undefined) throw new Error(`There is no process ${name}`);
  const maps = settingMaps(settings);
  return {
    settings: { ...maps.settings, description: 'Settings of these pods; they win over `settings`.' },
    settingsFrom: { ...maps.settingsFrom, description: 'The same for `settingsFrom`.' },
    resources,
    serviceAccount,
    pods: ownPods,
  };
};
const replicas = count('Replicas; unused where an autoscaler is enabled.', orNone);
const limits = {
  enabled: flag('Scale automatically. The workload then has no `replicas`.'),
  minReplicas: count('Fewest replicas.'),
};
const share = described({ type: 'number', exclusiveMinimum: 0, maximum: 1 });
const consumer = (name: 'router' | 'delivery'): Schema =>
  group({
    replicas: count(
      'Replicas, at most `TAILRACE_PARTITIONS`; unused where an autoscaler is enabled.',
      orNone,
    ),
    autoscaling: group({
      ...limits,
      maxReplicas: count('Most replicas, at most `TAILRACE_PARTITIONS`.'),
      lateSeconds: count('Age of the oldest unfinished record above which a group is late.'),
      busyShare: share(
        'Share of time that event loops work above which a group is busy. One replica more if late and busy.',
      ),
      idleShare: share(
        'One replica less if the others would work less than this share, and nothing was late, for ten minutes.',
      ),
      lagThreshold: described({ type: 'integer', minimum: 1 })(
        'With the trigger `kafka` instead: records that wait for each replica.',
      ),
    }),
    disruptionBudget,
    ...process(name),
  });
const spread = 'What happens to a pod that cannot be spread over them.';
const shared = sharedSettingMaps();
const peers = (description: string): Schema => list(description, { items: { type: 'object' } });

export const values: Readonly<Record<string, Schema>> = {
  global: map('Of the chart that this one is part of. Its `imageRegistry` wins over `image.registry`.'),
  fullnameOverride: text('Names begin with this instead of the name of the release.', {
    pattern: '^[a-z0-9-]*$',
  }),
  commonLabels: labels('Of every object.'),
  commonAnnotations: strings('Of every object.'),
  extraObjects: list('More objects, in whose text templates are executed.', { items: { type: 'object' } }),
  image: group({
    registry: text('Such as `registry.example.com/team`.'),
    repository: text('Images are `<registry>/<repository>-<service>`, and `-cli` for Jobs.'),
    tag: text('Tag; by default the appVersion of the chart.'),
    digests: group(
      Object.fromEntries(
        Object.keys(settingsByProcess).map((name) => [
          name,
          text('Digest of the image. It wins over the tag.', {
            pattern: '^$|^sha256:[0-9a-f]{64}$',
          }),
        ]),
      ),
    ),
    pullPolicy: choice(['Always', 'IfNotPresent', 'Never'], 'When the image is pulled.'),
    pullSecrets: texts('Existing Secrets with access to the registry.'),
  }),
  settings: {
    ...shared.settings,
    description:
      'Settings by the name of their variable. Each pod gets those that it reads. `KAFKA_BROKERS` is required; ' +
      '`TAILRACE_TOPIC_PREFIX` is by default the name of the release and a dot.',
  },
  settingsFrom: {
    ...shared.settingsFrom,
    description:
      'Settings from an existing Secret (`secretKeyRef`) or ConfigMap (`configMapKeyRef`). Secrets are accepted only here. ' +
      '`TAILRACE_API_TOKEN` is required.',
  },
  secretsAs: choice(['files', 'env'], 'Whether containers have secrets as files, or as variables.'),
  rollOnReferenceChange: flag(
    'An upgrade replaces the pods whose Secrets or ConfigMaps have changed, where Helm can ask the cluster.',
  ),
  pods: group(podOptions, 'Pod options of all services and Jobs.'),
  user: group({
    id: described({ type: ['integer', 'null'], minimum: 1 })(
      'Numeric user; null: chosen by the cluster, as on OpenShift.',
    ),
    group: described({ type: ['integer', 'null'], minimum: 1 })(
      'Numeric group of the process and of volumes.',
    ),
  }),
  spread: group({
    zones: choice(['ScheduleAnyway', 'DoNotSchedule'], spread),
    nodes: choice(['ScheduleAnyway', 'DoNotSchedule'], spread),
  }),
  serviceAccounts: group({
    create: flag(
      'Create a ServiceAccount for each service, without permissions and without a mounted token.',
    ),
    annotations: strings('Of all of them, such as a role of a cloud.'),
  }),
  ingest: group({
    replicas,
    autoscaling: group({
      ...limits,
      maxReplicas: count('Most replicas.'),
      targetCpu: quantity(
        'CPU time of a pod that the autoscaler aims at. A process uses little more than one core.',
      ),
    }),
    service,
    ingress,
    httpRoute,
    disruptionBudget,
    ...process('ingest'),
  }),
  router: consumer('router'),
  delivery: consumer('delivery'),
  control: group({
    replicas: count('Replicas. Each reads everything, and has a history of its own.', orNone),
    persistence: group({
      enabled: flag('Keep the history on a volume. Without one, a new pod reads it from Kafka again.'),
      size: quantity('Size of the volume, above `TAILRACE_HISTORY_MAX_SIZE`. README.md says how it grows.'),
      storageClassName: text('Class of the volume; by default that of the cluster.'),
      existingClaim: text('An existing claim to use, by one replica.'),
    }),
    service,
    ingress,
    httpRoute,
    disruptionBudget,
    ...process('control'),
  }),
  jobs: group(
    {
      ...process('cli'),
      backoffLimit: described({ type: 'integer', minimum: 0 })(
        'How often a failed Job is repeated, with pauses of up to 6 min.',
      ),
      ttlSecondsAfterFinished: described({ type: ['integer', 'null'], minimum: 0 })(
        'When a finished Job is deleted; null: never, for GitOps controllers, which would create it again.',
      ),
    },
    'The command line, which Jobs run.',
  ),
  topics: group({
    manage: choice(
      ['job', 'strimzi', 'external'],
      'job: `tailrace topics apply` creates them. strimzi: KafkaTopic objects. external: they exist.',
    ),
    addPartitions: flag(
      'With `job`: add partitions to existing topics, up to `TAILRACE_PARTITIONS`. Kafka cannot remove them again.',
    ),
    retryTiers: texts('With `external`: the delays whose retry topics exist, such as `[10s, 1m]`.'),
  }),
  strimzi: group({
    cluster: text('Name of the Kafka object.'),
    namespace: text('Its namespace; by default that of the release.'),
    users: flag('Create a KafkaUser for each service with its permissions, and use their Secrets.'),
    authentication: choice(['tls', 'scram-sha-512'], 'How these users log in.'),
  }),
  configuration: group({
    inline: map('Sources and destinations, as for `tailrace apply -f`, without secrets.'),
    existingSecret: group({
      name: text('An existing Secret with the configuration.'),
      key: text('Key in the Secret.'),
    }),
    revision: text('Change it when the Secret has changed, so that the configuration is applied again.'),
    prune: flag('Delete sources and destinations that are not in the configuration.'),
  }),
  doctor: group({
    enabled: flag('Create the CronJob that runs `tailrace doctor`.'),
    suspend: flag('Run it only by `kubectl create job --from`.'),
    schedule: text('When it runs.'),
  }),
  autoscaling: group({
    trigger: choice(
      ['prometheus', 'kafka'],
      'prometheus: scale by age of records and load of router and delivery. kafka: by the number of records alone.',
    ),
    prometheus: group({
      serverAddress: url(
        'URL of the Prometheus that KEDA asks for the lag and the load of router and delivery.',
      ),
      authenticationRef: map('A TriggerAuthentication or ClusterTriggerAuthentication.'),
      selector: text('Added to the selectors of the query, such as `cluster="eu"`.'),
    }),
    kafka: group({
      authenticationRef: map('The same, with `tls`, `sasl` and credentials for Kafka.'),
    }),
  }),
  networkPolicy: group({
    enabled: flag('Deny everything except what the services need.'),
    ingressControllers: peers(
      'Peers that may call ingest, and control where it has an Ingress or HTTPRoute.',
    ),
    ingestClients: peers('More peers that may call ingest.'),
    controlClients: peers('Peers that may call the API of control.'),
    monitoring: peers('Peers that may read metrics.'),
    dns: peers('Name servers.'),
    dnsPorts: list('Ports of the name servers.', { items: { type: 'integer' } }),
    kafka: peers(
      'Brokers. Empty: all addresses except link-local and metadata services, on the ports of `KAFKA_BROKERS`.',
    ),
    kafkaPorts: list('Further ports of brokers.', { items: { type: 'integer' } }),
    schemaRegistry: peers(
      'The same for the port of `SCHEMA_REGISTRY_URL`. Where `settingsFrom` has the URL, these peers must be named, and all their ports are allowed.',
    ),
    tokenServer: peers('The same for `KAFKA_OAUTH_TOKEN_URL`.'),
    telemetry: peers('The same for `OTEL_EXPORTER_OTLP_ENDPOINT`.'),
    egressProxy: peers('The same for `TAILRACE_EGRESS_PROXY`.'),
    receivers: peers(
      'Receivers in the cluster, whose addresses `TAILRACE_ALLOW_PRIVATE_NETWORKS` has to allow too. With an egress proxy also mail servers, ' +
        'and receivers with `proxy: none`.',
    ),
  }),
  monitoring: group({
    serviceMonitor: group({
      enabled: flag('Create a ServiceMonitor of the Prometheus operator for all metric pages.'),
      labels: labels('By which Prometheus finds it.'),
      interval: text('Time between two scrapes.'),
      cluster: text('Value of a label `cluster` on every series.'),
    }),
    prometheusRule: group({
      enabled: flag(
        'Create PrometheusRules. They cover all releases, so enable them in one release of a Prometheus.',
      ),
      labels: labels('By which Prometheus finds them.'),
      runbookUrl: url('Where the runbooks are.'),
      grafanaUrl: url('Where Grafana is.'),
    }),
    dashboards: group({
      enabled: flag(
        'Create ConfigMaps with the dashboards. They cover all releases, so enable them in one release of a Grafana.',
      ),
      labels: labels('The sidecar of Grafana looks for these labels.'),
      annotations: strings('Such as a folder.'),
    }),
  }),
};

export function valuesSchema(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Values of the chart tailrace. Generated: run `npm run docs` after a change.',
    ...group(values),
    $defs: { settingSource },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
