/** What commands show of a real Kafka: its settings of topics, its groups and brokers, and connections that fail. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { adminToken } from '../../services/control/src/testing/api.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { uniquePrefix } from '../support/kafka/topics.ts';
import { tailrace } from '../support/processes/cli.ts';
import { startInstallation } from '../support/processes/installation.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

/** A port below 1024, on which only root may listen, and nobody does. */
const closedPort = '127.0.0.1:1';

const started = new AsyncDisposableStack();
after(() => started.disposeAsync());
const receiver = started.use(await startReceiver());
const installation = started.use(await startInstallation());
const [control] = installation.controls;
assert.ok(control);
const env = {
  ...installation.env,
  TAILRACE_URL: installation.controlUrl,
  TAILRACE_API_TOKEN: adminToken,
};

test('topics apply creates all topics, changes nothing the second time, and reports differences', async () => {
  const prefix = uniquePrefix();
  const env = {
    KAFKA_BROKERS: (await sharedBroker()).brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_PARTITIONS: '2',
    TAILRACE_RETRY_SCHEDULE: '10s,1m,1m',
  };
  const names = [
    'events',
    'events.rejected',
    'events.waiting',
    'deliveries',
    'deliveries.retry.10s',
    'deliveries.retry.1m',
    'deliveries.retry.1d',
    'deliveries.dead',
    'deliveries.replay',
    'attempts',
    'usage',
    'decisions',
    'config',
    'audiences',
    'audiences.syncs',
    'deletions',
    'replays',
    'suppressions',
    'destinations.health',
    'recalls',
    'audit',
    'idempotency',
    'sessions',
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

test('doctor reports no failure on a healthy system, and a hint for every problem', async () => {
  const places = ['--ingest', installation.ingestUrl, '--probe', control.probesUrl];
  const healthy = await tailrace(['doctor', ...places], env);
  assert.deepEqual([healthy.exitCode, healthy.stderr], [0, ''], healthy.stdout);
  assert.match(healthy.stdout, /^ok +brokers +\d+ brokers?, all reachable$/m);
  assert.match(healthy.stdout, /^ok +router +1 member in its consumer group/m);
  // The tests have one broker.
  assert.match(healthy.stdout, /^warn +durability +there is one broker.*sufficient for evaluation only\.$/m);
  assert.match(healthy.stdout, /^No failures, 1 warning\.$/m);

  const elsewhere = { TAILRACE_RETRY_SCHEDULE: '1s,7s', TAILRACE_API_TOKEN: '', TAILRACE_URL: receiver.url };
  const unhealthy = await tailrace(['doctor', ...places, '--output', 'json'], {
    ...env,
    ...elsewhere,
  });
  assert.equal(unhealthy.exitCode, 1);
  const { findings } = JSON.parse(unhealthy.stdout) as {
    findings: { level: string; about: string; hint?: string }[];
  };
  const wrong = findings.filter(({ level }) => level !== 'ok');
  assert.deepEqual(
    wrong.map(({ level, about }) => `${level} ${about}`),
    ['fail topics', 'warn topics', 'warn durability', 'warn control'],
  );
  assert.ok(wrong.every(({ hint }) => hint !== undefined));
});

test('doctor looks at every address of a name, and at nothing else, with control down and one replica that hangs', async () => {
  await using hangs = await startReceiver({ answer: () => () => undefined });
  const withoutControl = { ...env, TAILRACE_URL: '' };
  const target = `control=localhost:${new URL(control.probesUrl).port}`;
  const healthy = await tailrace(['doctor', '--service', target, '--output', 'json'], {
    ...withoutControl,
  });
  assert.deepEqual([healthy.exitCode, healthy.stderr], [0, ''], healthy.stdout);
  const report = JSON.parse(healthy.stdout) as Record<string, unknown>;
  assert.deepEqual(Object.keys(report), [
    'version',
    'result',
    'checkedAt',
    'findings',
    'replicas',
    'topics',
    'lag',
  ]);
  assert.deepEqual([report['version'], report['result']], [1, 'ok']);
  assert.deepEqual(
    (report['replicas'] as { service: string; state: string }[]).map(({ service, state }) => [
      service,
      state,
    ]),
    [['control', 'ready']],
  );
  assert.ok((report['lag'] as { seconds: number }[]).every(({ seconds }) => seconds < 60));

  const troubled = await tailrace(['doctor'], {
    ...withoutControl,
    TAILRACE_DOCTOR_TARGETS: `${target},router=127.0.0.1:${hangs.port},delivery=no-such-host.invalid:9466`,
  });
  assert.equal(troubled.exitCode, 1);
  assert.match(
    troubled.stdout,
    /^fail +replicas +router: 1 of 1 replica cannot be reached: .*no response within 5 s/m,
  );
  assert.match(troubled.stdout, /^(?:fail|unknown) +replicas +delivery: /m);
  assert.match(troubled.stdout, /^ok +replicas +control: 1 replica ready$/m);
  assert.doesNotMatch(troubled.stdout, /localhost:8080|localhost:8081/);

  const blind = await tailrace(['doctor', '--service', target], {
    ...withoutControl,
    KAFKA_BROKERS: closedPort,
  });
  assert.equal(blind.exitCode, 2, blind.stdout);
  assert.match(blind.stdout, /^unknown +kafka /m);
  const misspelled = await tailrace(['doctor', '--service', 'router'], withoutControl);
  assert.equal(misspelled.exitCode, 2);
  assert.match(misspelled.stderr, /"router" is not a target; write it as router=tailrace-router:9465/);
});

test('why reads the topics around a time, without control, and says where it looked', async () => {
  await using webhooks = await startReceiver();
  const destination = ['--id', 'crm', '--source', 'web', '--url', webhooks.url];
  for (const command of [
    ['create', 'source', '--id', 'web', '--write-key', 'wk_web'],
    ['create', 'destination', ...destination],
  ]) {
    const { exitCode, stderr } = await tailrace(command, env);
    assert.deepEqual([exitCode, stderr], [0, '']);
  }
  // Ingest and the router know the source and the destination soon after the commands.
  let nth = 0;
  await eventually(
    async () => {
      nth += 1;
      await fetch(`${installation.ingestUrl}/v1/track`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa('wk_web:')}` },
        body: JSON.stringify({ messageId: `around-${nth}`, userId: 'ada', event: `around-${nth}` }),
      });
      return webhooks.requests.length;
    },
    (received) => received > 0,
  );
  const [first] = webhooks.requests;
  const { event: messageId } = first?.json() as { event: string };
  const around = ['--around', '1s', '--within', '5m'];
  const found = await eventually(
    () => tailrace(['why', messageId, ...around, '--user', 'ada'], installation.env),
    ({ stdout }) => stdout.includes('attempt 1'),
  );
  assert.equal(found.exitCode, 0, found.stderr);
  assert.match(found.stdout, /^Accepted at .* from web, with the key ada/m);
  assert.match(found.stdout, /^crm: delivered\. Delivery /m);
  assert.match(found.stdout, /attempt 1: delivered, 200 from /);
  const absent = await tailrace(['why', 'never-sent', ...around, '--output', 'json'], installation.env);
  assert.equal(absent.exitCode, 0, absent.stderr);
  const { outcome, notSearched, searched } = JSON.parse(absent.stdout) as {
    outcome: string;
    notSearched: unknown[];
    searched: { topic: string; partitions: { state: string }[] }[];
  };
  assert.deepEqual([outcome, notSearched], ['not-found', []]);
  assert.ok(searched.every(({ partitions }) => partitions.every(({ state }) => state === 'read')));
  const usage = await tailrace(['why', 'never-sent', '--user', 'ada'], installation.env);
  assert.equal(usage.exitCode, 2);
});

test('without a broker a command writes one error and exits with 1', async () => {
  const { exitCode, stdout, stderr } = await tailrace(['topics', 'apply'], { KAFKA_BROKERS: closedPort });
  assert.deepEqual([exitCode, stdout], [1, '']);
  assert.match(
    stderr,
    /^tailrace: Kafka at 127\.0\.0\.1:\d+ cannot be used: [^\n]*Check KAFKA_BROKERS[^\n]*\n$/,
  );
});
