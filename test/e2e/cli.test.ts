import assert from 'node:assert/strict';
import test from 'node:test';
import { freePort } from '@tailrace/local';
import { sharedBroker } from '../support/broker.ts';
import { tailrace } from '../support/cli.ts';
import { uniquePrefix } from '../support/topics.ts';

async function environment(): Promise<Record<string, string>> {
  const { brokers } = await sharedBroker();
  return {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: uniquePrefix(),
    TAILRACE_PARTITIONS: '2',
    TAILRACE_RETRY_SCHEDULE: '10s,1m,1m',
    TAILRACE_SECRET_KEY: '0123456789abcdef'.repeat(4),
  };
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

test('topics apply creates every topic, changes nothing the second time, and says what differs', async () => {
  const env = await environment();
  const prefix = env['TAILRACE_TOPIC_PREFIX'] ?? '';
  const names = [
    ...['events', 'events.rejected', 'deliveries', 'deliveries.retry.10s', 'deliveries.retry.1m'],
    ...['deliveries.dead', 'deliveries.replay', 'attempts', 'usage', 'config'],
    ...['audiences', 'audiences.syncs', 'deletions'],
  ].map((name) => `${prefix}${name}`);
  const lines = (outcome: string): string => names.map((name) => `${outcome}  ${name}\n`).join('');

  const missing = await tailrace(['topics', 'list'], env);
  assert.equal(missing.stdout, lines('missing   '));

  const first = await tailrace(['topics', 'apply'], env);
  assert.deepEqual(first, { exitCode: 0, stdout: lines('created'), stderr: '' });
  const second = await tailrace(['topics', 'apply', '--strict'], env);
  assert.deepEqual(second, { exitCode: 0, stdout: lines('exists '), stderr: '' });

  const more = { ...env, TAILRACE_PARTITIONS: '3' };
  const third = await tailrace(['topics', 'apply'], more);
  assert.equal(third.exitCode, 0);
  assert.match(
    third.stdout,
    new RegExp(`differs  ${prefix}events\n +it has 2 partitions and should have 3: `),
  );
  assert.match(third.stdout, new RegExp(`exists   ${prefix}config\n`));
  assert.equal((await tailrace(['topics', 'apply', '--strict'], more)).exitCode, 1);

  const json = await tailrace(['topics', 'apply', '--output', 'json'], env);
  const { topics } = JSON.parse(json.stdout) as { topics: unknown[] };
  assert.deepEqual(
    topics,
    names.map((name) => ({ name, outcome: 'exists', differences: [] })),
  );

  const fewer = await tailrace(['topics', 'list'], { ...env, TAILRACE_RETRY_SCHEDULE: '10s' });
  assert.match(fewer.stdout, new RegExp(`not needed  ${prefix}deliveries\\.retry\\.1m\n`));
});

test('apply writes what the file says, tells what it did, and shows no secret', async () => {
  const env = await environment();
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
  assert.match(inPlain.stderr, /destination\/crm: settings\.sharedSecret is sealed with the key/);

  const emptied = await tailrace(['apply', '-f', '-', '--prune'], env, 'sources: []');
  assert.equal(emptied.stdout, 'deleted    destination/crm\ndeleted    source/web\n2 deleted.\n');
});

test('a broken configuration is told in full, with the place of each problem, and changes nothing', async () => {
  const env = await environment();
  await tailrace(['topics', 'apply'], env);
  const broken = configuration.replace('https:', 'ftp:').replace('writeKeys', 'writekey');
  const { exitCode, stdout, stderr } = await tailrace(['apply', '-f', '-'], env, broken);
  assert.deepEqual([exitCode, stdout], [1, '']);
  assert.match(stderr, /standard input:3:5 sources\[0\]\.writeKeys: is missing/);
  assert.match(stderr, /standard input:4:5 sources\[0\]\.writekey: .*is writeKeys meant\?/);
  assert.match(
    stderr,
    /standard input:12:16 destinations\[0\]\.settings\.webhooks\[0\]\.url: is neither http/,
  );
  const { stdout: after } = await tailrace(['apply', '-f', '-', '--dry-run'], env, configuration);
  assert.match(after, /2 created\.$/m);
});

test('apply without topics says how to create them', async () => {
  const { exitCode, stderr } = await tailrace(['apply', '-f', '-'], await environment(), configuration);
  assert.equal(exitCode, 1);
  assert.match(stderr, /^tailrace: The topic .*config does not exist\. .*npx tailrace topics apply/);
});

test('without a broker there is one clear sentence, and exit code 1', async () => {
  const env = { KAFKA_BROKERS: `127.0.0.1:${await freePort()}` };
  for (const command of [
    ['topics', 'apply'],
    ['apply', '-f', '-'],
  ]) {
    const { exitCode, stdout, stderr } = await tailrace(command, env, configuration);
    assert.deepEqual([exitCode, stdout], [1, '']);
    assert.match(
      stderr,
      /^tailrace: Kafka at 127\.0\.0\.1:\d+ cannot be used: [^\n]*Check KAFKA_BROKERS[^\n]*\n$/,
    );
  }
});
