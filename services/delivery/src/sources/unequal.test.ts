/** The delivery service when `deliveries` and its other topics have different numbers of partitions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveryKey, encodeDelivery, type Delivery } from '@tailrace/records';
import { pauseTierMs } from '@tailrace/topology';
import { gone, serverError, success } from '../testing/fake-sender.ts';
import { bodiesOf, deliveriesFor } from '../testing/crowd.ts';
import { destinationOf, names, newDelivery, Stage } from '../testing/stage.ts';

const tierMs = 60_000;
/** The retry topic of the schedule, and that of paused destinations. */
const tiers = [names.retryTier(tierMs), names.retryTier(pauseTierMs)];

test('delivery does not start while partition counts differ, names the topics and the fix, and starts when they are equal', async () => {
  await using stage = new Stage({ partitions: 2, scheduleMs: [tierMs] });
  const { cluster } = stage;
  await cluster.addPartitions(names.deliveries, 4);
  const starting = stage.startReplica();
  const messages = (): string[] => stage.log.map(({ msg }) => String(msg));
  const last = (part: string) => stage.until(() => messages().at(-1)?.includes(part) ?? false);
  await last('equally many');
  assert.ok(messages().at(-1)?.includes(`${names.deliveries} (4 partitions)`), messages().at(-1));
  assert.ok(messages().at(-1)?.includes('npx tailrace topics apply --partitions 4 --only deliveries'));
  assert.ok(!messages().includes('ready'));
  for (const topic of [...tiers, names.deliveriesReplay]) await cluster.addPartitions(topic, 4);
  await last(`${names.deliveriesDead} (2 partitions)`);
  await cluster.addPartitions(names.deliveriesDead, 4);
  await starting;
  assert.equal(messages().at(-1), 'ready');
});

test('delivery reports partitions added to deliveries alone, and loses no retry and no dead letter', async () => {
  await using stage = new Stage({ partitions: 2, scheduleMs: [tierMs] });
  const { cluster } = stage;
  const ids = ['healthy', 'gone', 'failing'];
  await stage.configure(...ids.map((id) => destinationOf(id)));
  const replica = await stage.startReplica();
  const { sender } = replica;
  const seen = new Set<string>();
  sender.onRequest = ({ destinationId, body }) => {
    if (destinationId === 'gone') return gone;
    const isFirst = !seen.has(String(body));
    seen.add(String(body));
    return destinationId === 'failing' && isFirst ? serverError : success;
  };
  await cluster.addPartitions(names.deliveries, 4);

  const perDestination = 80;
  const deliveriesOf = (id: string): Delivery[] =>
    Array.from({ length: perDestination }, (_, nth) => newDelivery(id, { key: deliveryKey(id, `u-${nth}`) }));
  const deliveries = new Map(ids.map((id) => [id, deliveriesOf(id)]));
  for (const list of deliveries.values()) {
    await stage.write(...list.map((delivery, nth) => encodeDelivery(names.deliveries, delivery, nth % 4)));
  }
  const sentTo = (id: string) => sender.requests.filter(({ destinationId }) => destinationId === id);
  await stage.until(() =>
    ids.every((id) => new Set(sentTo(id).map(({ body }) => String(body))).size === perDestination),
  );
  const check = async () => (await replica.series()).get('tailrace_check_ok{check="partition-counts"}');
  await stage.time.pass(30_000);
  assert.equal(await check(), 0);
  assert.equal((await replica.series()).get('tailrace_ready'), 1);
  assert.ok(stage.log.some(({ msg }) => String(msg).includes('--partitions 4 --only deliveries')));
  assert.equal((await replica.series()).get('tailrace_missing_partitions'), 8);

  const counted = async () =>
    (await replica.series()).get('tailrace_dead_letters_total{reason="client-error"}') ?? 0;
  const written = cluster.records(names.deliveriesDead).length;
  assert.ok((await counted()) <= written && written <= perDestination / 2, `${written} written`);

  for (const topic of [names.deliveriesDead, ...tiers, names.deliveriesReplay])
    await cluster.addPartitions(topic, 4);
  await stage.records(names.deliveriesDead, perDestination);
  await stage.until(() => sentTo('failing').length >= 2 * perDestination);
  await stage.untilCommitted(3 * perDestination);
  assert.equal(await counted(), perDestination);
  // Each delivery failed once, so each has two requests.
  const failing = deliveries.get('failing') ?? [];
  assert.deepEqual(bodiesOf(sentTo('failing')), bodiesOf([...failing, ...failing]));
  await stage.time.pass(30_000);
  assert.equal(await check(), 1);
});

test('7.7 a single replica uses the whole rate limit of ten a second, also where other partitions were configured', async () => {
  await using stage = new Stage({ partitions: 2 });
  const crm = destinationOf('crm', { rateLimit: 10 });
  await stage.configure(crm);
  // The topics have two partitions.
  const { sender } = await stage.startReplica({ env: { TAILRACE_PARTITIONS: '60' } });
  const at: number[] = [];
  sender.onRequest = () => {
    at.push(Date.now());
    return success;
  };
  await stage.publish(deliveriesFor([crm], 40));
  await sender.sent(40);
  const simulatedMs = (at.at(-1) ?? NaN) - (at[0] ?? NaN);
  assert.ok(simulatedMs >= 3_800 && simulatedMs <= 4_000, `${simulatedMs} ms for 40 at 10 a second`);
});
