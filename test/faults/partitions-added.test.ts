/**
 * Partitions are added to a running system: events arrive over HTTP, receivers fail and refuse, two routers and two
 * delivery services share the work, and `tailrace topics apply --partitions` runs in between. No event is lost.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { eventually } from '@tailrace/testing';
import * as answers from '../support/receivers/answers.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { tailrace } from '../support/processes/cli.ts';
import { openLedger } from '../support/oracle/ledger.ts';
import { isConserved, report } from '../support/oracle/oracle.ts';
import { startPipelineOfProcesses, type Pipeline } from '../support/processes/pipeline.ts';
import { startService } from '../support/processes/process.ts';
import { readAll } from '../support/kafka/topics.ts';
import { bodyOf, callOf, sendUntilAccepted } from '../support/oracle/calls.ts';

const before = 2;
const after = 5;
const retrySchedule = '1s,2s,2s';
const batchSize = 10;
/** The next batch is sent when fewer deliveries than this are outstanding. */
const mostOpen = 20;
/** Events sent before partitions are added, and again after all stages use them. */
const eventsAround = 300;

test('when partitions are added under load, each event is delivered or a dead letter, and the new ones are used', async (t) => {
  const env = { TAILRACE_RETRY_SCHEDULE: retrySchedule };
  await using pipeline = await startPipelineOfProcesses({
    partitions: before,
    retrySchedule,
    retryWindow: '2m',
  });
  await using replicas = new AsyncDisposableStack();
  for (const name of ['router', 'delivery']) replicas.use(await startReplica(name, pipeline, env));
  await using ledger = await openLedger(pipeline.kafka, pipeline.names.deliveriesDead);
  const ids: string[] = [];
  const receivers = await Promise.all(
    [() => answers.status(200), failNowAndThen, () => answers.status(410)].map((answer, place) =>
      ledger.receive(() => ids[place] ?? '', { answer }),
    ),
  );
  const connection = await pipeline.connect(receivers.map(({ url }) => ({ webhooks: [{ url }] })));
  ids.push(...connection.destinationIds);

  let sent = 0;
  const sendBatch = async (): Promise<void> => {
    const calls = Array.from({ length: batchSize }, () => callOf(sent++));
    for (const call of calls) {
      for (const destinationId of ids) {
        ledger.owe({ eventId: call.messageId, destinationId, body: bodyOf(call) });
      }
    }
    await sendUntilAccepted(connection, calls);
    await ledger.until(() => ledger.open < mostOpen);
  };
  const sendFor = async (events: number): Promise<void> => {
    for (const end = sent + events; sent < end;) await sendBatch();
  };

  await sendFor(eventsAround);
  const growing = addPartitions(pipeline, env);
  const looking = untilInUse(pipeline);
  const inUse = new AbortController();
  const stop = (): void => {
    inUse.abort();
  };
  looking.then(stop, stop);
  while (!inUse.signal.aborted) await sendBatch();
  await growing;
  await looking;
  await sendFor(eventsAround);

  await ledger.drained();
  const verdict = await ledger.verdict();
  t.diagnostic(report(verdict));
  assert.ok(isConserved(verdict), report(verdict));
  assert.equal(verdict.obligations, sent * ids.length);
  assert.ok(verdict.dead >= sent, 'each event has a dead letter of the receiver that refuses');
  await showSpread(t, pipeline);
});

/** Starts another replica of a service, with the settings of the pipeline. */
async function startReplica(name: string, { names }: Pipeline, env: Readonly<Record<string, string>>) {
  return startService(name, {
    KAFKA_BROKERS: (await sharedBroker()).brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefixOf(names.events),
    TAILRACE_METRICS_PORT: '0',
    TAILRACE_RETRY_WINDOW: '2m',
    TAILRACE_DELIVERY_TIMEOUT: '1s',
    TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    ...env,
  });
}

function prefixOf(events: string): string {
  return events.slice(0, -'events'.length);
}

async function addPartitions({ names }: Pipeline, env: Readonly<Record<string, string>>): Promise<void> {
  const { exitCode, stdout, stderr } = await tailrace(['topics', 'apply', '--partitions', String(after)], {
    KAFKA_BROKERS: (await sharedBroker()).brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefixOf(names.events),
    TAILRACE_PARTITIONS: String(before),
    ...env,
  });
  assert.equal(exitCode, 0, stdout + stderr);
}

/** Resolves when every new partition of each stage's output holds a record. */
async function untilInUse({ kafka, names }: Pipeline): Promise<void> {
  const topics = [names.events, names.deliveries, names.deliveriesDead, names.retryTier(1_000)];
  await eventually(
    async () => {
      const ends = await Promise.all(topics.map((topic) => kafka.offsetsAt(topic, Date.now() + 86_400_000)));
      return topics.filter((_, place) =>
        Array.from({ length: after }, (_, partition) => ends[place]?.get(partition) ?? 0).includes(0),
      );
    },
    (unused) => unused.length === 0,
  );
}

function failNowAndThen(): answers.Answer {
  const dice = Math.random();
  if (dice < 0.2) return answers.status(503);
  return dice < 0.3 ? answers.reset : answers.status(200);
}

async function showSpread(t: TestContext, { kafka, names }: Pipeline): Promise<void> {
  for (const topic of [names.events, names.deliveries, names.deliveriesDead]) {
    const records = await readAll(kafka, topic);
    const counts = Array.from(
      { length: after },
      (_, number) => records.filter(({ partition }) => partition === number).length,
    );
    t.diagnostic(`${topic}: ${counts.join(', ')} records by partition`);
  }
}
