/** The network policies of the chart allow what the services need, and refuse the networks that the code refuses. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BlockList, isIPv4 } from 'node:net';
import { describe, test } from 'node:test';
import { createAddressPolicy } from '@tailrace/webhook';
import {
  chartFolder,
  matches,
  named,
  ofKind,
  podOf,
  render,
  variablesOfPod,
  workloads,
  type Manifest,
  type NetworkRule,
  type PodTemplate,
} from '../../support/kubernetes/chart.ts';

const services = ['ingest', 'router', 'delivery', 'control'] as const;

/** Whether a rule lets an address outside of the cluster pass, on this port. */
function allows({ to = [], ports }: NetworkRule, address: string, port: number): boolean {
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const contains = (cidr: string): boolean => {
    const [network = '', prefix] = cidr.split('/');
    if (isIPv4(network) !== isIPv4(address)) return false;
    const list = new BlockList();
    list.addSubnet(network, Number(prefix), family);
    return list.check(address, family);
  };
  const isTo = to.some(
    ({ ipBlock }) =>
      ipBlock && contains(ipBlock.cidr) && !(ipBlock.except ?? []).some((cidr) => contains(cidr)),
  );
  return isTo && ports.some((found) => found.protocol === 'TCP' && (found.port ?? port) === port);
}

const egressOf = (objects: readonly Manifest[], component: string): readonly NetworkRule[] =>
  named(objects, 'NetworkPolicy', `tailrace-${component}`).spec.egress;
const reaches = (objects: readonly Manifest[], component: string, address: string, port = 443): boolean =>
  egressOf(objects, component).some((rule) => allows(rule, address, port));

const podOfTest = (objects: readonly Manifest[]): PodTemplate =>
  workloads(objects).find(({ object }) => object.kind === 'Pod')?.pod ?? assert.fail();

/** Addresses of every kind: public, private, link-local, and of metadata services. */
const addresses = [
  '8.8.8.8',
  '1.1.1.1',
  '100.63.255.255',
  '172.32.0.1',
  '193.0.0.1',
  '2606:4700:4700::1111',
  '2a00:1450::1',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '127.0.0.1',
  '0.0.0.0',
  '169.254.169.254',
  '169.254.170.2',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  'fe80::1',
  'fd00:ec2::254',
  'fc00::1',
  '::1',
  'ff02::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '64:ff9b::a00:1',
];

describe('network policies', () => {
  test('one denies everything for all pods of the release, and each pod has one that allows something', async () => {
    for (const valueSet of ['default', 'everything']) {
      const objects = await render({ valueSets: [valueSet] });
      const policies = ofKind(objects, 'NetworkPolicy');
      const [deny, ...others] = policies;
      assert.deepEqual(Object.keys(deny?.spec ?? {}).sort(), ['podSelector', 'policyTypes']);
      for (const { object, pod } of workloads(objects)) {
        assert.ok(matches(deny?.spec.podSelector.matchLabels ?? { no: 'label' }, pod.metadata.labels));
        const own = others.filter(({ spec }) => matches(spec.podSelector.matchLabels, pod.metadata.labels));
        assert.ok(own.length >= 1, object.metadata.name);
      }
    }
  });

  for (const allowed of [[], ['10.1.0.0/16', 'fd00:ec2::/32', '127.0.0.0/8']]) {
    test(`delivery and control reach the addresses that the code allows, with ${allowed.join(' and ') || 'no network'} allowed`, async () => {
      const values = { settings: { TAILRACE_ALLOW_PRIVATE_NETWORKS: allowed } };
      const objects = await render({ values });
      const code = createAddressPolicy(
        allowed.map((cidr) => {
          const [address = '', prefix] = cidr.split('/');
          return { address, prefix: Number(prefix), family: isIPv4(address) ? 'ipv4' : 'ipv6' };
        }),
      );
      for (const address of addresses) {
        for (const component of ['delivery', 'control']) {
          assert.equal(
            reaches(objects, component, address),
            code.allows(address),
            `${component} → ${address}`,
          );
        }
      }
    });
  }

  test('a server whose URL is in a Secret is reached on any port of its peers, and an egress proxy is the only way out', async () => {
    const peers = [{ ipBlock: { cidr: '10.9.0.0/16' } }];
    const objects = await render({
      values: {
        settingsFrom: {
          TAILRACE_EGRESS_PROXY: { secretKeyRef: { name: 'proxy', key: 'url' } },
          SCHEMA_REGISTRY_URL: { secretKeyRef: { name: 'registry', key: 'url' } },
        },
        networkPolicy: { egressProxy: peers, schemaRegistry: peers },
      },
    });
    for (const component of ['router', 'delivery']) {
      assert.ok(reaches(objects, component, '10.9.1.1', 3128), component);
      assert.ok(!reaches(objects, component, '8.8.8.8'), component);
    }
  });

  for (const none of [{ dns: [] }, { dnsPorts: [] }]) {
    test(`without ${Object.keys(none).join()} there is no rule for name servers, which would allow everything`, async () => {
      const rules = egressOf(await render({ values: { networkPolicy: none } }), 'ingest');
      assert.ok(rules.length > 0);
      for (const { to = [], ports } of rules) assert.ok(to.length > 0 && ports.length > 0);
      assert.ok(!rules.some(({ ports }) => ports.some(({ protocol }) => protocol === 'UDP')));
    });
  }

  test('with an egress proxy, delivery and control reach it, and only named receivers', async () => {
    const named = [{ ipBlock: { cidr: '203.0.113.9/32' } }];
    const objects = await render({
      values: {
        settings: { TAILRACE_EGRESS_PROXY: 'http://proxy.internal:3128' },
        networkPolicy: { egressProxy: [{ ipBlock: { cidr: '10.9.0.0/16' } }], receivers: named },
      },
    });
    for (const component of ['delivery', 'control']) {
      const reached = ([address, port]: readonly [string, number]) =>
        reaches(objects, component, address, port);
      assert.ok(
        (
          [
            ['10.9.1.1', 3128],
            ['203.0.113.9', 443],
          ] as const
        ).every(reached),
        component,
      );
      assert.ok(
        !(
          [
            ['8.8.8.8', 443],
            ['8.8.8.8', 3128],
            ['10.9.1.1', 443],
          ] as const
        ).some(reached),
        component,
      );
    }
    assert.ok(!reaches(objects, 'router', '10.9.1.1', 3128));
  });

  test('ingest and router reach no receiver', async () => {
    const objects = await render();
    for (const address of addresses) {
      for (const component of ['ingest', 'router'])
        assert.equal(reaches(objects, component, address), false, address);
    }
  });

  test('brokers are reached on their ports, metadata services on none', async () => {
    const objects = await render({ values: { settings: { KAFKA_BROKERS: 'a:443,b:9094' } } });
    for (const component of [...services, 'jobs']) {
      for (const port of [443, 9094]) {
        assert.ok(reaches(objects, component, '10.1.2.3', port));
        for (const address of [
          '169.254.169.254',
          '168.63.129.16',
          '100.100.100.200',
          'fd00:ec2::254',
          'fe80::1',
        ]) {
          assert.ok(!reaches(objects, component, address, port), `${component} → ${address}:${port}`);
        }
      }
      if (component !== 'delivery' && component !== 'control')
        assert.ok(!reaches(objects, component, '8.8.8.8', 80));
    }
  });

  test('named peers replace the open default', async () => {
    const objects = await render({ valueSets: ['authenticated'] });
    for (const component of ['ingest', 'jobs']) {
      assert.ok(reaches(objects, component, '10.1.2.9', 9094));
      assert.ok(reaches(objects, component, '10.1.2.9', 9096));
      assert.ok(!reaches(objects, component, '10.9.9.9', 9094));
    }
    assert.ok(reaches(objects, 'router', '10.1.3.1', 443), 'the schema registry');
    assert.ok(!reaches(objects, 'ingest', '10.1.3.1', 443), 'ingest has no schema registry');
  });

  test('token server and collector are reached on the ports of their URLs', async () => {
    const values = { settings: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.monitoring:4318' } };
    const objects = await render({ valueSets: ['client-certificates-oauth'], values });
    for (const component of services) {
      assert.ok(reaches(objects, component, '10.1.2.3', 8443));
      assert.ok(reaches(objects, component, '10.1.2.3', 4318));
    }
  });

  test('receivers in the cluster are reached by selectors, from delivery and control', async () => {
    const receivers = [{ podSelector: { matchLabels: { app: 'crm' } } }];
    const objects = await render({ values: { networkPolicy: { receivers } } });
    const reaching = services.filter((component) =>
      egressOf(objects, component).some(({ to = [] }) =>
        to.some(({ podSelector }) => podSelector?.matchLabels?.['app'] === 'crm'),
      ),
    );
    assert.deepEqual(reaching, ['delivery', 'control']);
  });

  test('the pod of helm test is reached by delivery and control, where it receives its own event', async () => {
    const objects = await render();
    const pod = podOfTest(objects);
    const places = ['--event', '$(POD_IP)', '--ingest', 'http://tailrace-ingest:80'];
    assert.deepEqual(pod.spec.containers[0].args, ['doctor', ...places]);
    const { valueFrom } = variablesOfPod(pod).get('POD_IP') ?? assert.fail();
    assert.deepEqual(valueFrom, { fieldRef: { fieldPath: 'status.podIP' } });
    const reaching = services.filter((component) =>
      egressOf(objects, component).some(
        ({ to = [], ports }) =>
          ports.some(({ port }) => port === undefined) &&
          to.some(
            ({ podSelector }) =>
              podSelector?.matchLabels && matches(podSelector.matchLabels, pod.metadata.labels),
          ),
      ),
    );
    assert.deepEqual(reaching, ['delivery', 'control']);
    const [rule, ...others] = named(objects, 'NetworkPolicy', 'tailrace-jobs').spec.ingress;
    const callers = rule?.from?.flatMap(({ podSelector }) => podSelector?.matchExpressions ?? []);
    assert.deepEqual(
      callers?.map(({ values }) => values),
      [['delivery', 'control']],
    );
    assert.deepEqual([rule?.ports, others], [[{ protocol: 'TCP' }], []]);
  });

  test('helm test sends no event where it has no token that may create a source', async () => {
    const TAILRACE_API_TOKEN = { secretKeyRef: { name: 'tailrace', key: 'api-token' } };
    const control = { settingsFrom: { TAILRACE_API_TOKEN } };
    const values = { settings: { KAFKA_BROKERS: 'kafka:9092' }, control };
    const pod = podOfTest(await render({ valueSets: [], values }));
    assert.ok(!pod.spec.containers[0].args?.includes('--event'));
  });

  test('the name server on the node is reached on its port only', async () => {
    const objects = await render();
    for (const component of [...services, 'jobs']) {
      assert.ok(reaches(objects, component, '169.254.20.10', 53), component);
      assert.ok(!reaches(objects, component, '169.254.20.10', 443), component);
      assert.ok(!reaches(objects, component, '169.254.20.11', 53), component);
    }
  });

  test('the notes send an event in a way that the policies allow', () => {
    const notes = readFileSync(path.join(chartFolder, 'templates/NOTES.txt'), 'utf8');
    const addresses = notes.match(/curl \S+/g);
    assert.deepEqual(addresses, ['curl http://127.0.0.1:8080/v1/track']);
  });

  test('metrics are for the monitoring namespace and doctor, ingest for ingress controllers', async () => {
    const objects = await render();
    const callers = (component: string, port: string) =>
      named(objects, 'NetworkPolicy', `tailrace-${component}`)
        .spec.ingress.filter(({ ports }) => ports.some((found) => found.port === port))
        .flatMap(({ from = [] }) => from)
        .map(({ namespaceSelector, podSelector }) =>
          namespaceSelector
            ? namespaceSelector.matchLabels?.['kubernetes.io/metadata.name']
            : podSelector?.matchLabels?.['app.kubernetes.io/component'],
        );
    for (const component of services.slice(1))
      assert.deepEqual(callers(component, 'metrics'), ['monitoring', 'doctor']);
    assert.deepEqual(callers('ingest', 'metrics'), ['monitoring', 'doctor', 'ingest']);
    assert.deepEqual(callers('ingest', 'http'), ['ingress-nginx', 'doctor']);
    assert.deepEqual(callers('control', 'http'), ['doctor']);
    assert.deepEqual(callers('router', 'http'), []);
    const doctor = podOf(objects, 'doctor').metadata.labels;
    assert.equal(doctor['app.kubernetes.io/component'], 'doctor');
  });
});
