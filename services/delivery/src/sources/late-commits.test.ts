/** While nothing can be committed, nothing new is started: it would all be repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { destinationOf, names, newDelivery, Stage } from '../testing/stage.ts';

const crm = destinationOf('crm');

test('17.2 without answers to commits only what finished in 2 s is sent, of 40 s of deliveries and of retries that are due', async () => {
  await using stage = new Stage({ scheduleMs: [10_000] });
  const { time, cluster } = stage;
  await stage.configure(crm);
  const { sender, lanes } = await stage.startReplica();
  await stage.publish(newDelivery('crm'));
  await stage.untilCommitted(1);
  const due = newDelivery('crm', { attempt: 1, firstAttemptAt: Date.now(), dueAt: Date.now() + 8_000 });
  await stage.publish(due, names.retryTier(10_000));

  cluster.pauseOffsetCommits();
  for (let nth = 0; nth < 400; nth += 1) {
    await stage.publish(newDelivery('crm'));
    await time.pass(100);
  }
  const sent = sender.requests.length - 1;
  assert.ok(sent >= 18 && sent <= 21, `${sent} sent`);
  assert.equal(lanes.running, 0);

  cluster.resumeOffsetCommits();
  await stage.untilCommitted(401);
  await stage.untilCommitted(1, names.retryTier(10_000));
  assert.equal(sender.requests.length, 402);
  assert.equal(new Set(sender.bodies).size, 402);
});

test('17.2 a delivery whose destination was looked up meanwhile is not sent before commits are answered', async () => {
  await using stage = new Stage();
  const { time, cluster } = stage;
  const erp = destinationOf('erp');
  await stage.configure({ ...crm, enabled: false }, erp);
  const replica = await stage.startReplica();
  const { sender, lanes } = replica;
  const release = replica.holdLookUp();
  await stage.publish(newDelivery('crm'));
  await stage.until(() => lanes.running === 1);
  await stage.configure(crm, erp);
  cluster.pauseOffsetCommits();
  await stage.publish(newDelivery('erp'));
  await stage.until(() => lanes.paused);

  release();
  await time.pass(10_000);
  assert.deepEqual([sender.requests.length, lanes.running], [1, 0]);
  cluster.resumeOffsetCommits();
  await stage.untilCommitted(2);
  assert.deepEqual(
    sender.requests.map(({ destinationId }) => destinationId),
    ['erp', 'crm'],
  );
});

test('commits that take 0.9 s hold nothing', async () => {
  await using stage = new Stage();
  const { time, cluster } = stage;
  await stage.configure(crm);
  const { sender } = await stage.startReplica();
  cluster.offsetCommitMs = 900;
  for (let nth = 1; nth <= 100; nth += 1) {
    await stage.publish(newDelivery('crm'));
    await time.pass(100);
    assert.equal(sender.requests.length, nth);
  }
});
