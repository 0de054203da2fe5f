/** Routers whose transforms are running while they join and stop. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeDelivery, type Delivery } from '@tailrace/records';
import { eventually } from '@tailrace/testing';
import { groupId, names, openStage, toCrm } from './testing/stage.ts';

test('11.1 17.1 each event has its body, in the order of its user, while routers join and stop', async () => {
  const code = `({ userId, properties }) => {
    let sum = 0;
    for (let n = 0; n < 2_000; n += 1) sum += n;
    return { body: { userId, nth: properties.nth, sum }, headers: { 'X-Nth': String(properties.nth) } };
  }`;
  const destinations = toCrm.destinations.map((destination) => ({ ...destination, transform: { code } }));
  await using stage = await openStage({ partitions: 4, configuration: { ...toCrm, destinations } });
  const users = Array.from({ length: 8 }, (_, nth) => `u-${nth}`);
  let sent = 0;
  const publish = async (count: number): Promise<void> => {
    for (const last = sent + count; sent < last; sent += 1) {
      const nth = sent;
      const calls = users.map((userId) => ({
        type: 'page',
        userId,
        messageId: `${userId}/${nth}`,
        properties: { nth },
      }));
      await Promise.all(
        calls.map((call) =>
          stage.publish({ key: call.userId, value: JSON.stringify(call), headers: { 'source-id': 'web' } }),
        ),
      );
    }
  };
  const delivered = (): readonly Delivery[] =>
    stage.cluster.records(names.deliveries).map((record) => {
      const delivery = decodeDelivery(record);
      return typeof delivery === 'string' ? assert.fail(delivery) : delivery;
    });
  const isDelivered = (): boolean =>
    new Set(delivered().map(({ deliveryId }) => deliveryId)).size === sent * users.length;

  await publish(40);
  const second = stage.start();
  await publish(20);
  await second;
  await publish(40);
  await stage.router.stop();
  await publish(20);
  await eventually(isDelivered, (is) => is);
  const committed = (): number =>
    [...stage.cluster.group(groupId).offsets].reduce(
      (sum, [place, { offset }]) => sum + (place.startsWith(`${names.events}/`) ? offset : 0),
      0,
    );
  await eventually(committed, (offsets) => offsets === sent * users.length);

  const nthOf = ({ body }: Delivery): number => (JSON.parse(body.toString()) as { nth: number }).nth;
  for (const user of users) {
    const first = new Map<string, Delivery>();
    for (const delivery of delivered().filter(({ key }) => key.endsWith(`/${user}`))) {
      const known = first.get(delivery.deliveryId);
      if (known)
        assert.deepEqual([delivery.body, delivery.requestHeaders], [known.body, known.requestHeaders]);
      else first.set(delivery.deliveryId, delivery);
    }
    assert.deepEqual(
      Array.from(first.values(), nthOf),
      Array.from({ length: sent }, (_, nth) => nth),
      user,
    );
  }
  assert.ok(
    delivered().every(
      (one) => one.transformVersion === 1 && one.requestHeaders?.['X-Nth'] === String(nthOf(one)),
    ),
  );
});
