/**
 * An upgrade under load: the release before and this one, three replicas of ingest, router and delivery and two of control, replaced as the
 * rendered chart says, all workloads at the same time as Helm does. One receiver fails, and the retry schedule gains a tier. No event is
 * lost, every repeat has a cause, and the pause of each step is reported.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { applyConfiguration, type Destination } from '@tailrace/config';
import { topicNames, type TopicNames } from '@tailrace/topology';
import { run } from '../../support/tools/command.ts';
import { bodyOf, callOf, type NumberedCall } from '../../support/oracle/calls.ts';
import { movesIn, trailsOf } from '../../support/oracle/evidence.ts';
import { sharedBroker } from '../../support/kafka/broker.ts';
import { openKafka, type TestKafka } from '../../support/kafka/kafka-client.ts';
import { headerOf, readAll, uniquePrefix } from '../../support/kafka/topics.ts';
import { notRun } from '../../support/not-run.ts';
import { openLedger, type Ledger } from '../../support/oracle/ledger.ts';
import { isConserved, report } from '../../support/oracle/oracle.ts';
import { explainRepeats } from '../../support/oracle/repeats.ts';
import * as answers from '../../support/receivers/answers.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { backOff, pace } from '../../support/steadily.ts';
import { formerRelease, thisRelease, type Release } from '../../support/upgrade/former-release.ts';
import { PodSet, type Pod } from '../../support/upgrade/pods.ts';
import { longestPause, mostLateMs } from '../../support/upgrade/results.ts';
import { renderedStrategies, roll, type Step } from '../../support/upgrade/roll.ts';

const formerSchedule = '1s,2s,2s';
/** Has a tier that the release before does not know. */
const schedule = '1s,3s,2s,2s';
const partitions = 6;
const replicas = { ingest: 3, router: 3, delivery: 3, control: 2 };
const batchSize = 5;
const batchEveryMs = 200;
/** The senders pause while more deliveries than this are outstanding. */
const mostOpen = 2_000;
/** As in the fault tests: what finished shortly before its partition was revoked may be repeated. */
const repeatableMs = 2_500;
const destinationIds = ['healthy', 'failing'] as const;

test('an upgrade under load loses nothing, and each repeat has a cause', async (t) => {
  const former = await formerRelease(process.env).catch((error: unknown) => (error as Error).message);
  if (typeof former === 'string') {
    notRun(t, former);
    return;
  }
  t.diagnostic(`from ${former.commit} to ${thisRelease.commit}`);
  const strategies = await renderedStrategies(replicas);
  await using setting = await openSetting(former);
  const { ledger, pods, kafka, names } = setting;

  await using load = startLoad(setting);
  await ledger.until(() => ledger.delivered > 300);

  // The chart's Job for topics runs before the new pods are ready: they wait for the topics that they need.
  await applyTopics(thisRelease, setting.env(schedule));
  await using collector = await startReceiver();
  // What this release writes with tracing on must be readable for the one before.
  const owner = 'shop/tailrace';
  const env = {
    ...setting.env(schedule),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    TAILRACE_OWNER: owner,
  };
  const rollouts = await Promise.allSettled(
    [...strategies].map(async ([component, strategy]) => {
      const set = pods[component as keyof typeof replicas];
      const done = await roll<Pod>(strategy, {
        old: set.pods,
        start: (place) => set.start(thisRelease, env, place),
        stop: (pod) => set.stop(pod),
      });
      return done.map((step) => ({ component, ...step }));
    }),
  );
  const failed = rollouts.find((rollout) => rollout.status === 'rejected');
  if (failed) throw failed.reason;
  const steps = rollouts.flatMap((rollout) => (rollout.status === 'fulfilled' ? rollout.value : []));
  const afterwards = ledger.delivered + 300;
  await ledger.until(() => ledger.delivered > afterwards);
  await load.end();
  await ledger.drained();
  await Promise.all(Object.values(pods).map((set) => set.stopAll()));

  const verdict = await ledger.verdict();
  t.diagnostic(report(verdict));
  t.diagnostic(`calls that a client had to send again: ${load.repeated}`);
  await reportPauses(t, steps, setting, load.acceptedAt);
  await explain(t, setting);
  assert.ok(isConserved(verdict), report(verdict));
  assert.equal(verdict.obligations, load.sent * destinationIds.length);
  assert.ok(collector.requests.length > 0, 'this release traces');
  const marks = (await readAll(kafka, names.config)).filter(({ key }) => String(key) === 'owner');
  assert.deepEqual(
    marks.map(({ value }) => String(value)),
    [owner],
  );
  const tier = await readAll(kafka, names.retryTier(3_000));
  assert.ok(tier.length > 0, 'the new tier is used');
  const late = (mostLateMs(tier, ledger.entries) / 1_000).toFixed(1);
  t.diagnostic(`${tier.length} retries went through the new tier, at most ${late} s after they were due`);
});

interface Setting extends AsyncDisposable {
  readonly kafka: TestKafka;
  readonly names: TopicNames;
  readonly ledger: Ledger;
  readonly pods: Readonly<Record<keyof typeof replicas, PodSet>>;
  env(retrySchedule: string): Readonly<Record<string, string>>;
}

/** The release before, running and configured. */
async function openSetting(former: Release): Promise<Setting> {
  await using opened = new AsyncDisposableStack();
  const { brokers } = await sharedBroker();
  const kafka = opened.use(openKafka(brokers));
  const prefix = uniquePrefix();
  const names = topicNames(prefix);
  const dataDir = await mkdtemp(path.join(tmpdir(), 'tailrace-upgrade-'));
  opened.defer(() => rm(dataDir, { recursive: true }));
  const env = (retrySchedule: string) => ({
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_PARTITIONS: String(partitions),
    TAILRACE_RETRY_SCHEDULE: retrySchedule,
    TAILRACE_RETRY_WINDOW: '10m',
    // Below the grace period, within which a request in flight has to end.
    TAILRACE_DELIVERY_TIMEOUT: '20s',
    TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    TAILRACE_API_TOKEN: 'token-of-the-test-0123456789',
    TAILRACE_SECRET_KEY: '0123456789abcdef'.repeat(4),
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    // The log of delivery then shows its partitions and each attempt.
    LOG_LEVEL: 'debug',
    TAILRACE_LOG_ATTEMPTS: 'all',
  });
  await applyTopics(former, env(formerSchedule));
  const ledger = opened.use(await openLedger(kafka, names.deliveriesDead));
  const receivers = await Promise.all([
    ledger.receive(() => 'healthy'),
    ledger.receive(() => 'failing', { answer: failOften }),
  ]);
  await applyConfiguration(kafka, names.config, {
    sources: [{ id: 'web', writeKeys: ['wk_web'], enabled: true }],
    destinations: destinationIds.map((id, place): Destination => {
      const webhooks = [{ url: receivers[place]?.url ?? '' }];
      return {
        id,
        type: 'Webhooks',
        enabled: true,
        sources: ['web'],
        settings: { webhooks, traceparent: true },
      };
    }),
  });
  const pods = {
    ingest: opened.use(new PodSet('ingest', dataDir)),
    router: opened.use(new PodSet('router', dataDir)),
    delivery: opened.use(new PodSet('delivery', dataDir)),
    control: opened.use(new PodSet('control', dataDir)),
  };
  // A few at a time: eleven processes that start together take minutes.
  for (const set of Object.values(pods)) {
    const places = Array.from({ length: replicas[set.component] }, (_, place) => place);
    await Promise.all(places.map((place) => set.start(former, env(formerSchedule), place)));
  }
  const all = opened.move();
  return { kafka, names, ledger, pods, env, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

function failOften(): answers.Answer {
  const dice = Math.random();
  if (dice < 0.4) return answers.status(503);
  return dice < 0.5 ? answers.reset : answers.status(200);
}

async function applyTopics({ root }: Release, env: Readonly<Record<string, string>>): Promise<void> {
  const cli = path.join(root, 'packages/cli/src/main.ts');
  await run(process.execPath, ['--disable-warning=TimeoutNegativeWarning', cli, 'topics', 'apply'], {
    env,
  });
}

interface Load extends AsyncDisposable {
  /** Events that were accepted. */
  readonly sent: number;
  /** Batches that were sent again, because a replica did not accept them. */
  readonly repeated: number;
  /** When each batch was accepted, in milliseconds since the epoch. */
  readonly acceptedAt: readonly number[];
  end(): Promise<void>;
}

/** Sends batches to the ready replicas of ingest in turn, as a Service does, and repeats one until it is accepted, as an SDK does. */
function startLoad({ ledger, pods }: Setting): Load {
  const acceptedAt: number[] = [];
  let sent = 0;
  let repeated = 0;
  let ended = false;
  const send = async (calls: readonly NumberedCall[]): Promise<void> => {
    while (!(await accepts(pods.ingest.next(), calls))) {
      repeated += 1;
      await backOff();
    }
    acceptedAt.push(Date.now());
  };
  const loop = async (): Promise<void> => {
    while (!ended) {
      const calls = Array.from({ length: batchSize }, () => callOf(sent++));
      for (const call of calls) {
        for (const destinationId of destinationIds) {
          ledger.owe({ eventId: call.messageId, destinationId, body: bodyOf(call) });
        }
      }
      await send(calls);
      await ledger.until(() => ledger.open <= mostOpen);
      await pace(batchEveryMs);
    }
  };
  const looping = [loop(), loop()];
  const end = async (): Promise<void> => {
    ended = true;
    await Promise.all(looping);
  };
  return {
    get sent() {
      return sent;
    },
    get repeated() {
      return repeated;
    },
    acceptedAt,
    end,
    [Symbol.asyncDispose]: end,
  };
}

async function accepts(pod: Pod | undefined, batch: readonly NumberedCall[]): Promise<boolean> {
  if (!pod) return false;
  const headers = { authorization: `Basic ${btoa('wk_web:')}` };
  return fetch(`${pod.url}/v1/batch`, { method: 'POST', headers, body: JSON.stringify({ batch }) }).then(
    async (response) => (await response.text()) === '{"success":true}',
    () => false,
  );
}

/** For each step, the longest time in which its stage produced nothing. */
async function reportPauses(
  t: TestContext,
  steps: readonly (Step & { readonly component: string })[],
  { kafka, names, ledger }: Setting,
  acceptedAt: readonly number[],
): Promise<void> {
  const outputs: Readonly<Record<string, readonly number[]>> = {
    ingest: acceptedAt,
    router: (await readAll(kafka, names.deliveries)).map(({ timestamp }) => timestamp),
    delivery: ledger.entries.filter(({ what }) => what === 'asked').map(({ at }) => at),
  };
  for (const { component, what, from, until } of steps) {
    const output = outputs[component];
    const took = `${((until - from) / 1_000).toFixed(1)} s`;
    if (!output) t.diagnostic(`${component}: ${what}: ${took}`);
    else {
      const longest = longestPause(output, from, until);
      t.diagnostic(`${component}: ${what}: ${took}, at most ${(longest / 1_000).toFixed(1)} s without work`);
    }
  }
}

async function explain(t: TestContext, { kafka, names, ledger, pods }: Setting): Promise<void> {
  const logs = pods.delivery.all.map(({ process }) => process.log.items);
  const written = await readAll(kafka, names.deliveries);
  const copies = (
    await Promise.all([1_000, 2_000, 3_000].map((delayMs) => readAll(kafka, names.retryTier(delayMs))))
  ).flat();
  const { causes, unexplained, oldestMs } = explainRepeats(
    trailsOf({ entries: ledger.entries, written, copies, logs }),
    movesIn(logs, names.deliveries),
    repeatableMs,
  );
  const counts = Object.entries(causes).map(([cause, count]) => `${cause} ${count}`);
  t.diagnostic(`repeats by cause: ${counts.join(', ')}; last seen at most ${oldestMs} ms before it`);
  for (const sentence of unexplained) {
    const [eventId = ''] = sentence.split(' ', 1);
    const lines = logs.flat().filter((line) => JSON.stringify(line).includes(`"${eventId}"`));
    const records = [...written, ...copies].filter((record) => headerOf(record, 'event-id') === eventId);
    for (const line of lines) t.diagnostic(JSON.stringify(line));
    for (const { topic, partition, offset, timestamp, headers } of records) {
      const shown = ['attempt', 'reason', 'due-at'].map(
        (name) => `${name}=${headers[name]?.toString() ?? ''}`,
      );
      t.diagnostic(
        `${topic} ${partition}:${offset} at ${new Date(timestamp).toISOString()} ${shown.join(' ')}`,
      );
    }
  }
  assert.deepEqual(unexplained, []);
}
