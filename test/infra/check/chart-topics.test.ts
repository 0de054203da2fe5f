/** Topics and Jobs of the chart are those of the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { parseDuration } from '@tailrace/events';
import { replicationFor, topicNames, topicSpecs } from '@tailrace/topology';
import { parseAllDocuments } from 'yaml';
import { ofKind, podOf, render, type Manifest } from '../../support/kubernetes/chart.ts';
import { schemaProblems } from '../../support/kubernetes/kubeconform.ts';

const examples = path.join(import.meta.dirname, '../../../examples/gitops');

/** An object of one of the examples, with the fields that tests read. */
interface Example {
  readonly spec: {
    readonly source?: { readonly helm: { readonly valuesObject: object } };
    readonly values?: object;
    readonly target?: { readonly name: string };
    readonly data?: readonly { readonly secretKey: string }[];
  };
}

const schedules = ['10s,1m,5m,20m,1h,1h,1h,20m', '90s,60s,3600s,250ms', '4h'];

describe('topics of Strimzi', () => {
  for (const [index, schedule] of schedules.entries()) {
    test(`are those that the code would create, with the schedule ${schedule}`, async () => {
      const [prefix, partitions, copies] =
        (
          [
            ['a.b_C-', 7, 1],
            ['tailrace.', 24, 2],
            ['x', 1, 5],
          ] as const
        )[index] ?? assert.fail();
      const objects = await render({
        valueSets: ['strimzi'],
        values: {
          settings: {
            TAILRACE_TOPIC_PREFIX: prefix,
            TAILRACE_PARTITIONS: partitions,
            TAILRACE_REPLICATION: copies,
            TAILRACE_RETRY_SCHEDULE: schedule,
          },
          router: { replicas: 1 },
          delivery: { replicas: 1 },
        },
      });
      const topics = ofKind(objects, 'KafkaTopic');
      const retryScheduleMs = schedule.split(',').map((delay) => parseDuration(delay) ?? assert.fail(delay));
      const replication = replicationFor(copies, copies);
      const expected = topicSpecs(topicNames(prefix), { partitions, retryScheduleMs, replication });
      const byName = (one: { name: string }, other: { name: string }): number =>
        one.name.localeCompare(other.name);
      assert.deepEqual(
        topics
          .map(({ spec }) => ({
            name: spec.topicName,
            partitions: spec.partitions,
            replicas: spec.replicas,
            config: spec.config,
          }))
          .sort(byName),
        expected
          .map(({ name, partitions: count, config }) => ({
            name,
            partitions: count,
            replicas: copies,
            config,
          }))
          .sort(byName),
      );
      for (const { metadata } of topics) {
        assert.equal(metadata.annotations?.['helm.sh/resource-policy'], 'keep');
        assert.match(metadata.name, /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
      }
      assert.equal(new Set(topics.map(({ metadata }) => metadata.name)).size, topics.length);
    });
  }
});

test('objects of Strimzi have v1, and v1beta2 only where the cluster knows nothing newer', async () => {
  const kinds = ['KafkaTopic', 'KafkaUser'];
  for (const [known, expected] of [
    [[], 'v1'],
    [['v1beta2'], 'v1beta2'],
    [['v1beta2', 'v1'], 'v1'],
  ] as const) {
    const apiVersions = known.map((version) => `kafka.strimzi.io/${version}`);
    const objects = ofKind(await render({ valueSets: ['strimzi'], apiVersions }), ...kinds);
    assert.deepEqual([...new Set(objects.map(({ kind }) => kind))].sort(), kinds);
    assert.deepEqual(
      [...new Set(objects.map(({ apiVersion }) => apiVersion))],
      [`kafka.strimzi.io/${expected}`],
    );
    assert.equal(schemaProblems(objects), '');
  }
});

describe('Jobs', () => {
  const nameOf = async (values: object, valueSet = 'default', component = 'topics'): Promise<string> =>
    jobOf(await render({ valueSets: [valueSet], values }), component).metadata.name;
  const jobOf = (objects: readonly Manifest[], component: string): Manifest =>
    ofKind(objects, 'Job').find(
      ({ metadata }) => metadata.labels['app.kubernetes.io/component'] === component,
    ) ?? assert.fail();

  test('have another name where their spec is another, because a Job cannot be changed', async () => {
    const names = await Promise.all(
      [
        {},
        {},
        { settings: { TAILRACE_RETRY_SCHEDULE: '10s,2m' } },
        { image: { tag: '9' } },
        { settings: { TAILRACE_PARTITIONS: 48 } },
        { topics: { addPartitions: true } },
        { pods: { labels: { a: 'b' } } },
        { jobs: { backoffLimit: 1 } },
      ].map((values) => nameOf(values)),
    );
    assert.equal(names[0], names[1]);
    assert.equal(new Set(names).size, names.length - 1);
  });

  test('keep their name where only other workloads change', async () => {
    assert.equal(
      await nameOf({}),
      await nameOf({ ingest: { replicas: 9 }, settings: { TAILRACE_DEDUPE_IDS: 5 } }),
    );
  });

  test('apply the configuration again where it or its revision has changed', async () => {
    const of = (configuration: object, valueSet: string): Promise<string> =>
      nameOf({ configuration }, valueSet, 'configuration');
    const inline = { sources: [{ id: 'other', writeKeys: ['wk_other'] }] };
    assert.notEqual(await of({}, 'everything'), await of({ inline }, 'everything'));
    assert.notEqual(await of({}, 'existing-secrets'), await of({ revision: '8' }, 'existing-secrets'));
  });

  test('take an inline configuration whose secrets are references', async () => {
    const settings = {
      sharedSecret: 'env:CRM_SECRET',
      tls: { clientKey: 'file:/keys/crm.pem' },
      webhooks: [
        { url: 'https://crm.example.com/', headers: { Authorization: 'env:CRM_TOKEN', 'X-Team': 'crm' } },
      ],
    };
    const inline = { destinations: [{ id: 'crm', type: 'Webhooks', settings }] };
    const extraEnv = ['CRM_SECRET', 'CRM_TOKEN'].map((name) => ({
      name,
      valueFrom: { secretKeyRef: { name: 'crm', key: name } },
    }));
    const objects = await render({ values: { configuration: { inline }, jobs: { pods: { extraEnv } } } });
    const { env } = podOf(objects, 'configuration').spec.containers[0];
    assert.deepEqual(
      env.filter(({ name }) => name.startsWith('CRM_')),
      extraEnv,
    );
  });

  test('stay for GitOps controllers, as in the examples, whose Secret has all keys', async () => {
    const read = (file: string): readonly Example[] =>
      parseAllDocuments(readFileSync(path.join(examples, file), 'utf8')).map(
        (document) => document.toJS() as Example,
      );
    const [application] = read('argo-cd.yaml');
    const [, release] = read('flux.yaml');
    const [secret] = read('external-secrets.yaml');
    const keys = secret?.spec.data?.map(({ secretKey: key }) => ({ name: secret.spec.target?.name, key }));
    for (const values of [application?.spec.source?.helm.valuesObject, release?.spec.values]) {
      assert.ok(values);
      const objects = await render({ valueSets: [], values });
      const jobs = ofKind(objects, 'Job');
      assert.equal(jobs.length, 1);
      for (const { spec } of jobs) assert.ok(!('ttlSecondsAfterFinished' in spec));
      const variables = podOf(
        await render({ valueSets: [], values: { ...values, secretsAs: 'env' } }),
        'control',
      ).spec.containers[0].env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []);
      assert.deepEqual(variables, keys);
    }
    const topics = jobOf(await render({ values: { jobs: { ttlSecondsAfterFinished: 0 } } }), 'topics');
    assert.ok('ttlSecondsAfterFinished' in topics.spec);
  });

  test('are no hooks, which would run before the objects that they need', async () => {
    for (const object of await render({ valueSets: ['everything'] })) {
      const isTest = object.metadata.name.endsWith('-test');
      assert.equal(object.metadata.annotations?.['helm.sh/hook'], isTest ? 'test' : undefined);
    }
  });

  test('run the commands of the command line', async () => {
    const objects = await render({ valueSets: ['everything'], values: { topics: { addPartitions: true } } });
    const args = (component: string) => podOf(objects, component).spec.containers[0].args;
    assert.deepEqual(args('topics'), ['topics', 'apply', '--partitions', '24']);
    assert.deepEqual(args('configuration'), ['apply', '-f', '/etc/tailrace/configuration/tailrace.yaml']);
    assert.deepEqual(args('doctor')?.slice(0, 3), ['doctor', '--output', 'json']);
  });
});

test('the users of Strimzi are those that the pods log in with', async () => {
  const objects = await render({ valueSets: ['strimzi'], values: { secretsAs: 'env' } });
  const users = ofKind(objects, 'KafkaUser').map(({ metadata }) => metadata.name);
  for (const component of ['ingest', 'router', 'delivery', 'control', 'doctor']) {
    const key = podOf(objects, component).spec.containers[0].env.find(({ name }) => name === 'KAFKA_SSL_KEY');
    assert.equal(key?.valueFrom?.secretKeyRef?.name, `tailrace-${component}`);
    assert.ok(users.includes(`tailrace-${component}`));
  }
});
