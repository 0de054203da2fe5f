/** Settings in the chart are those of the code: each can be set, reaches the pods that read it, and no other can be set. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatValue, variablesOf } from '@tailrace/service';
import { settingsByProcess } from '../../../docs/generate/chart/settings.ts';
import { podOf, refusal, render, variablesOfPod, workloads } from '../../support/kubernetes/chart.ts';

const processes = Object.entries(settingsByProcess).map(([name, settings]) => ({
  /** The name in the values. */
  name: name === 'cli' ? 'jobs' : name,
  /** The workload in which all its settings are. */
  component: name === 'cli' ? 'doctor' : name,
  variables: variablesOf(settings),
}));
type Variable = (typeof processes)[number]['variables'][number];

/** Must be equal in all processes, or are needed by the chart itself. */
const onlyForAll = [
  'TAILRACE_TOPIC_PREFIX',
  'TAILRACE_OWNER',
  'TAILRACE_PARTITIONS',
  'TAILRACE_REPLICATION',
  'TAILRACE_RETRY_SCHEDULE',
];
/** Valid values of settings whose form does not suggest one. */
const examples: Readonly<Record<string, string>> = {
  KAFKA_BROKERS: 'a.example.com:9092',
  TAILRACE_ALLOW_PRIVATE_NETWORKS: '10.1.0.0/16',
  TAILRACE_DATA_DIR: '/data',
  TAILRACE_DOCTOR_TARGETS: 'router=a:1',
  OTEL_TRACES_SAMPLER_ARG: '0.5',
};

/** A valid value that is not the default. */
function exampleOf(variable: Variable): string {
  const { env, type, unit, minimum = 0, default: usual } = variable;
  const example = examples[env];
  if (example !== undefined) return example;
  if (variable.enum) return variable.enum.find((value) => value !== usual) ?? assert.fail(env);
  if (type === 'boolean') return String(usual !== true);
  if (type === 'integer' && unit === undefined) return String(Math.max(minimum, 1) + 1);
  if (type === 'integer') return formatValue(variable, Math.max(minimum, 1) * 7_000);
  if (variable.items?.unit === 'ms') return '10s,1m';
  return variable.form?.includes('URL') ? 'https://a.example.com' : 'a-text';
}

const sourceOf = ({ env }: Variable) => ({ secretKeyRef: { name: 'existing', key: env } });

describe('every setting of the code reaches the process that reads it', () => {
  test('where it is set for all', async () => {
    const all = new Map(
      processes.flatMap(({ variables }) => variables.map((variable) => [variable.env, variable])),
    );
    const plain = [...all.values()].filter(({ writeOnly }) => writeOnly !== true);
    const secrets = [...all.values()].filter(({ writeOnly }) => writeOnly === true);
    // Ports would be equal in all processes, and values.yaml sets the others for single services, which wins.
    const ofSingle = ['TAILRACE_DATA_DIR', 'TAILRACE_SHUTDOWN_DELAY'];
    const notForAll = plain.filter(({ env }) => env.endsWith('_PORT') || ofSingle.includes(env));
    const objects = await render({
      values: {
        settings: Object.fromEntries(
          plain
            .filter((variable) => !notForAll.includes(variable))
            .map((variable) => [variable.env, exampleOf(variable)]),
        ),
        settingsFrom: Object.fromEntries(secrets.map((variable) => [variable.env, sourceOf(variable)])),
        secretsAs: 'env',
      },
    });
    for (const { component, variables } of processes) {
      const found = variablesOfPod(podOf(objects, component));
      for (const variable of variables.filter(({ env }) => !notForAll.some((other) => other.env === env))) {
        const expected =
          variable.writeOnly === true
            ? { name: variable.env, valueFrom: sourceOf(variable) }
            : { name: variable.env, value: exampleOf(variable) };
        assert.deepEqual(found.get(variable.env), expected, `${component}: ${variable.env}`);
      }
    }
  });

  for (const { name, component, variables } of processes) {
    test(`where it is set for ${name}`, async () => {
      const own = variables.filter(({ env }) => !onlyForAll.includes(env) && env !== 'KAFKA_BROKERS');
      const plain = own.filter(({ writeOnly }) => writeOnly !== true);
      const secrets = own.filter(({ writeOnly }) => writeOnly === true);
      const port = (index: number): number => 7_000 + index;
      const valueOf = (variable: Variable): string =>
        variable.env.endsWith('_PORT') ? String(port(plain.indexOf(variable))) : exampleOf(variable);
      const objects = await render({
        values: {
          [name]: {
            settings: Object.fromEntries(plain.map((variable) => [variable.env, valueOf(variable)])),
            settingsFrom: Object.fromEntries(secrets.map((variable) => [variable.env, sourceOf(variable)])),
          },
        },
      });
      const found = variablesOfPod(podOf(objects, component));
      for (const variable of plain) {
        assert.equal(found.get(variable.env)?.value, valueOf(variable), variable.env);
      }
      for (const { env } of secrets) {
        assert.equal(found.get(`${env}_FILE`)?.value, `/etc/tailrace/secrets/${env}`);
        assert.equal(found.get(env), undefined);
      }
    });
  }
});

test('the topics belong to the release in its namespace', async () => {
  for (const [release, into] of [
    ['tailrace', 'events'],
    ['tailrace', 'staging'],
    ['second', 'events'],
  ] as const) {
    const objects = await render({ release, into, values: { fullnameOverride: 'tailrace' } });
    for (const { pod } of workloads(objects)) {
      assert.equal(variablesOfPod(pod).get('TAILRACE_OWNER')?.value, `${into}/${release}`);
    }
  }
});

test('pods have no other variables', async () => {
  const objects = await render({ valueSets: ['client-certificates-oauth'] });
  for (const { name, component, variables } of processes) {
    const known = new Set(variables.flatMap(({ env }) => [env, `${env}_FILE`]));
    const unknown = [...variablesOfPod(podOf(objects, component)).keys()].filter(
      (variable) => !known.has(variable),
    );
    assert.deepEqual(unknown, [], name);
  }
});

test('an unknown setting is refused by the schema, and without the schema by a sentence', async () => {
  assert.match(await refusal({ settings: { KAFKA_BROKER: 'a:1' } }), /additional properties 'KAFKA_BROKER'/);
  assert.match(await refusal({ ingest: { settings: { TAILRACE_DEDUPE_IDS: 1 } } }), /TAILRACE_DEDUPE_IDS/);
  const sentence = await refusal(
    { settings: { KAFKA_BROKER: 'a:1' }, ingest: { settings: { TAILRACE_DEDUPE_IDS: 1 } } },
    ['default'],
    ['--skip-schema-validation'],
  );
  assert.match(sentence, /settings\.KAFKA_BROKER: Tailrace has no such setting\./);
  assert.match(sentence, /ingest\.settings\.TAILRACE_DEDUPE_IDS: ingest has no such setting\./);
});

test('a value without the form of its setting is refused', async () => {
  for (const settings of [
    { TAILRACE_SHUTDOWN_GRACE: 10 },
    { TAILRACE_SHUTDOWN_GRACE: '10 seconds' },
    { TAILRACE_INGEST_BUFFER: '1TB' },
    { TAILRACE_PARTITIONS: 0 },
    { TAILRACE_PARTITIONS: 'many' },
    { LOG_LEVEL: 'loud' },
    { KAFKA_SSL: 'yes' },
    { TAILRACE_TOPIC_PREFIX: 'a/b' },
  ]) {
    const [name = ''] = Object.keys(settings);
    assert.match(await refusal({ settings }), new RegExp(`/settings/${name}`), JSON.stringify(settings));
  }
});

test('numbers and lists of YAML become the text that the code reads', async () => {
  const objects = await render({
    values: {
      settings: {
        KAFKA_BROKERS: ['a:9092', 'b:9092'],
        TAILRACE_INGEST_MAX_CONNECTIONS: 1_000_000,
        TAILRACE_INGEST_BUFFER: 134_217_728,
        KAFKA_SSL: true,
      },
    },
  });
  const found = variablesOfPod(podOf(objects, 'ingest'));
  assert.equal(found.get('KAFKA_BROKERS')?.value, 'a:9092,b:9092');
  assert.equal(found.get('TAILRACE_INGEST_MAX_CONNECTIONS')?.value, '1000000');
  assert.equal(found.get('TAILRACE_INGEST_BUFFER')?.value, '134217728');
  assert.equal(found.get('KAFKA_SSL')?.value, 'true');
});

test('Jobs get only the secrets that they need', async () => {
  const objects = await render({ valueSets: ['existing-secrets'] });
  const secretsOf = (component: string): string[] =>
    [...variablesOfPod(podOf(objects, component)).keys()].filter((name) => name.endsWith('_FILE')).sort();
  const keys = ['TAILRACE_SECRET_KEY_FILE', 'TAILRACE_SECRET_KEY_PREVIOUS_FILE'];
  assert.deepEqual(secretsOf('topics'), []);
  assert.deepEqual(secretsOf('configuration'), keys);
  assert.deepEqual(secretsOf('doctor'), ['TAILRACE_API_TOKEN_FILE', ...keys]);
  assert.deepEqual(secretsOf('ingest'), []);
});

test('a changed setting changes only the pods that read it', async () => {
  const podsOf = async (values: object): Promise<Map<string, string>> =>
    new Map(
      workloads(await render({ values })).map(({ object, pod }) => [
        object.metadata.name,
        JSON.stringify(pod),
      ]),
    );
  const before = await podsOf({});
  const after = await podsOf({ settings: { TAILRACE_DEDUPE_WINDOW: '5m' } });
  const changed = [...after.keys()].filter((name) => after.get(name) !== before.get(name));
  assert.deepEqual(changed, ['tailrace-router']);
});
