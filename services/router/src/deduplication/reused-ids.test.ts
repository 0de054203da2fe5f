/** Events with a messageId that was used before with other content, through routers on an in-memory cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeDelivery, type Delivery } from '@tailrace/records';
import { openStage, type Stage } from '../testing/stage.ts';
import { ReusedIds } from './reused-ids.ts';

const order = { type: 'track', userId: 'ada', messageId: 'order-17', event: 'Order Completed' };
const forged = { ...order, properties: { total: 0 } };
const genuine = { ...order, properties: { total: 25.5 } };
const last = { ...order, messageId: 'last' };

/** Publishes the calls, and returns the deliveries of all calls of the topic once the last one is routed. */
async function routed(stage: Stage, calls: readonly object[]): Promise<Delivery[]> {
  const headers = { 'source-id': 'web' };
  for (const call of calls) await stage.publish({ key: 'ada', value: JSON.stringify(call), headers });
  const end = `last-${stage.deliveries.items.length}`;
  await stage.publish({ key: 'ada', value: JSON.stringify({ ...last, messageId: end }), headers });
  const records = await stage.deliveries.waitFor((found) =>
    found.map(decode).some(({ eventId }) => eventId === end),
  );
  return records.map(decode).filter(({ eventId }) => eventId === order.messageId);
}

function decode(record: Stage['deliveries']['items'][number]): Delivery {
  const delivery = decodeDelivery(record);
  if (typeof delivery === 'string') assert.fail(delivery);
  return delivery;
}

const totals = (deliveries: readonly Delivery[]): unknown[] =>
  deliveries.map(({ body }) => (JSON.parse(body.toString()) as typeof genuine).properties.total);

test('3.7 an event is delivered although another call used its messageId first, under a delivery id of its own', async () => {
  await using stage = await openStage();
  const deliveries = await routed(stage, [forged, genuine, genuine, forged]);
  assert.deepEqual(totals(deliveries), [0, 25.5]);
  assert.equal(new Set(deliveries.map(({ deliveryId }) => deliveryId)).size, 2);
  await stage.router.stop();
  const { sourceId, events, messageId } = await stage.router.log.find(({ level }) => level === 'warn');
  assert.deepEqual([sourceId, events, messageId], ['web', 1, 'order-17']);
});

test('it is delivered after a restart too, and its repeat is dropped after the next one', async () => {
  await using stage = await openStage();
  await routed(stage, [forged]);
  await stage.router.stop();
  const second = await stage.start();
  const before = await routed(stage, [genuine]);
  assert.deepEqual(totals(before), [0, 25.5]);
  await second.stop();
  await stage.start();
  assert.deepEqual(totals(await routed(stage, [genuine, forged])), [0, 25.5]);
});

test('a source has one line a minute, with the number of its events and the first id', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const lines: unknown[] = [];
  let counted = 0;
  const reused = new ReusedIds({
    metrics: { reusedIds: { inc: () => (counted += 1) } },
    log: { warn: (...line: unknown[]) => lines.push(line) },
  });
  const text = 'message ids reused with other content';
  for (let nth = 1; nth <= 10_000; nth += 1) reused.report('web', `m-${nth}`);
  reused.report('app', 'a-1');
  t.mock.timers.tick(60_000);
  assert.deepEqual(lines.splice(0), [
    [{ sourceId: 'web', events: 10_000, messageId: 'm-1' }, text],
    [{ sourceId: 'app', events: 1, messageId: 'a-1' }, text],
  ]);
  t.mock.timers.tick(60_000);
  assert.deepEqual(lines, []);
  reused.report('web', 'm-2');
  reused.close();
  assert.deepEqual(lines, [[{ sourceId: 'web', events: 1, messageId: 'm-2' }, text]]);
  assert.equal(counted, 10_002);
});
