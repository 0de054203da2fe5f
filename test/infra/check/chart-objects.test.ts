/** Rules that hold for the objects of every value set of the chart. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import {
  chartFolder,
  helm,
  named,
  ofKind,
  podOf,
  matches,
  readChartFile,
  render,
  renderText,
  selectorOf,
  valueSets,
  variablesOfPod,
  workloads,
  type Manifest,
  type PodTemplate,
} from '../../support/kubernetes/chart.ts';
import { schemaProblems } from '../../support/kubernetes/kubeconform.ts';

const rendered = new Map(
  await Promise.all(valueSets.map(async (name) => [name, await render({ valueSets: [name] })] as const)),
);

/** Runs `check` on each value set and names the set that fails. */
function forEachSet(check: (objects: readonly Manifest[], name: string) => void): void {
  assert.ok(rendered.size >= 10);
  for (const [name, objects] of rendered) {
    try {
      check(objects, name);
    } catch (error) {
      throw new Error(`value set ${name}`, { cause: error });
    }
  }
}

const shared = (one: ReadonlySet<string>, other: ReadonlySet<string>): string[] =>
  [...one].filter((name) => other.has(name));

const isService = ({ kind }: Manifest): boolean => kind === 'Deployment' || kind === 'StatefulSet';

/** Milliseconds of a setting such as `25s`. */
function milliseconds(duration: string): number {
  const [, number, unit = ''] = /^(\d+)(ms|s|m|h)$/.exec(duration) ?? assert.fail(duration);
  return Number(number) * ({ ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit] ?? NaN);
}

test('helm lint accepts the chart with every value set', async () => {
  for (const name of valueSets) {
    const { code, out } = await helm(['lint', chartFolder, '--strict'], { valueSets: [name] });
    assert.equal(code, 0, `${name}: ${out}`);
  }
});

test('kubeconform accepts the objects of every value set, custom resources too', () => {
  const objects = new Set([...rendered.values()].flat());
  assert.ok(objects.size > 100);
  assert.equal(schemaProblems([...objects]), '');
});

describe('selectors', () => {
  test('the selector of each workload, Service and budget matches the pods of one workload only', () => {
    forEachSet((objects) => {
      const pods = workloads(objects);
      const selecting = [...objects.filter(isService), ...ofKind(objects, 'PodDisruptionBudget', 'Service')];
      assert.ok(selecting.length > 0);
      for (const object of selecting) {
        const found = pods
          .filter(({ pod }) => matches(selectorOf(object), pod.metadata.labels))
          .map(({ object: { metadata } }) => metadata.name);
        assert.equal(found.length, 1, `${object.kind} ${object.metadata.name} selects ${found.join(', ')}`);
        assert.equal(found[0], object.metadata.name.replace(/-pods$/, ''));
      }
    });
  });

  test('fields that Kubernetes cannot change are as in the release before', () => {
    const fields = (rendered.get('default') ?? []).filter(isService).map(({ kind, metadata, spec }) => ({
      kind,
      name: metadata.name,
      selector: spec.selector,
      ...(kind === 'StatefulSet' && {
        serviceName: spec.serviceName,
        podManagementPolicy: spec.podManagementPolicy,
        volumeClaimTemplates: spec.volumeClaimTemplates,
      }),
    }));
    assert.deepEqual(fields, readChartFile('immutable.yaml'));
  });
});

describe('pods', () => {
  const forEachPod = (check: (pod: PodTemplate, object: Manifest) => void): void => {
    forEachSet((objects) => {
      for (const { object, pod } of workloads(objects)) check(pod, object);
    });
  };

  test('each pod follows the restricted standard, with a read-only root and without a token', () => {
    forEachSet((objects, name) => {
      for (const { pod } of workloads(objects)) {
        const { securityContext, containers, automountServiceAccountToken } = pod.spec;
        assert.equal(automountServiceAccountToken, false);
        assert.equal(securityContext.runAsNonRoot, true);
        if (name !== 'existing-secrets') assert.ok((securityContext.runAsUser ?? 0) >= 1_000);
        assert.deepEqual(securityContext.seccompProfile, { type: 'RuntimeDefault' });
        for (const container of containers) {
          assert.deepEqual(container.securityContext, {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
        }
        assert.ok(pod.spec.volumes.every((volume) => !('hostPath' in volume)));
      }
    });
  });

  test('variables of Services, which have the names of settings, are off', () => {
    forEachPod((pod) => {
      assert.equal(pod.spec.enableServiceLinks, false);
    });
  });

  test('each container has requests and a limit of memory, and no limit of CPU', () => {
    forEachPod((pod) => {
      const [{ resources }] = pod.spec.containers;
      assert.ok(resources.requests['cpu'] && resources.requests['memory'] && resources.limits['memory']);
      assert.equal(resources.limits['cpu'], undefined);
    });
  });

  test('each image has a tag or a digest that the values choose', async () => {
    const image = {
      registry: 'r.example.com',
      tag: '7',
      digests: Object.fromEntries(
        ['ingest', 'router', 'delivery', 'control', 'cli'].map((name) => [name, `sha256:${'a'.repeat(64)}`]),
      ),
    };
    const objects = await render({ valueSets: ['everything'], values: { image } });
    const images = workloads(objects).map(({ pod }) => pod.spec.containers[0].image);
    assert.ok(images.length >= 6);
    for (const found of images) {
      assert.match(found, /^r\.example\.com\/tailrace-(ingest|router|delivery|control|cli):7@sha256:a{64}$/);
    }
  });

  test('replicas are spread, and budgets let a pod that is not ready go', () => {
    forEachSet((objects) => {
      for (const { spec } of objects.filter(isService)) {
        const keys = spec.template.spec.topologySpreadConstraints.map(
          (constraint: { readonly topologyKey: string }) => constraint.topologyKey,
        );
        assert.deepEqual(keys, ['topology.kubernetes.io/zone', 'kubernetes.io/hostname']);
      }
      assert.equal(ofKind(objects, 'PodDisruptionBudget').length, 4);
      for (const { spec } of ofKind(objects, 'PodDisruptionBudget')) {
        assert.equal(spec.unhealthyPodEvictionPolicy, 'AlwaysAllow');
      }
    });
  });

  test('the time until a pod is killed is delay and grace of the shutdown and five seconds', () => {
    const known = readChartFile('files/settings.json') as Record<
      string,
      Record<string, { default?: string }>
    >;
    forEachSet((objects) => {
      for (const { metadata, spec } of objects.filter(isService)) {
        const settings = known[metadata.labels['app.kubernetes.io/component'] ?? ''] ?? assert.fail();
        const variables = variablesOfPod(spec.template);
        const drainMs = ['TAILRACE_SHUTDOWN_DELAY', 'TAILRACE_SHUTDOWN_GRACE']
          .map((name) => variables.get(name)?.value ?? settings[name]?.default ?? '0ms')
          .reduce((sum, duration) => sum + milliseconds(duration), 0);
        assert.equal(spec.template.spec.terminationGracePeriodSeconds, Math.ceil(drainMs / 1_000) + 5);
      }
    });
  });

  test('all probes ask the metrics port, and the Services lead to ports that containers have', () => {
    forEachSet((objects) => {
      for (const { spec } of objects.filter(isService)) {
        const [container] = spec.template.spec.containers;
        for (const [probe, path] of [
          ['startupProbe', '/livez'],
          ['livenessProbe', '/livez'],
          ['readinessProbe', '/readyz'],
        ] as const) {
          assert.deepEqual(container[probe].httpGet, { path, port: 'metrics' });
        }
      }
      for (const service of ofKind(objects, 'Service')) {
        const { pod } =
          workloads(objects).find(({ pod: { metadata } }) => matches(selectorOf(service), metadata.labels)) ??
          assert.fail();
        const ports = pod.spec.containers[0].ports.map(({ name }) => name);
        for (const { targetPort } of service.spec.ports) assert.ok(ports.includes(targetPort));
      }
    });
  });
});

test('a workload with an autoscaler has no replicas, and no autoscaler exceeds the partitions', () => {
  forEachSet((objects) => {
    const scaled = ofKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject');
    for (const { metadata, spec } of scaled) {
      const { object } =
        workloads(objects).find(({ object: found }) => found.metadata.name === metadata.name) ??
        assert.fail();
      assert.ok(!('replicas' in object.spec), metadata.name);
      if (spec.maxReplicaCount === undefined) continue;
      const partitions = variablesOfPod(podOf(objects, 'control')).get('TAILRACE_PARTITIONS')?.value;
      assert.ok(spec.maxReplicaCount <= Number(partitions));
    }
    const names = new Set(scaled.map(({ metadata }) => metadata.name));
    for (const { metadata, spec } of objects.filter(isService)) {
      if (!names.has(metadata.name)) assert.equal(typeof spec.replicas, 'number');
    }
  });
});

test('dashboards and rules are shipped, each object below the limit of a ConfigMap', () => {
  const objects = rendered.get('everything') ?? [];
  const dashboards = ofKind(objects, 'ConfigMap').filter(
    ({ metadata }) => metadata.labels['grafana_dashboard'] === '1',
  );
  const files = (folder: string): number => readdirSync(path.join(chartFolder, 'files', folder)).length;
  assert.equal(dashboards.length, files('dashboards'));
  assert.equal(ofKind(objects, 'PrometheusRule').length, files('rules'));
  for (const object of objects) assert.ok(JSON.stringify(object).length < 2 ** 20, object.metadata.name);
  for (const { data = {} } of dashboards) {
    for (const text of Object.values(data)) assert.doesNotThrow(() => JSON.parse(text) as unknown);
  }
  const rules = JSON.stringify(ofKind(objects, 'PrometheusRule'));
  assert.ok(rules.includes('https://runbooks.example.com/tailrace/Tailrace'));
  assert.ok(!rules.includes('tailrace.example') && !rules.includes('grafana.example/'));
});

test('no secret is outside of a Secret: every secret setting refers to one', () => {
  const known = readChartFile('files/settings.json') as Record<
    string,
    Record<string, { secret?: boolean; file?: string }>
  >;
  const secrets = new Map(
    Object.values(known).flatMap((settings) =>
      Object.entries(settings).flatMap(([name, { secret, file = '' }]) =>
        secret ? [[name, file] as const] : [],
      ),
    ),
  );
  assert.ok(secrets.size >= 5);
  let count = 0;
  forEachSet((objects) => {
    assert.equal(ofKind(objects, 'Secret').length, 0);
    for (const { pod } of workloads(objects)) {
      const variables = variablesOfPod(pod);
      for (const [name, file] of secrets) {
        const variable = variables.get(name);
        if (variable) assert.ok(variable.valueFrom?.secretKeyRef, name);
        const inFile = variables.get(file)?.value;
        if (inFile !== undefined) {
          const volume = pod.spec.volumes.find((found: { name: string }) => found.name === 'secrets');
          const paths = volume?.projected?.sources.flatMap(({ secret }) =>
            secret.items.map(({ path }) => path),
          );
          assert.ok(paths?.includes(name), `${name} is mounted`);
        }
        if (variable ?? inFile) count += 1;
      }
    }
  });
  assert.ok(count > 50);
});

test('a service may have no replicas, and images come from the registry of the whole installation', async () => {
  const services = ['ingest', 'router', 'delivery', 'control'];
  const none = Object.fromEntries(services.map((name) => [name, { replicas: 0 }]));
  const registry = 'mirror.example.com/team';
  const values = { ...none, image: { registry: 'r.example.com' }, global: { imageRegistry: registry } };
  const objects = await render({ values });
  assert.deepEqual(
    objects.filter(isService).map(({ spec }) => spec.replicas),
    [0, 0, 0, 0],
  );
  for (const { pod } of workloads(objects)) {
    assert.ok(pod.spec.containers[0].image.startsWith(`${registry}/tailrace-`));
  }
});

test('other fields, containers and objects of the values are in what is rendered', async () => {
  const initContainers = [{ name: 'wait', image: 'busybox' }];
  const extraContainers = [{ name: 'proxy', image: 'proxy' }];
  const container = { envFrom: [{ secretRef: { name: 'proxy' } }] };
  const common = { commonLabels: { team: 'events' }, commonAnnotations: { 'example.com/owner': 'events' } };
  const [own] = ['{{ .Release.Name }}-own'].map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
  }));
  const objects = await render({
    valueSets: ['strimzi'],
    values: {
      ...common,
      extraObjects: [own],
      pods: { spec: { schedulerName: 'own', initContainers }, container, extraContainers },
      ingest: {
        service: { type: 'NodePort', nodePort: 30_080, spec: { ipFamilyPolicy: 'PreferDualStack' } },
        disruptionBudget: { minAvailable: '50%' },
        pods: { probes: { liveness: { failureThreshold: 9 } } },
      },
      control: { persistence: { existingClaim: 'history' } },
    },
  });
  assert.equal(schemaProblems(objects), '');
  const extra = named(objects, 'ConfigMap', 'tailrace-own');
  for (const object of objects.filter((found) => found !== extra)) {
    const { labels, annotations } = object.metadata;
    assert.equal(labels['team'], 'events', object.metadata.name);
    assert.equal(annotations?.['example.com/owner'], 'events', object.metadata.name);
  }
  for (const { object, pod } of workloads(objects)) {
    // A Job with another container would not end.
    const containers = [container, ...(isService(object) ? extraContainers : [])];
    assert.partialDeepStrictEqual(pod.spec, { schedulerName: 'own', initContainers, containers });
    assert.equal(pod.spec.containers.length, containers.length);
  }
  const probes = podOf(objects, 'ingest').spec.containers[0];
  assert.partialDeepStrictEqual(probes.livenessProbe, { failureThreshold: 9, periodSeconds: 10 });
  assert.partialDeepStrictEqual(named(objects, 'Service', 'tailrace-ingest').spec, {
    type: 'NodePort',
    ipFamilyPolicy: 'PreferDualStack',
    ports: [{ port: 80, nodePort: 30_080 }],
  });
  const { spec: budget } = named(objects, 'PodDisruptionBudget', 'tailrace-ingest');
  assert.partialDeepStrictEqual(budget, { minAvailable: '50%' });
  assert.ok(!('maxUnavailable' in budget));
  const control = named(objects, 'StatefulSet', 'tailrace-control').spec;
  assert.equal(control.volumeClaimTemplates, undefined);
  const claim = { name: 'data', persistentVolumeClaim: { claimName: 'history' } };
  assert.deepEqual(
    control.template.spec.volumes.find(({ name }) => name === 'data'),
    claim,
  );
});

describe('several releases in a namespace', () => {
  test('two releases have no name, selector, topic or Kafka user in common', async () => {
    const [first = [], second = []] = await Promise.all(
      ['tailrace', 'tailrace-two'].map((release) => render({ release, valueSets: ['second-release'] })),
    );
    const names = (objects: readonly Manifest[]): Set<string> =>
      new Set(objects.map(({ kind, metadata }) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`));
    assert.ok(names(first).size > 40);
    assert.equal(names(first).size, first.length);
    assert.deepEqual(shared(names(first), names(second)), []);
    for (const { object, pod } of workloads(second)) {
      for (const other of first.filter(isService)) {
        assert.ok(!matches(other.spec.selector.matchLabels, pod.metadata.labels), object.metadata.name);
      }
    }
    const topics = (objects: readonly Manifest[]): Set<string> =>
      new Set(ofKind(objects, 'KafkaTopic').map(({ spec }) => spec.topicName));
    assert.ok(topics(first).size > 15);
    assert.deepEqual(shared(topics(first), topics(second)), []);
  });

  test('the longest names of releases that differ at the end stay different and within 63 characters', async () => {
    const releases = ['x', 'y'].map((end) => `${'a'.repeat(52)}${end}`);
    const names = await Promise.all(
      releases.map(async (release) =>
        (await render({ release, valueSets: ['everything'], values: { fullnameOverride: '' } })).map(
          ({ metadata }) => metadata.name,
        ),
      ),
    );
    for (const name of names.flat()) assert.ok(name.length <= 63, name);
    const [first = [], second = []] = names;
    assert.deepEqual(shared(new Set(first), new Set(second)), []);
    const control = named(
      await render({ release: releases[0] ?? '' }),
      'StatefulSet',
      first.find((name) => name.endsWith('-control')) ?? '',
    );
    assert.ok(`${control.metadata.name}-0123456789`.length <= 63, 'the label with the revision of its pods');
  });
});

test('names that look like numbers stay text, and large whole numbers have no exponent', async () => {
  const objects = await render({
    release: '123',
    values: {
      fullnameOverride: 'tailrace',
      user: { id: 1_000_680_000, group: 1_000_680_000 },
      jobs: { ttlSecondsAfterFinished: 31_536_000 },
      pods: { priorityClassName: '1e3' },
    },
  });
  for (const { metadata } of objects) assert.equal(metadata.labels['app.kubernetes.io/instance'], '123');
  const text = await renderText({ values: { user: { id: 1_000_680_000, group: 1_000_680_000 } } });
  assert.doesNotMatch(text, /: \d\.\d+e\+\d+/);
  const spec = JSON.stringify(objects);
  assert.match(spec, /"runAsUser":1000680000/);
  assert.match(spec, /"priorityClassName":"1e3"/);
});
