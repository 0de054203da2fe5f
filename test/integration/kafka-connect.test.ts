/** Creating and comparing topics, and the errors when Kafka cannot be reached. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import { limitMs } from '@tailrace/testing';
import { sharedBroker } from '../support/kafka/broker.ts';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { closedPort } from '../support/receivers/receiver.ts';
import { uniquePrefix } from '../support/kafka/topics.ts';

let brokers: readonly string[];
let kafka: TestKafka;
before(async () => {
  ({ brokers } = await sharedBroker());
  kafka = openKafka(brokers);
});
after(() => kafka.close());

test('a broker that answers is pinged', async () => {
  await kafka.ping();
});

test('the error names a port that refuses connections, and what to check', async () => {
  const address = `127.0.0.1:${await closedPort()}`;
  await using kafka = openKafka([address]);
  await assert.rejects(kafka.ping({ timeoutMs: limitMs }), (error) => {
    assert.ok(isTailraceError(error, 'kafka-unavailable'), String(error));
    assert.ok(error.message.includes(address), error.message);
    assert.match(error.message, /KAFKA_BROKERS/);
    return true;
  });
  for (const call of [
    kafka.listTopics(),
    kafka.ensureTopics([]),
    kafka.follow({ topic: 'any', onRecord: () => undefined }),
  ]) {
    await assert.rejects(call, { code: 'kafka-unavailable' });
  }
});

test('a consumer that finds no broker ends when its client closes', async () => {
  const kafka = openKafka([`127.0.0.1:${await closedPort()}`]);
  const opening = kafka.consume({ groupId: 'any', topics: ['any'], onRecord: () => undefined });
  await kafka.log.find(({ message }) => message === 'Kafka unavailable, retrying');
  await Promise.all([kafka.close(), assert.rejects(opening, { code: 'shutting-down' })]);
});

// The library itself would retry for a minute.
test('the error names a port that does not answer in time, and closing does not wait for it', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const kafka = openKafka([address]);
  await assert.rejects(kafka.ping({ timeoutMs: 300 }), (error) => {
    assert.ok(isTailraceError(error, 'kafka-unavailable'), String(error));
    assert.ok(error.message.includes(address), error.message);
    assert.match(error.message, /within 300 ms/);
    return true;
  });
  await kafka.close();
  silent.close();
  for (const socket of sockets) socket.destroy();
});

test('topics are created once, and a difference is reported with its fix and left unchanged', async () => {
  const prefix = uniquePrefix();
  const wanted = {
    name: `${prefix}wanted`,
    partitions: 2,
    config: { 'cleanup.policy': 'delete', 'retention.ms': '60000' },
  };
  const plain = { name: `${prefix}plain`, partitions: 1, config: {} };
  assert.deepEqual(await kafka.ensureTopics([wanted]), [
    { name: wanted.name, outcome: 'created', differences: [] },
  ]);
  assert.deepEqual(await kafka.ensureTopics([wanted, plain]), [
    { name: wanted.name, outcome: 'exists', differences: [] },
    { name: plain.name, outcome: 'created', differences: [] },
  ]);
  const names = await kafka.listTopics();
  assert.ok(names.includes(wanted.name) && names.includes(plain.name));

  const changed = { ...wanted, partitions: 5, config: { ...wanted.config, 'retention.ms': '90000' } };
  for (let time = 1; time <= 2; time++) {
    const [report] = await kafka.ensureTopics([changed]);
    assert.equal(report?.outcome, 'differs');
    const [partitions, retention, ...more] = report.differences;
    assert.match(partitions ?? '', /^it has 2 partitions and should have 5: add them/);
    assert.match(retention ?? '', /^retention\.ms is 60000 and should be 90000: .*retention\.ms=90000/);
    assert.deepEqual(more, []);
  }
  const [fewer] = await kafka.ensureTopics([{ ...wanted, partitions: 1 }]);
  assert.match(fewer?.differences[0] ?? '', /set TAILRACE_PARTITIONS to 2$/);
});

test('processes that create the same topics at the same time all succeed', async () => {
  await using other = openKafka(brokers);
  for (let round = 0; round < 3; round++) {
    const prefix = uniquePrefix();
    const specs = Array.from({ length: 5 }, (_, nth) => ({
      name: `${prefix}${nth}`,
      partitions: 2,
      config: { 'cleanup.policy': 'compact' },
    }));
    const reports = await Promise.all([kafka, other, kafka].map((kafka) => kafka.ensureTopics(specs)));
    for (const report of reports.flat()) {
      assert.ok(report.outcome === 'created' || report.outcome === 'exists', JSON.stringify(report));
    }
  }
});

test("the error for a refused topic setting includes Kafka's message", async () => {
  const name = `${uniquePrefix()}refused`;
  await assert.rejects(
    kafka.ensureTopics([{ name, partitions: 1, config: { 'retention.ms': 'for ever' } }]),
    (error) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, /config/i);
      return true;
    },
  );
});
