/**
 * The commands of infra/README.md, as they are written there: those of kubectl and helm against a real API server, those of
 * tailrace against running services. No kubelet runs, so the status of a roll-out is written by the test, and
 * port-forward and helm test, which need a running pod, are left out.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempDisposableSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { runToEnd, type Ended } from '../../support/tools/command.ts';
import { customResourceDefinitions } from '../../support/tools/schemas.ts';
import { toolPath } from '../../support/tools/tools.ts';
import { sharedBroker } from '../../support/kafka/broker.ts';
import { createTopics, uniquePrefix } from '../../support/kafka/topics.ts';
import { startApiServer, type ApiServer } from '../../support/kubernetes/api-server.ts';
import { handbook } from '../../support/kubernetes/handbook.ts';
import { adminToken, secretKey, startControl } from '../../support/processes/control.ts';
import { startPipelineOfProcesses } from '../../support/processes/pipeline.ts';
import * as answers from '../../support/receivers/answers.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';

const infra = path.join(import.meta.dirname, '../../../infra');

const sections = handbook();
const tasks = [...sections].filter(([, commands]) => commands.length > 0);

/** Commands that prepare a shell for the others. */
const isPreparation = (command: string): boolean => /port-forward|^export /.test(command);

/** Commands that need running pods. */
const needsPods = (command: string): boolean => /port-forward|^helm test /.test(command);

test('each task of the handbook has at most three commands', () => {
  const tooMany = tasks.filter(
    ([, commands]) => commands.filter((command) => !isPreparation(command)).length > 3,
  );
  assert.deepEqual(
    tooMany.map(([title]) => title),
    [],
  );
  const wanted = [
    'Prepare',
    'Install',
    'Publish a release',
    'Scale',
    'Upgrade',
    'Add partitions',
    'Rotate keys',
    'Rotate the secret key',
    'Find a lost event',
  ];
  for (const title of [...wanted, 'Drain a bad destination', 'Restore after a broker’s loss']) {
    const found = tasks.some(([section]) => section.replace("'", '’') === title);
    assert.ok(found, `the handbook has no commands for: ${title}`);
  }
});

test('a cluster takes every command of kubectl and helm', async () => {
  await using server = await startApiServer();
  await server.kubectl(['apply', '--server-side', '-f', await customResourceDefinitions()]);
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'tailrace-handbook-'));
  symlinkSync(infra, path.join(folder.path, 'infra'));
  copyFileSync(path.join(infra, 'chart/ci/default.yaml'), path.join(folder.path, 'values.yaml'));
  const programs = await Promise.all((['helm', 'kubectl'] as const).map((name) => toolPath(name)));
  const search = [...programs.map((program) => path.dirname(program)), server.env['PATH']].join(':');
  let run = 0;
  for (const [title, commands] of tasks) {
    for (const command of commands) {
      if (!/^(kubectl|helm) /.test(command) || needsPods(command)) continue;
      await beforeCommand(server, command);
      const filled = command.replaceAll('<new>', 'b'.repeat(48)).replaceAll('<old>', 'a'.repeat(48));
      const script = `cd '${folder.path}' && ${filled}`;
      const { err } = await runToEnd('sh', ['-euc', script], { env: { ...server.env, PATH: search } });
      assert.doesNotMatch(err, /warn/i, `${title}: ${command}`);
      run += 1;
    }
  }
  assert.ok(run >= 8, `${run} commands`);
});

/** The controllers of workloads would write this status. */
async function beforeCommand(server: ApiServer, command: string): Promise<void> {
  const [, workloads = ''] = /rollout status (.+)/.exec(command) ?? [];
  for (const workload of workloads.split(' ').filter((name) => name !== '')) {
    const { out } = await server.kubectl(['-n', 'events', 'get', workload, '-o', 'json']);
    const { metadata, spec } = JSON.parse(out) as {
      metadata: { generation: number };
      spec: { replicas: number };
    };
    const counts = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'];
    const status = {
      observedGeneration: metadata.generation,
      ...Object.fromEntries(counts.map((name) => [name, spec.replicas])),
    };
    const patch = ['--type=merge', '--subresource=status', '-p', JSON.stringify({ status })];
    await server.kubectl(['-n', 'events', 'patch', workload, ...patch]);
  }
}

test('running services take every command of tailrace', async () => {
  const topics = { TAILRACE_PARTITIONS: '2', TAILRACE_RETRY_SCHEDULE: '1m' };
  await using pipeline = await startPipelineOfProcesses({
    retrySchedule: '1m',
    retryWindow: '1h',
    env: { TAILRACE_SECRET_KEY: secretKey },
  });
  const { brokers } = await sharedBroker();
  const prefix = pipeline.names.events.replace(/events$/, '');
  await using control = await startControl(brokers, prefix, topics);
  let answer = answers.status(503);
  await using receiver = await startReceiver({ answer: () => answer });
  const { destinationId, send } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  const messageId = `handbook-${randomBytes(4).toString('hex')}`;
  await send('track', { userId: 'ada', event: 'Order Completed', messageId });
  await receiver.waitFor(1);
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'tailrace-handbook-'));
  symlinkSync(path.join(infra, '../node_modules'), path.join(folder.path, 'node_modules'));
  const env = {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    ...topics,
    TAILRACE_SECRET_KEY: secretKey,
    TAILRACE_URL: control.url,
    TAILRACE_API_TOKEN: adminToken,
    NO_COLOR: '1',
    PATH: `${path.join(infra, '../node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
  };
  const call = (command: string, more: Readonly<Record<string, string>> = {}): Promise<Ended> => {
    const local = command
      .replace('http://127.0.0.1:8081', control.url)
      .replace(/--around \S+/, `--around ${new Date().toISOString()}`);
    const filled = fill(local, { messageId, id: destinationId, userId: 'ada' });
    return runToEnd('sh', ['-euc', `cd '${folder.path}' && ${filled}`], { env: { ...env, ...more } });
  };
  const commandsOf = (title: string): string[] =>
    (sections.get(title) ?? []).filter((command) => /^(npx tailrace|curl) /.test(command));

  for (const command of commandsOf('Find a lost event')) {
    await eventually(
      () => call(command),
      ({ out }) => out.includes(destinationId),
    );
  }

  const [disable, drain, replay, ...others] = commandsOf('Drain a bad destination');
  assert.ok(disable !== undefined && drain !== undefined && replay !== undefined && others.length === 0);
  await call(disable);
  await call(drain);
  assert.equal((await pipeline.deadLetter(destinationId)).destinationId, destinationId);
  answer = answers.status(200);
  await call(`npx tailrace enable destination ${destinationId}`);
  await call(replay);
  await receiver.waitFor(2);

  const reseals = ['Seal the queries of URLs', 'Rotate the secret key'];
  for (const command of reseals.flatMap(commandsOf)) {
    assert.match((await call(command)).out, /"destinations":/);
  }

  const empty = uniquePrefix();
  await createTopics(pipeline.kafka, empty, { partitions: 2, retryScheduleMs: [60_000] });
  await call('npx tailrace config export -f tailrace.export');
  const imports = commandsOf("Restore after a broker's loss");
  assert.ok(imports.some((command) => command.includes('config import')));
  for (const command of imports) await call(command, { TAILRACE_TOPIC_PREFIX: empty });

  const covered = [
    'Find a lost event',
    'Drain a bad destination',
    "Restore after a broker's loss",
    ...reseals,
  ];
  const uncovered = tasks.filter(([title]) => !covered.includes(title) && commandsOf(title).length > 0);
  assert.deepEqual(
    uncovered.map(([title]) => title),
    [],
  );
});

/** `command` with each placeholder replaced; one without a value is an error. */
function fill(command: string, values: Readonly<Record<string, string>>): string {
  return command.replaceAll(/<(\w+)>/g, (placeholder, name: string) => {
    const value = values[name];
    assert.ok(value !== undefined, `${placeholder} in ${command} has no value in this test`);
    return value;
  });
}
