/** Metrics, ages and log lines of deliveries, from the record to the page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gone, serverError, success } from '../testing/fake-sender.ts';
import { deliveriesFor } from '../testing/crowd.ts';
import { destinationOf, names, newDelivery, Stage } from '../testing/stage.ts';

const crm = destinationOf('crm');

test('/metrics has total counts, and another page has counts by destination until the destination is deleted', async () => {
  await using stage = new Stage({ partitions: 2 });
  await stage.configure(crm);
  const replica = await stage.startReplica();
  await stage.publish(newDelivery('crm'));
  await stage.untilCommitted(1);
  const page = await replica.series('destinations');
  assert.equal(
    page.get('tailrace_destination_attempts_total{destination_id="crm",outcome="delivered",reason=""}'),
    1,
  );
  const totals = await replica.series();
  assert.equal(totals.get('tailrace_delivery_attempts_total{outcome="delivered",reason=""}'), 1);
  assert.doesNotMatch([...totals.keys()].join(), /destination_id|partition=|example\.com/);
  assert.deepEqual(
    [...totals.keys()].filter((name) => page.has(name)),
    [],
  );
  const lag = `tailrace_partition_lag_records{topic="${names.deliveries}",partition="1"}`;
  assert.equal((await replica.series('partitions')).get(lag), 0);
  assert.deepEqual([...(await replica.series('sources'))], []);

  await stage.configureOnly();
  const ofCrm = [...(await replica.series('destinations')).keys()].filter((name) => name.includes('"crm"'));
  assert.deepEqual(ofCrm, []);
  await stage.publish([newDelivery('crm'), newDelivery('made-up')]);
  await stage.deliveries(names.deliveriesDead, 2);
  await stage.untilCommitted(3);
  const unknown =
    'tailrace_destination_dead_letters_total{destination_id="unknown",reason="destination-deleted"}';
  assert.equal((await replica.series('destinations')).get(unknown), 2);
});

test('ages are measured from the acceptance time, which every retry and the dead letter keep', async () => {
  await using stage = new Stage({ scheduleMs: [1_000] });
  await stage.configure(crm);
  const replica = await stage.startReplica();
  replica.sender.onRequest = () => serverError;
  const acceptedAt = Date.now() - 120_000;
  await stage.publish(newDelivery('crm', { acceptedAt }));
  assert.equal((await stage.delivery(names.retryTier(1_000))).acceptedAt, acceptedAt);
  assert.equal((await stage.deadLetter()).acceptedAt, acceptedAt);
  const bucket = async (name: string, labels: string, le: number) =>
    (await replica.series()).get(`${name}_bucket{${labels},le="${le}"}`);
  const delay = 'tailrace_delivery_first_attempt_delay_seconds';
  assert.equal(await bucket(delay, 'held_by="none"', 60), 0);
  assert.equal(await bucket(delay, 'held_by="none"', 300), 1);

  replica.sender.onRequest = () => success;
  // The current form; the form of the previous release; a time from a clock that is an hour ahead.
  const times = [acceptedAt, undefined, Date.now() + 3_600_000];
  await stage.publish(times.map((acceptedAt) => newDelivery('crm', { acceptedAt })));
  await stage.untilCommitted(1 + times.length);
  const age = 'tailrace_delivery_age_seconds';
  assert.equal((await replica.series()).get(`${age}_count{attempt="first"}`), times.length);
  assert.equal(await bucket(age, 'attempt="first"', 60), 2);
  assert.equal(await bucket(age, 'attempt="first"', 300), 3);
});

test('the log has a line for each failed attempt, none for successful ones, and a summary', async () => {
  await using stage = new Stage();
  const [good, bad] = [destinationOf('good'), destinationOf('bad')];
  await stage.configure(good, bad);
  const { sender } = await stage.startReplica();
  sender.onRequest = ({ destinationId }) => (destinationId === 'bad' ? gone : success);
  await stage.publish(deliveriesFor([good, bad], 2));
  await stage.untilCommitted(4);
  await stage.stopReplicas();
  const linesOf = (id: string) =>
    stage.log.filter((line) => line['msg'] === 'attempt' && line['destinationId'] === id);
  assert.equal(linesOf('good').length, 0);
  assert.equal(linesOf('bad').length, 2);
  assert.ok(linesOf('bad').every((line) => line['userKey'] === undefined));
  const failed = stage.log
    .filter(({ msg }) => msg === 'attempt summary')
    .flatMap((line) => line['topFailing'] as { destinationId: string; failed: number }[]);
  assert.deepEqual(
    failed.map(({ destinationId, failed }) => [destinationId, failed]),
    [['bad', 2]],
  );
});
