/** A group consumer while its group waits for a killed member, against a real broker. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { connectKafka } from '@tailrace/kafka';
import { sharedBroker } from '../support/kafka/broker.ts';
import { collect, eventually, limitMs } from '@tailrace/testing';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { joinGroup, openKafka } from '../support/kafka/kafka-client.ts';

const ignore = (): void => undefined;

test('work that finishes while the group waits for a killed member is committed meanwhile', async () => {
  const { brokers } = await sharedBroker();
  await using kafka = openKafka(brokers);
  await using admin = await connectAdmin(brokers);
  const topic = await kafka.createTopic({ partitions: 2 });
  const group = { groupId: `${topic}.group`, topics: [topic] };

  const lines = collect<string>('lines of the log', (line) => line);
  const debug = (_fields: object, message: string): void => {
    lines.add(message);
  };
  const watched = connectKafka(
    { brokers, clientId: 'stays' },
    { debug, info: ignore, warn: ignore, error: ignore },
  );
  const rebalances: boolean[] = [];
  const stays = await joinGroup(watched, {
    ...group,
    onRebalance: (isSharedOut) => {
      rebalances.push(isSharedOut);
    },
  });
  const program = `
    import { connectKafka } from '@tailrace/kafka';
    const ignore = () => undefined;
    const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
    const [brokers, topic] = process.argv.slice(1);
    const kafka = connectKafka({ brokers: brokers.split(','), clientId: 'killed' }, log);
    await kafka.consume({ groupId: topic + '.group', topics: [topic], onRecord: ignore });`;
  const killed = spawn(
    process.execPath,
    ['--input-type=module', '--eval', program, brokers.join(','), topic],
    { cwd: import.meta.dirname, stdio: 'ignore', timeout: limitMs },
  );
  await eventually(
    () => stays.partitions.length,
    (partitions) => partitions === 1,
  );
  const partition = stays.partitions[0]?.partition ?? NaN;
  const publisher = kafka.publisher();
  await publisher.publish({ topic, partition, key: null, value: 'v' });
  const [record] = await stays.records.waitFor(1);

  killed.kill('SIGKILL');
  const rebalancesBefore = rebalances.length;
  const linesBefore = lines.items.length;
  const joining = joinGroup(kafka, group);
  await lines.waitFor((all) => all.slice(linesBefore).some((line) => line.includes('group is rebalancing')));
  record?.done();
  await eventually(
    () => admin.committed(group.groupId, topic),
    (committed) => committed[partition] === 1,
  );
  assert.equal(rebalances.length, rebalancesBefore, 'the group still waits');

  const joined = await joining;
  await eventually(
    () => rebalances.slice(rebalancesBefore),
    (since) => String(since) === 'true,false',
  );
  await Promise.all([watched.close(), joined.close()]);
});
