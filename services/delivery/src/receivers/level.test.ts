/** Destinations that use features of a newer release, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { pauseTierMs } from '@tailrace/topology';
import { destinationOf, names, newDelivery, Stage } from '../testing/stage.ts';

const crm = destinationOf('crm');
const newer = { ...crm, signer: 'x', requires: [{ feature: 'signer', level: 99, by: 'delivery' }] };

test('a destination that needs a newer release gets nothing until that has changed, and all others get theirs', async () => {
  await using stage = new Stage();
  await stage.configure(destinationOf('erp'));
  await stage.write({ topic: names.config, key: 'destination/crm', value: JSON.stringify(newer) });
  const replica = await stage.startReplica();
  const { sender } = replica;
  const check = async () => (await replica.series()).get('tailrace_check_ok{check="config-level"}');
  await stage.publish([newDelivery('crm'), newDelivery('erp')]);
  const [waiting] = await stage.deliveries(names.retryTier(pauseTierMs));
  assert.equal(waiting?.attempt, 0);
  await stage.untilCommitted(2);
  await stage.time.pass(1_000);
  assert.equal(await check(), 0);
  assert.deepEqual(
    sender.requests.map(({ destinationId }) => destinationId),
    ['erp'],
  );

  await stage.configure(crm);
  await stage.attempts(2);
  assert.deepEqual(
    sender.requests.map(({ destinationId }) => destinationId),
    ['erp', 'crm'],
  );
  await stage.time.pass(1_000);
  assert.equal(await check(), 1);
});
