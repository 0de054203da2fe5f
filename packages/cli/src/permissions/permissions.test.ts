import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { runCli } from '../run.ts';

async function run(...argv: string[]): Promise<{ exitCode: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const exitCode = await runCli({
    argv: ['permissions', ...argv],
    env: { TAILRACE_TOPIC_PREFIX: 'shop.' },
    out: (line) => out.push(line),
    err: (line) => err.push(line),
  });
  return { exitCode, out: out.join('\n'), err: err.join('\n') };
}

test('permissions are printed as a table of all users, or of one', async () => {
  const { exitCode, out } = await run('--user', 'ingest');
  assert.equal(exitCode, 0);
  assert.match(out, /ingest: the service ingest\n {2}topic +shop\.events +Write\n/);
  assert.doesNotMatch(out, /router/);
});

test('permissions are printed as commands of kafka-acls.sh, quoted for a shell', async () => {
  const { out } = await run(
    '--format',
    'kafka-acls',
    '--user',
    'producer',
    '--name',
    'CN={user},O=A B',
    '--bootstrap-server',
    'kafka:9093',
    '--command-config',
    'admin.properties',
  );
  assert.equal(
    out.trim().split('\n').at(-1),
    'kafka-acls.sh --bootstrap-server kafka:9093 --command-config admin.properties --add ' +
      "--allow-principal 'User:CN=producer,O=A B' --operation Write --topic shop.events",
  );
  const { out: all } = await run('--format', 'kafka-acls');
  assert.match(all, /--operation Read --group shop\.config\.follower\. --resource-pattern-type prefixed/);
});

test('permissions are printed as KafkaUser objects', async () => {
  const { out } = await run('--format', 'strimzi', '--cluster', 'main', '--authentication', 'tls');
  const users = parseAllDocuments(out).map((document) => parse(String(document)) as Record<string, unknown>);
  const found = users.map(({ kind, metadata }) => [kind, (metadata as { name: string }).name]);
  assert.deepEqual(found.slice(0, 2), [
    ['KafkaUser', 'tailrace-ingest'],
    ['KafkaUser', 'tailrace-router'],
  ]);
  const { metadata, spec } = users[0] as unknown as {
    metadata: { labels: unknown };
    spec: { authentication: unknown; authorization: { acls: unknown[] } };
  };
  assert.deepEqual(metadata.labels, { 'strimzi.io/cluster': 'main' });
  assert.deepEqual(spec.authentication, { type: 'tls' });
  assert.deepEqual(spec.authorization.acls[0], {
    resource: { type: 'topic', name: 'shop.events', patternType: 'literal' },
    operations: ['Write'],
  });
});

test('an unknown user, or one name for several users, is a usage error', async () => {
  const unknown = await run('--user', 'unheard-of');
  assert.equal(unknown.exitCode, 2);
  assert.match(unknown.err, /there is no user unheard-of; there are ingest, router/);
  assert.equal((await run('--format', 'kafka-acls', '--name', 'tailrace')).exitCode, 2);
});
