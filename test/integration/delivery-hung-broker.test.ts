/** Delivery while its connection to Kafka hangs: what is sent that cannot be committed, and what is repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { sharedBroker } from '../support/kafka/broker.ts';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { startKafkaProxy } from '../support/kafka/kafka-proxy.ts';
import { deliveriesFor, destinationOf, openDeliveryStage } from '../support/processes/delivery.ts';
import { delayed, status } from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const scheduleMs = [1_000];
/** Twenty deliveries a second. */
const concurrency = 2;
const answer = delayed(100, status(200));

test('while Kafka hangs nothing is started after 2 s, and only what was sent until then is repeated', async (t) => {
  const { brokers } = await sharedBroker();
  await using admin = await connectAdmin(brokers);
  await using proxy = await startKafkaProxy(brokers[0] ?? '');
  await using receiver = await startReceiver({ answer: () => answer });
  const env = {
    KAFKA_BROKERS: proxy.brokers.join(','),
    TAILRACE_DELIVERY_CONCURRENCY: String(concurrency),
  };
  await using stage = await openDeliveryStage({ partitions: 1, scheduleMs, env });
  const { names } = stage;
  const groupId = names.deliveries.replace(/deliveries$/, 'delivery');
  const sent = (): number => receiver.requests.length;
  let sentWhenHeld = NaN;
  await stage.startHere({
    onLine({ msg }) {
      if (msg === 'commits are late, starting nothing new') sentWhenHeld = sent();
    },
  });
  const destination = destinationOf(receiver.url);
  await stage.configure(destination);
  const [before, after] = [deliveriesFor([destination], 20), deliveriesFor([destination], 200)];
  await stage.publish(before);
  await eventually(
    () => admin.committed(groupId, names.deliveries),
    ([offset]) => offset === before.length,
  );
  await stage.publish(after);
  await receiver.waitFor(before.length + 1);

  proxy.hang();
  // The broker removes the replica after 10 s. Another one would own the partitions from then on.
  await eventually(
    () => admin.memberIds(groupId),
    (ids) => ids.length === 0,
  );
  const sentUntilRemoved = sent();
  t.diagnostic(`${sentWhenHeld} were sent when new ones were held, ${sentUntilRemoved} later`);
  proxy.resume();
  assert.ok(sentUntilRemoved - sentWhenHeld <= concurrency);

  const bodies = (): Set<string> => new Set(receiver.requests.map(({ body }) => body.toString()));
  await receiver.waitFor(() => bodies().size === before.length + after.length);
  const repeats = sent() - bodies().size;
  t.diagnostic(`${repeats} of ${after.length} were repeated`);
  assert.ok(repeats <= sentUntilRemoved - before.length);
});
