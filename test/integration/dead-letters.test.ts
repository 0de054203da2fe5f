/** `tailrace dead replay` as a process on a real Kafka: interrupted or killed, it publishes each dead letter once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { topicNames, type TopicNames } from '@tailrace/topology';
import { newDeadLetters, type Letter } from '../support/dead-letters.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { startTailrace, tailrace, type RunningCommand } from '../support/processes/cli.ts';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import type { Environment } from '../support/processes/process.ts';
import { createTopics, headerOf, readAll, uniquePrefix, watchTopic } from '../support/kafka/topics.ts';

let brokers: readonly string[];
let kafka: TestKafka;
before(async () => {
  ({ brokers } = await sharedBroker());
  kafka = openKafka(brokers);
});
after(() => kafka.close());

interface Stage {
  readonly names: TopicNames;
  readonly env: Environment;
}

async function createStage(): Promise<Stage> {
  const prefix = uniquePrefix();
  await createTopics(kafka, prefix, { partitions: 3, retryScheduleMs: [10_000] });
  return {
    names: topicNames(prefix),
    env: { KAFKA_BROKERS: brokers.join(','), TAILRACE_TOPIC_PREFIX: prefix },
  };
}

async function writeDeadLetters({ names }: Stage, count: number): Promise<readonly Letter[]> {
  const { letters, records } = newDeadLetters(names.deliveriesDead, count);
  const publisher = kafka.publisher();
  await Promise.all(records.map((record) => publisher.publish(record)));
  await publisher.close();
  return letters;
}

async function idsIn(topic: string): Promise<(string | undefined)[]> {
  return (await readAll(kafka, topic)).map((record) => headerOf(record, 'delivery-id')).sort();
}

function idsOf(letters: readonly Letter[]): string[] {
  return letters.map(({ deliveryId }) => deliveryId).sort();
}

/** Resolves when `count` replays can be read. */
async function replaysReach({ names }: Stage, count: number): Promise<void> {
  await using replays = await watchTopic(kafka, names.deliveriesReplay);
  await replays.waitFor(count);
}

/** Starts a slow replay of all dead letters, and resolves when some are replayed. */
async function startSlowReplay(stage: Stage): Promise<RunningCommand> {
  const running = startTailrace(['dead', 'replay', '--all', '--rate', '1'], stage.env);
  await replaysReach(stage, 1);
  return running;
}

async function replayRest(stage: Stage): Promise<number> {
  const { exitCode, stdout, stderr } = await tailrace(
    ['dead', 'replay', '--all', '--rate', '10000', '--output', 'json'],
    stage.env,
  );
  assert.equal(exitCode, 0, stderr);
  return (JSON.parse(stdout) as { replayed: number }).replayed;
}

test('Ctrl-C ends a replay after the batch in flight, and the same command continues', async () => {
  const stage = await createStage();
  const letters = await writeDeadLetters(stage, 60);
  const running = await startSlowReplay(stage);
  running.kill('SIGINT');
  const { exitCode, stdout } = await running.ended;
  assert.equal(exitCode, 130);
  const done = Number(/^Interrupted: (\d+) of 60 dead letters replayed\. /.exec(stdout)?.[1]);
  assert.ok(done >= 1 && done < 60, stdout);
  assert.equal((await idsIn(stage.names.deliveriesReplay)).length, done);
  assert.equal(await replayRest(stage), 60 - done);
  assert.deepEqual(await idsIn(stage.names.deliveriesReplay), idsOf(letters));
});

test('after kill -9 the same command continues', async () => {
  const stage = await createStage();
  const letters = await writeDeadLetters(stage, 60);
  const running = await startSlowReplay(stage);
  running.kill('SIGKILL');
  assert.equal((await running.ended).exitCode, null);
  const rest = await replayRest(stage);
  assert.ok(rest > 0 && rest < 60, String(rest));
  assert.deepEqual(await idsIn(stage.names.deliveriesReplay), idsOf(letters));
});
