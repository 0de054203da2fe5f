/** Commands that use Kafka directly, on an in-memory cluster. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { problemsOf, tailrace as runTailrace, type Run } from '../support/processes/cli.ts';
import type { Environment } from '../support/processes/process.ts';

const prefix = 'test.';
const env = {
  KAFKA_BROKERS: 'memory:9092',
  TAILRACE_TOPIC_PREFIX: prefix,
  TAILRACE_PARTITIONS: '2',
  TAILRACE_RETRY_SCHEDULE: '10s,1m,1m',
  TAILRACE_SECRET_KEY: '0123456789abcdef'.repeat(4),
};

type Tailrace = (args: readonly string[], env: Environment, input?: string) => Promise<Run>;

function on(cluster: MemoryCluster): Tailrace {
  return (args, env, input) => runTailrace(args, env, input, cluster);
}

const configuration = `
sources:
  - id: web
    writeKeys: [wk_web]
destinations:
  - id: crm
    type: Webhooks
    sources: [web]
    settings:
      sharedSecret: S3CRET
      webhooks:
        - url: https://crm.example.com/hook
`;

test('topics apply adds partitions to topics in use, and equalises unequal ones', async () => {
  const cluster = new MemoryCluster();
  const tailrace = on(cluster);
  await using kafka = cluster.connect();
  const count = async (name: string): Promise<number | undefined> =>
    (await kafka.describeTopics([prefix + name])).get(prefix + name)?.partitions;
  const inEarlierTiers = { ...env, TAILRACE_RETRY_SCHEDULE: '5s,10s' };
  assert.equal((await tailrace(['topics', 'apply'], inEarlierTiers)).exitCode, 0);

  await kafka.addPartitions(`${prefix}deliveries`, 3);
  const later = { ...env, TAILRACE_PARTITIONS: '5' };
  const created = await tailrace(['topics', 'apply'], later);
  assert.equal(
    await count('deliveries.retry.1m'),
    3,
    'a new retry topic has as many partitions as deliveries, also if the settings differ',
  );
  const command = 'npx tailrace topics apply --partitions 3 --only deliveries';
  assert.ok(
    created.stdout.includes(
      `it has 2 partitions and ${prefix}deliveries has 3: make them equal with ${command}`,
    ),
    created.stdout,
  );
  const { stdout } = await tailrace(['doctor', '--output', 'json'], env);
  const { findings } = JSON.parse(stdout) as {
    findings: { level: string; about: string; says: string; hint?: string }[];
  };
  const unequal = findings.find(({ level, about }) => level === 'fail' && about === 'topics');
  assert.match(
    unequal?.says ?? '',
    /equally many partitions.* \(3 partitions\);.* \(2 partitions\)\. Delivery does/,
  );
  assert.ok(unequal?.hint?.includes(command));

  const equal = await tailrace(command.split(' ').slice(2), env);
  assert.deepEqual([equal.exitCode, problemsOf(equal)], [0, '']);
  assert.match(equal.stdout, new RegExp(`^grown    ${prefix}deliveries\\.dead: 2 → 3 partitions$`, 'm'));
  for (const name of ['deliveries.retry.5s', 'deliveries.retry.10s', 'deliveries.dead', 'deliveries.replay'])
    assert.equal(await count(name), 3, name);
  assert.equal(await count('events'), 2);

  await kafka.addPartitions(`${prefix}events`, 3);
  const uneven = await tailrace(['topics', 'apply'], env);
  assert.ok(uneven.stdout.includes('topics apply --partitions 3 --only events'), uneven.stdout);
  const even = await tailrace(['topics', 'apply', '--partitions', '3', '--only', 'events'], env);
  assert.match(even.stdout, new RegExp(`^grown    ${prefix}events\\.waiting: 2 → 3 partitions$`, 'm'));

  const all = await tailrace(['topics', 'apply', '--partitions', '4'], env);
  assert.equal(all.exitCode, 0);
  assert.match(problemsOf(all), /^tailrace: Set TAILRACE_PARTITIONS to 4 for later runs/);
  const grown = [...all.stdout.matchAll(/^grown +(\S+):/gm)].map(([, name]) => name);
  for (const name of [
    'events',
    'events.rejected',
    'events.waiting',
    'deliveries',
    'deliveries.retry.5s',
    'attempts',
    'usage',
  ]) {
    assert.equal(await count(name), 4, name);
    assert.ok(grown.includes(prefix + name), name);
  }
  assert.deepEqual([await count('audiences'), await count('config')], [2, 1]);
  const strict = await tailrace(['topics', 'apply', '--strict'], { ...env, TAILRACE_PARTITIONS: '4' });
  assert.equal(strict.exitCode, 0, strict.stdout);

  const fewer = await tailrace(['topics', 'apply', '--partitions', '3'], env);
  assert.equal(fewer.exitCode, 1);
  assert.match(fewer.stderr, /has 4 partitions, and Kafka cannot remove any\. Give --partitions 4 or more/);
  assert.equal((await tailrace(['topics', 'apply', '--only', 'deliveries'], env)).exitCode, 2);
});

test('apply writes the file, reports the changes, and shows no secrets', async () => {
  const tailrace = on(new MemoryCluster());
  await tailrace(['topics', 'apply'], env);
  const applied = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await tailrace(['apply', '-f', '-', ...args], env, configuration);
    assert.deepEqual([exitCode, stderr], [0, '']);
    assert.ok(!stdout.includes('S3CRET') && !stdout.includes('wk_web'), stdout);
    return stdout;
  };
  assert.equal(
    await applied('--dry-run'),
    'created    source/web\ncreated    destination/crm\nDry run, nothing was written: 2 created.\n',
  );
  assert.equal(await applied(), 'created    source/web\ncreated    destination/crm\n2 created.\n');
  assert.equal(await applied(), 'unchanged  source/web\nunchanged  destination/crm\n2 unchanged.\n');

  const rotated = configuration
    .replace('S3CRET', 'S3CRET2')
    .replace('- id: web', '- id: web\n    name: Website');
  const update = await tailrace(['apply', '-f', '-', '--output', 'json'], env, rotated);
  assert.deepEqual(JSON.parse(update.stdout), {
    dryRun: false,
    changes: [
      { kind: 'source', id: 'web', outcome: 'updated', fields: ['name'] },
      { kind: 'destination', id: 'crm', outcome: 'updated', fields: ['settings.sharedSecret'] },
    ],
  });

  const inPlain = await tailrace(['apply', '-f', '-'], { ...env, TAILRACE_SECRET_KEY: '' }, rotated);
  assert.equal(inPlain.exitCode, 1);
  assert.match(inPlain.stderr, /destination\/crm: settings\.sharedSecret is encrypted with the key/);

  const unconfirmed = await tailrace(['apply', '-f', '-', '--prune', '--all'], env, 'sources: []');
  assert.deepEqual([unconfirmed.exitCode, unconfirmed.stdout], [2, '']);
  assert.match(unconfirmed.stderr, /would delete destination\/crm, source\/web; .*add --yes/);
  const empty = await tailrace(['apply', '-f', '-', '--prune', '--yes'], env, 'sources: []');
  assert.deepEqual([empty.exitCode, empty.stdout], [2, '']);
  assert.match(empty.stderr, /the file has no sources, .*all of them \(1\).*add --all/);
  const emptied = await tailrace(['apply', '-f', '-', '--prune', '--all', '--yes'], env, 'sources: []');
  assert.equal(emptied.stdout, 'deleted    destination/crm\ndeleted    source/web\n2 deleted.\n');
});

test('an invalid configuration is reported with the position of every problem, and changes nothing', async () => {
  const tailrace = on(new MemoryCluster());
  await tailrace(['topics', 'apply'], env);
  const broken = configuration.replace('https:', 'ftp:').replace('writeKeys', 'writekey');
  const { exitCode, stdout, stderr } = await tailrace(['apply', '-f', '-'], env, broken);
  assert.deepEqual([exitCode, stdout], [1, '']);
  assert.match(stderr, /standard input:3:5 sources\[0\]\.writeKeys: is missing/);
  assert.match(stderr, /standard input:4:5 sources\[0\]\.writekey: .*did you mean writeKeys\?/);
  assert.match(
    stderr,
    /standard input:12:16 destinations\[0\]\.settings\.webhooks\[0\]\.url: is neither http/,
  );
  const { stdout: after } = await tailrace(['apply', '-f', '-', '--dry-run'], env, configuration);
  assert.match(after, /2 created\.$/m);
});

test('apply without topics says how to create them', async () => {
  const { exitCode, stderr } = await on(new MemoryCluster())(['apply', '-f', '-'], env, configuration);
  assert.equal(exitCode, 1);
  assert.match(stderr, /^tailrace: The topic .*config does not exist\. .*npx tailrace topics apply/);
});

test('doctor names destinations that need a newer release', async () => {
  const cluster = new MemoryCluster();
  const tailrace = on(cluster);
  await using kafka = cluster.connect();
  assert.equal((await tailrace(['topics', 'apply'], env)).exitCode, 0);
  const settings = { webhooks: [{ url: 'https://crm.example.com/hook' }] };
  const requires = [{ feature: 'signer', level: 99, by: 'delivery' }];
  const value = JSON.stringify({ id: 'crm', type: 'Webhooks', sources: [], settings, requires });
  await kafka.publisher().publish({ topic: `${prefix}config`, key: 'destination/crm', value });
  const { stdout } = await tailrace(['doctor', '--output', 'json'], env);
  const { findings } = JSON.parse(stdout) as { findings: { level: string; about: string; says: string }[] };
  const found = findings.filter(({ about }) => about === 'config');
  assert.deepEqual(
    found.map(({ level }) => level),
    ['fail', 'ok'],
  );
  assert.match(found[0]?.says ?? '', /crm \(signer, level 99\)/);
});

test('commands of another installation change nothing, and doctor names the owner', async () => {
  const cluster = new MemoryCluster();
  const tailrace = on(cluster);
  const own = { ...env, TAILRACE_OWNER: 'one/tailrace' };
  for (const args of [
    ['topics', 'apply'],
    ['apply', '-f', '-'],
    ['topics', 'apply'],
  ]) {
    assert.equal((await tailrace(args, own, configuration)).exitCode, 0);
  }
  const before = cluster.records(`${prefix}config`).length;
  const other = { ...env, TAILRACE_OWNER: 'two/tailrace' };
  for (const args of [
    ['topics', 'apply', '--partitions', '9'],
    ['apply', '-f', '-'],
  ]) {
    const { exitCode, stderr } = await tailrace(args, other, configuration);
    assert.equal(exitCode, 1);
    assert.match(stderr, /belong to the installation "one\/tailrace", and this one is "two\/tailrace"/);
  }
  assert.equal(cluster.records(`${prefix}config`).length, before);
  await using kafka = cluster.connect();
  assert.equal((await kafka.describeTopics([`${prefix}events`])).get(`${prefix}events`)?.partitions, 2);
  assert.match((await tailrace(['doctor'], other)).stdout, /config.*"one\/tailrace"/);
});
