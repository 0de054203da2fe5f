/**
 * The first hour with Tailrace on a cluster that has an ingress controller, KEDA and the operator of Prometheus, as the handbook says. A test
 * needs those before it.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { installContour, installKeda, installPrometheus } from '../../support/kubernetes/operators.ts';
import { Release, valuesIn } from '../../support/kubernetes/release.ts';
import { startProgram } from '../../support/processes/program.ts';
import { closedPort } from '../../support/receivers/closed-port.ts';
import { run } from '../../support/tools/command.ts';

const opened = new AsyncDisposableStack();
let release: Release;

before(async () => {
  release = opened.use(await Release.prepare());
  const { cluster } = release;
  for (const install of [installContour, installPrometheus, installKeda]) {
    opened.use(await install(cluster));
  }
  // The operators finish what they manage before they go.
  opened.defer(async () => {
    await cluster.shell('helm uninstall tailrace -n events --ignore-not-found --wait');
  });
});
after(() => opened.disposeAsync());

/** Puts values into `values.yaml`, beside those of the same group. */
function addValues(added: Readonly<Record<string, object>>): Promise<void> {
  for (const [group, values] of Object.entries(added)) {
    release.values[group] = { ...release.values[group], ...values };
  }
  return release.writeValues();
}

test('a release is installed, and a webhook arrives', async () => {
  assert.match(await release.install(), /Phase:\s+Succeeded/);
  await release.connect();
});

test('a client sends an event by HTTPS through the ingress controller', async () => {
  const { cluster } = release;
  const [key, certificate] = ['events.key', 'events.crt'].map((file) => path.join(cluster.folder, file));
  assert.ok(key !== undefined && certificate !== undefined);
  const request = 'req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=events.example.com'.split(' ');
  const names = ['-addext', 'subjectAltName=DNS:events.example.com'];
  await run('openssl', [...request, ...names, '-keyout', key, '-out', certificate]);
  await cluster.shell('kubectl -n events create secret tls events-tls --cert=events.crt --key=events.key');
  await addValues(valuesIn('infra/README.md', 'Open it to clients'));
  // This machine finds the host by a forwarded port.
  const port = await closedPort();
  await using _ = startProgram('kubectl', [
    '-n',
    'projectcontour',
    'port-forward',
    'service/envoy',
    `${port}:443`,
  ]);
  const options = [
    `cacert = "${certificate}"`,
    `connect-to = "events.example.com:443:127.0.0.1:${port}"`,
    'retry-all-errors\nretry = 20\nfail\nsilent',
  ];
  await writeFile(path.join(cluster.folder, '.curlrc'), options.join('\n'));
  process.env['CURL_HOME'] = cluster.folder;
  const out = await release.follow('Open it to clients', { writeKey: release.writeKey });
  assert.match(out, /\{"success":true\}$/);
  await eventually(
    () => cluster.kubectl('logs', '-n', 'clients', 'receiver'),
    (log) => log.split('\n').includes('u-1'),
  );
});

/** Asks the API of Prometheus. */
async function ask<T>(query: string): Promise<T> {
  const service = '/api/v1/namespaces/monitoring/services/prometheus-operated:9090/proxy/api/v1';
  const { data } = JSON.parse(await release.cluster.kubectl('get', '--raw', `${service}/${query}`)) as {
    data: T;
  };
  return data;
}

test('the operator finds all pages of all pods, and Prometheus loads the rules', async () => {
  await release.follow('Monitor');
  const group = { enabled: true };
  await addValues({ monitoring: { serviceMonitor: group, prometheusRule: group, dashboards: group } });
  const up = async (): Promise<readonly string[]> => {
    const { activeTargets } = await ask<{
      activeTargets: { labels: Record<string, string>; health: string }[];
    }>('targets?state=active');
    const found = activeTargets.filter(({ health }) => health === 'up');
    return found.map(({ labels }) => `${labels['tailrace_component']} ${labels['metrics_path']}`).sort();
  };
  const pages = ['', '/destinations', '/partitions', '/sources'].map((page) => `/metrics${page}`);
  const replicas = ['control', 'delivery', 'delivery', 'ingest', 'ingest', 'router', 'router'];
  const wanted = replicas.flatMap((service) => pages.map((page) => `${service} ${page}`)).sort();
  assert.deepEqual(await eventually(up, (found) => found.length === wanted.length), wanted);

  interface Rule {
    readonly name: string;
    readonly health: string;
    readonly lastError?: string;
    readonly type: string;
  }
  const rules = await eventually(
    async () => (await ask<{ groups: { rules: Rule[] }[] }>('rules')).groups.flatMap((each) => each.rules),
    (found) => found.length > 0 && found.every(({ health }) => health !== 'unknown'),
  );
  assert.deepEqual(
    rules.filter(({ health }) => health !== 'ok'),
    [],
  );
  assert.ok(rules.some(({ type }) => type === 'alerting'));
});

test('KEDA asks Prometheus, and keeps the replicas while nothing is late', async () => {
  const { cluster } = release;
  await addValues({
    autoscaling: { prometheus: { serverAddress: 'http://prometheus-operated.monitoring:9090' } },
  });
  await release.upgrade('router.autoscaling.enabled=true,router.autoscaling.maxReplicas=6');
  await cluster.kubectl(
    'wait',
    '--for=condition=Ready',
    '-n',
    'events',
    'scaledobject/tailrace-router',
    '--timeout=120s',
  );
  const autoscaler = 'hpa/keda-hpa-tailrace-router';
  for (const state of ['condition=ScalingActive', 'jsonpath={.status.desiredReplicas}=2']) {
    await cluster.kubectl('wait', `--for=${state}`, '-n', 'events', autoscaler, '--timeout=300s');
  }
  await release.upgrade();
});

test('KEDA adds a replica while records wait in Kafka', async () => {
  const { cluster } = release;
  await release.callApi(
    'npx tailrace create destination --id slow --url http://receiver.clients/slow --source app',
  );
  await release.upgrade(
    'autoscaling.trigger=kafka,delivery.autoscaling.enabled=true,delivery.autoscaling.maxReplicas=6,delivery.autoscaling.lagThreshold=5',
  );
  await release.underLoad(() =>
    cluster.kubectl(
      'wait',
      '--for=jsonpath={.status.readyReplicas}=3',
      '-n',
      'events',
      'deployment/tailrace-delivery',
      '--timeout=600s',
    ),
  );
});
