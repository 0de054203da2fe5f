/** A replica that Kafka refuses, because it was removed from its group or for its clock, leaves the work to others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { held, serverError, success } from '../testing/fake-sender.ts';
import { destinationOf, groupId, names, newDelivery, Stage, type Replica } from '../testing/stage.ts';

const crm = destinationOf('crm');

async function isReady(replica: Replica): Promise<boolean> {
  return (await replica.series()).get('tailrace_ready') === 1;
}

test('a replica that was removed from its group sends nothing after its next commit, and shares the work again', async () => {
  await using stage = new Stage({ partitions: 2 });
  const { time, cluster } = stage;
  await stage.configure(crm);
  const removed = await stage.startReplica();
  await stage.publish(newDelivery('crm'));
  await stage.untilCommitted(1);
  cluster.removeMembers(groupId);
  const other = await stage.startReplica();
  const count = 400;
  for (let nth = 0; nth < count; nth += 1) {
    await stage.publish(newDelivery('crm', { key: `crm/${nth}` }));
    await time.pass(100);
  }
  await stage.untilCommitted(count + 1);
  const bodies = [...removed.sender.bodies, ...other.sender.bodies];
  assert.equal(new Set(bodies).size, count + 1);
  const repeats = bodies.length - (count + 1);
  assert.ok(repeats <= 5, `${repeats} repeats`);
  assert.ok(removed.sender.requests.length > 50, 'it works again');
});

test('a delivery whose partition was revoked while its destination was looked up is left to the next owner', async () => {
  await using stage = new Stage();
  const erp = destinationOf('erp');
  await stage.configure({ ...crm, enabled: false }, erp);
  const replica = await stage.startReplica();
  const { sender, lanes } = replica;
  const release = replica.holdLookUp();
  sender.onRequest = () => held;
  await stage.publish([newDelivery('crm'), newDelivery('erp')]);
  await stage.until(() => lanes.running === 2);
  await stage.configure(crm, erp);
  stage.cluster.removeMembers(groupId);
  await stage.startReplica();
  await stage.untilCommitted(2);
  // Its next commit is refused.
  sender.release();
  await stage.time.pass(10_000);
  release();
  await stage.time.pass(10_000);
  assert.deepEqual(
    sender.requests.map(({ destinationId }) => destinationId),
    ['erp'],
  );
});

test('a replica whose clock is refused is not ready and has no partitions until it is accepted', async () => {
  await using stage = new Stage({ scheduleMs: [10_000] });
  const { time, cluster } = stage;
  await stage.configure(crm);
  const replica = await stage.startReplica();
  replica.sender.onRequest = () => serverError;
  await stage.publish(newDelivery('crm'));
  cluster.refusesClock = true;
  await time.pass(10_000);
  assert.equal(await isReady(replica), true);
  // The first record that is refused is that of the second attempt.
  await time.pass(20_000);
  assert.equal(await isReady(replica), false);
  assert.equal(replica.consumption.partitions.length, 0);

  cluster.refusesClock = false;
  replica.sender.onRequest = () => success;
  await stage.untilCommitted(1, names.retryTier(10_000));
  assert.equal(await isReady(replica), true);
});
