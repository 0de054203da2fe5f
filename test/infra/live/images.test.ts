/** The images of infra/images on a Docker engine: built, run as a cluster runs them, and stopped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyConfiguration } from '@tailrace/config';
import { openImageBuilder } from '../../support/docker/images.ts';
import { sharedBroker } from '../../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { openKafka } from '../../support/kafka/kafka-client.ts';
import { uniquePrefix } from '../../support/kafka/topics.ts';
import { topicNames } from '@tailrace/topology';
import { assertAccepted, call, sendTo } from '../../support/processes/ingest.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { closedPort } from '../../support/receivers/closed-port.ts';

const services = ['ingest', 'router', 'delivery', 'control'] as const;
const asInACluster = [
  '--read-only',
  '--tmpfs',
  '/tmp',
  '--cap-drop',
  'ALL',
  '--security-opt',
  'no-new-privileges',
];

interface Inspected {
  readonly Size: number;
  readonly Config: { readonly User: string };
}

test('images are built, run read-only as a numeric user, deliver a webhook, and exit with 0 after docker stop', async (t) => {
  await using opened = new AsyncDisposableStack();
  const builder = await openImageBuilder(t, opened);
  if (!builder) return;
  const { docker } = builder.engine;
  process.stderr.write(
    'The images are built on a stand-in for the official image of Node, which was not pulled.\n',
  );
  for (const target of [...services, 'cli']) {
    await builder.build(target, `tailrace-${target}`);
    const [image] = JSON.parse(await docker(['image', 'inspect', `tailrace-${target}`])) as Inspected[];
    assert.match(image?.Config.User ?? '', /^[1-9]\d*:[1-9]\d*$/);
    t.diagnostic(`${target}: ${Math.round((image?.Size ?? NaN) / 1e6)} MB on the stand-in`);
    const shell = ['run', '--rm', '--network', 'none', '--entrypoint', 'sh', `tailrace-${target}`, '-c'];
    const found = 'command -v npm npx corepack; find /app /usr/local -name npm; true';
    assert.equal(await docker([...shell, found]), '');
  }

  const { brokers } = await sharedBroker();
  const prefix = uniquePrefix();
  const ingestPort = await closedPort();
  const env = {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_INGEST_PORT: String(ingestPort),
    TAILRACE_CONTROL_PORT: '0',
    TAILRACE_METRICS_PORT: '0',
    TAILRACE_API_TOKEN: 'a-token-of-the-test',
    TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
  };
  const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const options = ['--network', 'host', ...asInACluster, ...variables];
  await docker(['run', '--rm', ...options, 'tailrace-cli', 'topics', 'apply']);
  for (const service of services) {
    await docker(['run', '--detach', '--name', service, ...options, `tailrace-${service}`]);
  }
  const logOf = (service: string): Promise<string> => docker(['logs', service]);
  for (const service of services) {
    await eventually(
      () => logOf(service),
      (log) => log.includes('"msg":"ready"'),
    );
  }

  await using receiver = await startReceiver();
  const kafka = opened.use(openKafka(brokers));
  const source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
  await applyConfiguration(kafka, topicNames(prefix).config, {
    sources: [source],
    destinations: [
      {
        id: 'crm',
        type: 'Webhooks',
        enabled: true,
        sources: ['web'],
        settings: { webhooks: [{ url: receiver.url }] },
      },
    ],
  });
  const url = `http://127.0.0.1:${ingestPort}`;
  const send = () => sendTo({ url, path: '/v1/track', body: call() });
  const answer = await eventually(send, ({ status }) => status === 200);
  assertAccepted(answer);
  await receiver.waitFor(1);

  for (const service of services) {
    await docker(['stop', '--time', '30', service]);
    const exitCode = await docker(['inspect', '--format', '{{.State.ExitCode}}', service]);
    assert.equal(exitCode.trim(), '0', await logOf(service));
    assert.match(await logOf(service), /"msg":"stopped"/);
  }
});
