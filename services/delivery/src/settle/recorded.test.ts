/** A delivery is committed when the record of its attempt is written, because nothing else says that it was delivered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { destinationOf, names, newDelivery, Stage } from '../testing/stage.ts';

const crm = destinationOf('crm');
const unrecorded = 'tailrace_deliveries_unrecorded_total';

test('17.2 a delivery is committed when the record of its attempt is written, and no other delivery waits for that', async () => {
  await using stage = new Stage();
  const { time, cluster } = stage;
  await stage.configure(crm);
  const replica = await stage.startReplica();
  const { sender } = replica;
  cluster.pauseWrites(names.attempts);
  await stage.publish([newDelivery('crm'), newDelivery('crm')]);
  await stage.until(() => sender.requests.length === 2);
  await time.pass(550);
  await stage.publish(newDelivery('crm'));
  await stage.until(() => sender.requests.length === 3);
  assert.equal(stage.committed(), 0);

  cluster.resumeWrites();
  await stage.untilCommitted(3);
  assert.equal((await stage.attempts(3)).length, 3);
  assert.equal((await replica.series()).get(unrecorded), 0);
});

test('17.2 while attempts cannot be recorded, deliveries are committed within a second, and nothing is held', async () => {
  await using stage = new Stage();
  const { time, cluster } = stage;
  await stage.configure(crm);
  const replica = await stage.startReplica();
  const { sender, consumption } = replica;
  cluster.pauseWrites(names.attempts);
  for (let nth = 1; nth <= 200; nth += 1) {
    await stage.publish(newDelivery('crm'));
    await time.pass(100);
    assert.equal(sender.requests.length, nth);
    assert.ok(consumption.uncommittedMs <= 1_000, `${consumption.uncommittedMs} ms`);
    assert.ok(stage.committed() >= nth - 11, `${stage.committed()} of ${nth}`);
  }
  assert.ok(((await replica.series()).get(unrecorded) ?? 0) >= 189);
});

test('a rebalance repeats no delivery whose attempt is not recorded yet', async () => {
  await using stage = new Stage({ partitions: 4 });
  const { cluster } = stage;
  await stage.configure(crm);
  const first = await stage.startReplica();
  cluster.pauseWrites(names.attempts);
  for (let partition = 0; partition < 4; partition += 1) {
    await stage.publish(newDelivery('crm', { key: `crm/${partition}` }));
  }
  await stage.until(() => first.sender.requests.length === 4);
  const second = await stage.startReplica();
  await stage.untilCommitted(4);
  cluster.resumeWrites();
  await stage.attempts(4);
  assert.deepEqual([first.sender.requests.length, second.sender.requests.length], [4, 0]);
});

test('a stop commits what was delivered, and writes the records of the attempts', async () => {
  await using stage = new Stage();
  await stage.configure(crm);
  const replica = await stage.startReplica();
  await stage.publish(newDelivery('crm'));
  await stage.until(() => replica.sender.requests.length === 1);
  await replica.stop();
  assert.deepEqual([stage.committed(), (await stage.attempts()).length], [1, 1]);
});
