/**
 * A real Prometheus scrapes the real services through load, a dead receiver and a killed broker: every panel has series, the right
 * alerts fire, ingest stays ready, and the commands of the runbooks work. The rules are those of the chart with 60 times shorter
 * windows (`scaledRules`). Takes about two minutes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { dashboards, expressionOf, type Query } from '@tailrace/monitoring';
import { fillDurations, readExpression } from '../../support/monitoring/promql.ts';
import { ruleFiles, scaledRules } from '../../support/monitoring/rules.ts';
import { codeBlocks, runbookFiles } from '../../support/monitoring/runbooks.ts';
import { ownBroker } from '../../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { startPrometheus, type Prometheus } from '../../support/monitoring/prometheus.ts';
import { openRunbookShell } from '../../support/monitoring/runbook-shell.ts';
import { adminToken, secretKey, startControl } from '../../support/processes/control.ts';
import { startPipelineOfProcesses, type Connection } from '../../support/processes/pipeline.ts';
import type { ServiceProcess } from '../../support/processes/process.ts';
import { status } from '../../support/receivers/answers.ts';
import { closedPort, startReceiver } from '../../support/receivers/receiver.ts';
import { pace } from '../../support/steadily.ts';

const scale = 60;

/** Metrics without a series until something rare has happened, because a label of theirs has no closed set. */
const rare = [
  'tailrace_unreadable_batches_total',
  'tailrace_destination_deferred_total',
  'tailrace_destination_behind_total',
];

test('dashboards, alerts and runbooks work on real services through a dead receiver and a killed broker', async (t) => {
  await using broker = await ownBroker();
  await using pipeline = await startPipelineOfProcesses({
    brokers: broker.brokers,
    retrySchedule: '1s,2s,5s,10s',
    retryWindow: '10m',
    env: { TAILRACE_INGEST_ACK_TIMEOUT: '1s', TAILRACE_SECRET_KEY: secretKey },
  });
  const prefix = pipeline.names.events.replace(/events$/, '');
  const shared = { TAILRACE_PARTITIONS: '2', TAILRACE_RETRY_SCHEDULE: '1s,2s,5s,10s' };
  await using control = await startControl(broker.brokers, prefix, shared);
  const services = [pipeline.ingest, pipeline.router, pipeline.delivery, control.process];
  const addresses = await Promise.all(services.map(metricsAddress));
  await using prometheus = await startPrometheus({
    targets: services.map(({ name }, index) => ({ component: name, address: addresses[index] ?? '' })),
    rules: ruleFiles().map((file) => scaledRules(file, scale)),
  });
  await eventually(
    () => prometheus.scrapeProblems(),
    (problems) => problems.length === 0,
  );
  await using healthy = await startReceiver();
  await using rejecting = await startReceiver({ answer: () => status(410) });
  const dead = `http://127.0.0.1:${String(await closedPort())}`;
  const connection = await pipeline.connect([
    { webhooks: [{ url: healthy.url }] },
    { webhooks: [{ url: rejecting.url }] },
    { webhooks: [{ url: dead }] },
  ]);
  const [, rejected = '', unreachable = ''] = connection.destinationIds;
  await using load = startLoad(connection);
  await using ready = watchReadiness(addresses[0] ?? '');

  await firing(prometheus, 'TailraceBreakerOpen', { destination_id: unreachable });
  await firing(prometheus, 'TailraceDeadLettersRising', { destination_id: rejected });
  const pages = (await prometheus.firing()).filter(({ labels }) => labels['severity'] === 'critical');
  assert.deepEqual(pages, [], 'no failing receiver causes a page');

  await everyPanelHasSeries(prometheus);
  await runbooksWork(t, prometheus, {
    env: {
      ...shared,
      KAFKA_BROKERS: broker.brokers.join(','),
      TAILRACE_TOPIC_PREFIX: prefix,
      TAILRACE_URL: control.url,
      TAILRACE_API_TOKEN: adminToken,
      TAILRACE_SECRET_KEY: secretKey,
      INGEST_URL: pipeline.ingestUrl,
      WRITE_KEY: connection.writeKey,
      DESTINATION: rejected,
      TOPIC: pipeline.names.events,
      PARTITIONS: '2',
      MESSAGE_ID: 'load-1',
      NAMESPACE: 'test',
      RELEASE: 'acme',
      POD: 'acme-delivery-0',
    },
    doctorArguments: [
      '--ingest',
      pipeline.ingestUrl,
      ...addresses.flatMap((address) => ['--probe', `http://${address}`]),
    ],
  });

  await broker.kill('SIGKILL');
  await firing(prometheus, 'TailraceIngestErrorBudgetBurn', { severity: 'critical' });
  await broker.restart();
  const accepted = load.accepted();
  await eventually(
    () => load.accepted(),
    (count) => count > accepted + 50,
  );
  await eventually(
    () => prometheus.firing(),
    (alerts) => !alerts.some(({ labels }) => labels['severity'] === 'critical'),
  );
  assert.deepEqual(ready.others(), [], 'ingest stays ready while its broker is down');
});

/** Host and port of a service's metrics. */
async function metricsAddress(service: ServiceProcess): Promise<string> {
  const starting = await service.log.find(({ msg }) => msg === 'starting');
  return `127.0.0.1:${String(starting['metricsPort'])}`;
}

/** Resolves when an alert fires with these labels. */
async function firing(
  prometheus: Prometheus,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  await eventually(
    () => prometheus.firing(),
    (alerts) =>
      alerts.some(
        (alert) =>
          alert.name === name &&
          Object.entries(labels).every(([label, value]) => alert.labels[label] === value),
      ),
  );
}

interface Load extends AsyncDisposable {
  accepted(): number;
}

/** Some 40 calls a second, whether they are accepted or not. */
function startLoad({ post }: Connection): Load {
  let [next, accepted, stopping] = [0, 0, false];
  const sending = (async () => {
    while (!stopping) {
      next += 1;
      const call = { messageId: `load-${String(next)}`, userId: `u-${String(next % 50)}`, event: 'Loaded' };
      const answer = post('track', call).then(({ status }) => (accepted += status === 200 ? 1 : 0));
      await Promise.race([answer, pace(200)]);
      await pace(20);
    }
  })();
  return {
    accepted: () => accepted,
    async [Symbol.asyncDispose]() {
      stopping = true;
      await sending;
    },
  };
}

/** Asks /readyz all the time, and keeps every answer but 200. */
function watchReadiness(address: string): { others(): readonly string[] } & AsyncDisposable {
  const others: string[] = [];
  const stopping = new AbortController();
  const asking = (async () => {
    while (!stopping.signal.aborted) {
      const response = await fetch(`http://${address}/readyz`);
      if (response.status !== 200) others.push(await response.text());
      else await response.arrayBuffer();
      await pace(200);
    }
  })();
  return {
    others: () => others,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await asking;
    },
  };
}

/** The expression that Grafana would send with all variables at "All". */
function asSent(query: Query): string {
  const variables = /\$(cluster|namespace|release|prefix|destination)\b/g;
  return fillDurations(expressionOf(query), '10s').replaceAll(variables, '.*');
}

/** Waits, because a scrape that takes too long on a busy machine leaves a second without series. */
async function everyPanelHasSeries(prometheus: Prometheus): Promise<void> {
  await eventually(
    () => queriesWithoutSeries(prometheus),
    (missing) => missing.length === 0,
  );
}

async function queriesWithoutSeries(prometheus: Prometheus): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { title, rows } of dashboards) {
    for (const panel of rows.flatMap(({ panels }) => panels)) {
      for (const query of panel.queries) {
        const expr = asSent(query);
        if ((await prometheus.query(expr)).length === 0) missing.push(`${title}, ${panel.title}: ${expr}`);
        // A query may be 0 because its metric does not exist: the metric itself must have series.
        for (const { metric } of readExpression(expr).selectors) {
          if (!rare.includes(metric) && (await prometheus.query(`count(${metric})`)).length === 0) {
            missing.push(`${title}, ${panel.title}: ${metric} has no series`);
          }
        }
      }
    }
  }
  return [...new Set(missing)];
}

/** Every query returns without an error, and every command ends with 0. kubectl is a stand-in. */
async function runbooksWork(
  t: TestContext,
  prometheus: Prometheus,
  options: Parameters<typeof openRunbookShell>[0],
): Promise<void> {
  await using shell = await openRunbookShell(options);
  const done = new Set<string>();
  for (const [name, file] of runbookFiles()) {
    for (const { language, text } of codeBlocks(readFileSync(file, 'utf8'))) {
      if (done.has(text)) continue;
      done.add(text);
      if (language === 'promql') await prometheus.query(text);
      if (language === 'sh') {
        await shell.run(text).catch((error: unknown) => {
          assert.fail(`${name}:\n${text}\n${(error as Error).message}`);
        });
      }
    }
  }
  t.diagnostic(`${String(done.size)} different queries and commands of runbooks; kubectl was a stand-in`);
}
