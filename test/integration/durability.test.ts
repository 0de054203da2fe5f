/** `topics apply` and `doctor` manage the number of copies on a cluster of three brokers. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import { tailrace, type Run } from '../support/processes/cli.ts';
import { ownCluster } from '../support/kafka/cluster.ts';
import { eventually } from '@tailrace/testing';
import { openKafka } from '../support/kafka/kafka-client.ts';
import { readAll, uniquePrefix } from '../support/kafka/topics.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const cluster = opened.use(await ownCluster());
const kafka = opened.use(openKafka(cluster.brokers));

type Environment = Readonly<Record<string, string>> & { readonly TAILRACE_TOPIC_PREFIX: string };

function environment(more: Readonly<Record<string, string>> = {}): Environment {
  return {
    KAFKA_BROKERS: cluster.brokers.join(','),
    TAILRACE_TOPIC_PREFIX: uniquePrefix(),
    TAILRACE_PARTITIONS: '2',
    TAILRACE_RETRY_SCHEDULE: '1s',
    TAILRACE_SECRET_KEY: '0123456789abcdef'.repeat(4),
    ...more,
  };
}

async function apply(env: Environment, ...args: string[]): Promise<Run> {
  return tailrace(['topics', 'apply', ...args], env);
}

interface Finding {
  readonly level: string;
  readonly about: string;
  readonly says: string;
  readonly hint?: string;
}

async function durability(env: Environment): Promise<Finding[]> {
  const { stdout } = await tailrace(['doctor', '--output', 'json'], env);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return findings.filter(({ about }) => about === 'durability');
}

test('topics apply creates topics with three copies, two of them in sync, on three brokers', async () => {
  const env = environment();
  const { exitCode, stderr } = await apply(env);
  assert.deepEqual([exitCode, stderr], [0, '']);
  const topics = (await kafka.listTopics()).filter((name) => name.startsWith(env.TAILRACE_TOPIC_PREFIX));
  assert.equal(topics.length, 21);
  for (const [name, copies] of await kafka.inspectDurability(topics)) {
    assert.deepEqual(copies, { replicationFactor: 3, minInSync: 2 }, name);
  }
  assert.equal((await apply(env, '--strict')).exitCode, 0);
  // Reading creates Kafka's topic of offsets, for which the default of the brokers is 1.
  await readAll(kafka, `${env.TAILRACE_TOPIC_PREFIX}config`);
  const findings = await durability(env);
  assert.deepEqual(
    findings.map(({ level, says }) => `${level} ${says.slice(0, 22)}`),
    ['warn min.insync.replicas of'],
  );
});

function unavailable(error: unknown): undefined {
  if (!isTailraceError(error, 'kafka-unavailable')) throw error;
}

test('a retry topic created while a broker is down has as many copies as the other topics', async () => {
  const env = environment();
  await apply(env);
  await cluster.node(3).kill();
  // Until the cluster has noticed, a request may be sent to the broker that is down.
  await eventually(
    () => kafka.inspectCluster().then(({ brokers }) => brokers.length, unavailable),
    (brokers) => brokers === 2,
  );
  const { exitCode, stdout } = await apply({ ...env, TAILRACE_RETRY_SCHEDULE: '1s,2s' });
  assert.equal(exitCode, 0, stdout);
  const tier = `${env.TAILRACE_TOPIC_PREFIX}deliveries.retry.2s`;
  assert.deepEqual((await kafka.inspectDurability([tier])).get(tier), { replicationFactor: 3, minInSync: 2 });
  await cluster.node(3).restart();
});

test('topics apply does not change existing topics and shows the commands, and doctor reports a failure', async () => {
  const env = environment({ TAILRACE_REPLICATION: '1' });
  assert.equal((await apply(env)).exitCode, 0);
  const [single] = await durability({ ...env, TAILRACE_REPLICATION: '3' });
  assert.equal(single?.level, 'fail');
  assert.match(single.says, /only one copy, on the disk of one broker.*\.events, /);
  assert.match(single.hint ?? '', /Use 3 copies of each.*kafka-reassign-partitions\.sh/);

  const { stdout } = await apply({ ...env, TAILRACE_REPLICATION: '3' });
  const events = `${env.TAILRACE_TOPIC_PREFIX}events`;
  assert.match(
    stdout,
    new RegExp(`differs  ${events}\n +it has 1 replica and should have 3: add them with kafka-reassign`),
  );
  assert.ok(stdout.includes(`--entity-name ${events} --add-config min.insync.replicas=2`), stdout);
  assert.deepEqual((await kafka.inspectDurability([events])).get(events), {
    replicationFactor: 1,
    minInSync: 1,
  });
});

test('doctor fails if one broker may have the only copy of acknowledged records, and warns if all brokers must be up', async () => {
  const env = environment();
  const topic = { partitions: 2, replicationFactor: 3 };
  const name = (rest: string): string => `${env.TAILRACE_TOPIC_PREFIX}${rest}`;
  await kafka.ensureTopics([
    { ...topic, name: name('events'), config: { 'min.insync.replicas': '1' } },
    { ...topic, name: name('usage'), config: { 'min.insync.replicas': '3' } },
  ]);
  await apply(env);
  const findings = await durability(env);
  const [fail] = findings.filter(({ level }) => level === 'fail');
  assert.ok(fail);
  assert.ok(fail.says.endsWith(`may have only one copy, on one disk: ${name('events')}.`), fail.says);
  assert.match(fail.hint ?? '', /--add-config min\.insync\.replicas=2/);
  assert.ok(
    findings.some(
      ({ level, says }) =>
        level === 'warn' && says.endsWith(`writes fail if one broker is down: ${name('usage')}.`),
    ),
  );
});

test('topics apply refuses more copies than brokers with one error', async () => {
  const { exitCode, stderr } = await apply(environment({ TAILRACE_REPLICATION: '5' }));
  assert.equal(exitCode, 1);
  assert.match(stderr, /would have 5 replicas, but there are fewer brokers\..*TAILRACE_REPLICATION/);
});
