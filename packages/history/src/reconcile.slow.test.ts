/** Deliveries that have ended without a record of it, on an in-memory Kafka cluster and simulated time. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Kafka } from '@tailrace/kafka';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { simulateTime } from '@tailrace/testing';
import { encodeDelivery } from '@tailrace/records';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { History } from './history.ts';
import { createFlow } from './testing/index.ts';

const names = topicNames('test.');
const group = 'test.delivery';
const tier = names.retryTier(10_000);
const minuteMs = 60_000;

/** A cluster, the delivery group as a consumer that finishes what the test says, and histories that follow it. */
class Stage implements AsyncDisposable {
  readonly time = simulateTime();
  readonly cluster = new MemoryCluster();
  readonly kafka: Kafka = this.cluster.connect();
  readonly flow = createFlow(this.kafka, names);
  readonly warnings: string[] = [];
  readonly #opened: History[] = [];
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'tailrace-reconcile-'));

  constructor() {
    for (const { name } of topicSpecs(names, { partitions: 1, retryScheduleMs: [10_000] })) {
      this.cluster.createTopic(name, { partitions: 1 });
    }
  }

  /** Commits as delivery does: all deliveries of a topic but those with these ids are finished. */
  async finishAllBut(topic: string, ...unfinished: readonly string[]): Promise<void> {
    const { length } = this.cluster.records(topic);
    const received: string[] = [];
    const consumption = await this.time.settled(
      this.kafka.consume({
        groupId: group,
        topics: [topic],
        onRecord(record) {
          const id = String(record.headers['delivery-id']);
          received.push(id);
          if (!unfinished.includes(id)) record.done();
        },
      }),
    );
    await this.time.until(() => received.length === length);
    await this.time.settled(consumption.close());
  }

  open(): History {
    const log = {
      info: () => undefined,
      warn: (_: unknown, line?: string) => this.warnings.push(line ?? ''),
    };
    const history = new History({
      kafka: this.kafka,
      names,
      deliveryGroup: group,
      log,
      folder: path.join(this.#folder, String(this.#opened.length)),
      limits: { maxAgeMs: 7 * 24 * 60 * minuteMs, maxBytes: 2 ** 30 },
    });
    this.#opened.push(history);
    return history;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.time.settled(Promise.all(this.#opened.map((history) => history.close())));
    await this.time.settled(this.kafka.close());
    this.time[Symbol.dispose]();
    rmSync(this.#folder, { recursive: true });
  }
}

function pendingOf(history: History): number {
  return history
    .read((queries) => queries.pendingOf('crm'))
    .reduce((sum, { deliveries }) => sum + deliveries, 0);
}

test('a delivery has ended if delivery has finished its latest record and nothing follows it', async () => {
  await using stage = new Stage();
  const { flow, time } = stage;
  const [delivered, lost, sending, lostBehind, retrying, lostRetry] = Array.from({ length: 6 }, () =>
    flow.delivery('crm'),
  );
  assert.ok(delivered && lost && sending && lostBehind && retrying && lostRetry);
  const all = [delivered, lost, sending, lostBehind, retrying, lostRetry];
  for (const delivery of all) await time.settled(flow.publish(names.deliveries, delivery));
  await time.settled(flow.attempt(delivered, 'delivered'));
  for (const delivery of [retrying, lostRetry]) {
    const retry = { ...delivery, attempt: 1, reason: 'timeout', dueAt: Date.now() + 10_000 };
    await time.settled(flow.publish(tier, retry));
  }
  await stage.finishAllBut(names.deliveries, sending.deliveryId);
  await stage.finishAllBut(tier, retrying.deliveryId);
  const history = stage.open();
  await time.pass(minuteMs);
  const statuses = all.map(
    ({ deliveryId }) => history.read((queries) => queries.findDelivery(deliveryId))?.state.status,
  );
  assert.deepEqual(statuses, ['delivered', 'unknown', 'waiting', 'unknown', 'retrying', 'unknown']);
  assert.equal(pendingOf(history), 2);
  assert.equal(history.read((queries) => queries.listDeliveries({ status: 'unknown' }, 10)).rows.length, 3);
  const flowNow = history.read((queries) =>
    queries.flowOf({ since: 0, until: Date.now() + minuteMs, stepMs: 60 * minuteMs }),
  );
  assert.equal(flowNow.find(({ kind }) => kind === 'unknown')?.count, 3);
  const hour = { since: Date.now() - 60 * minuteMs, until: Date.now() + minuteMs, stepMs: minuteMs };
  assert.equal([...history.read((queries) => queries.backlogOf('crm', hour, 2)).values()].at(-1), 2);
  assert.equal([...history.read((queries) => queries.backlogOf('crm', hour, 2)).values()][0], 0);
  assert.deepEqual(stage.warnings, []);
});

test('a record that was late says how a delivery has ended, and a resend makes it pending again, as after a rebuild', async () => {
  await using stage = new Stage();
  const { flow, time } = stage;
  const [late, resent, lost] = [flow.delivery('crm'), flow.delivery('crm'), flow.delivery('crm')];
  const all = [late, resent, lost];
  for (const delivery of all) await time.settled(flow.publish(names.deliveries, delivery));
  await stage.finishAllBut(names.deliveries);
  const history = stage.open();
  await time.pass(minuteMs);
  const statusesIn = (one: History) =>
    all.map(({ deliveryId }) => one.read((queries) => queries.findDelivery(deliveryId))?.state.status);
  assert.deepEqual(statusesIn(history), ['unknown', 'unknown', 'unknown']);

  await time.settled(flow.attempt(late, 'delivered'));
  await time.settled(flow.publish(names.deliveriesReplay, resent));
  await time.pass(minuteMs);
  const rebuilt = stage.open();
  await time.pass(minuteMs);
  for (const one of [history, rebuilt]) {
    assert.deepEqual(statusesIn(one), ['delivered', 'waiting', 'unknown']);
    assert.equal(pendingOf(one), 1);
    const hour = { since: Date.now() - 60 * minuteMs, until: Date.now() + minuteMs, stepMs: minuteMs };
    assert.equal([...one.read((queries) => queries.backlogOf('crm', hour, 1)).values()][0], 0);
  }
});

test('the backlog counts a delivery once whose late record says that it waits or is dead, whatever its time', async () => {
  await using stage = new Stage();
  const { flow, time, cluster } = stage;
  const [retried, dead] = [flow.delivery('crm'), flow.delivery('crm')];
  // A replay by a control whose clock is ahead.
  const replay = encodeDelivery(names.deliveriesReplay, dead);
  await time.settled(flow.publish(names.deliveries, retried));
  cluster.partition(names.deliveriesReplay, 0)?.append(replay, Date.now() + 10 * minuteMs);
  await stage.finishAllBut(names.deliveries);
  await stage.finishAllBut(names.deliveriesReplay);
  const history = stage.open();
  const statuses = () =>
    [retried, dead].map(
      ({ deliveryId }) => history.read((queries) => queries.findDelivery(deliveryId))?.state.status,
    );
  await time.pass(minuteMs);
  assert.deepEqual(statuses(), ['unknown', 'unknown']);

  const retry = { attempt: 1, reason: 'timeout', dueAt: Date.now() + 10_000 };
  await time.settled(flow.publish(tier, { ...retried, ...retry }));
  await time.settled(flow.publish(names.deliveriesDead, { ...dead, attempt: 1, reason: 'client-error' }));
  await time.pass(minuteMs);
  assert.deepEqual(statuses(), ['retrying', 'dead']);
  await time.settled(flow.attempt(retried, 'delivered'));
  await time.pass(minuteMs);
  assert.deepEqual(statuses(), ['delivered', 'dead']);
  const hour = { since: Date.now() - 60 * minuteMs, until: Date.now() + 60 * minuteMs, stepMs: minuteMs };
  assert.equal([...history.read((queries) => queries.backlogOf('crm', hour, 0)).values()][0], 0);
});

test('a delivery that the router wrote twice has not ended while delivery has finished the second copy only', async () => {
  await using stage = new Stage();
  const { flow, time, kafka } = stage;
  const delivery = flow.delivery('crm');
  for (let copy = 0; copy < 2; copy += 1) await time.settled(flow.publish(names.deliveries, delivery));
  let received = 0;
  const consumption = await time.settled(
    kafka.consume({
      groupId: group,
      topics: [names.deliveries],
      onRecord(record) {
        received += 1;
        if (record.offset === 1) record.done();
      },
    }),
  );
  await time.until(() => received === 2);
  await time.settled(consumption.close());
  const history = stage.open();
  await time.pass(minuteMs);
  assert.equal(history.read((queries) => queries.findDelivery(delivery.deliveryId))?.state.status, 'waiting');
  assert.equal(pendingOf(history), 1);
});

test('nothing has ended while a retry topic is not followed, because a later record may be there', async () => {
  await using stage = new Stage();
  const { flow, time, cluster } = stage;
  const delivery = flow.delivery('crm');
  await time.settled(flow.publish(names.deliveries, delivery));
  await stage.finishAllBut(names.deliveries);
  const history = stage.open();
  await time.pass(1_000);
  cluster.createTopic(names.retryTier(20_000), { partitions: 1 });
  await time.pass(minuteMs);
  assert.equal(history.read((queries) => queries.findDelivery(delivery.deliveryId))?.state.status, 'waiting');
});

test('without an answer of Kafka a delivery is ended later, with one warning', async () => {
  await using stage = new Stage();
  const { flow, time, cluster } = stage;
  const delivery = flow.delivery('crm');
  await time.settled(flow.publish(names.deliveries, delivery));
  await stage.finishAllBut(names.deliveries);
  const history = stage.open();
  await time.pass(1_000);
  cluster.stop();
  await time.pass(10 * minuteMs);
  assert.equal(history.read((queries) => queries.findDelivery(delivery.deliveryId))?.state.status, 'waiting');
  cluster.start();
  await time.until(
    () => history.read((queries) => queries.findDelivery(delivery.deliveryId))?.state.status === 'unknown',
  );
  assert.deepEqual(stage.warnings, ['finding ended deliveries failed, retrying']);
});
