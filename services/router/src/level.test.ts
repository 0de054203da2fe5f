/** A destination with a filter of a newer release, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { applyConfiguration } from '@tailrace/config';
import { startHere, type LogLine } from '@tailrace/service/testing';
import { collect } from '@tailrace/testing';
import { router } from './open.ts';
import { groupId, names, openStage, toCrm } from './testing/stage.ts';

const [crm] = toCrm.destinations;
const newer = { ...crm, sampling: 0.1, requires: [{ feature: 'sampling', level: 99, by: 'router' }] };

test('events wait while a destination needs a newer router, and a replica that starts then is not ready', async () => {
  await using stage = await openStage();
  const { cluster, kafka, deliveries } = stage;
  const publisher = kafka.publisher();
  await publisher.publish({ topic: names.config, key: 'destination/crm', value: JSON.stringify(newer) });
  await stage.router.log.find(({ msg }) => msg === 'destination needs a newer release');
  const call = (event: string) => ({
    key: 'ada',
    value: JSON.stringify({ type: 'track', writeKey: 'wk_web', userId: 'ada', event }),
  });
  await stage.publish(call('Early'));
  const log = collect<LogLine>('the log of the second router', (line) => JSON.stringify(line));
  const starting = startHere(
    router,
    { KAFKA_BROKERS: 'memory:9092' },
    { connect: (_config, own, observer) => cluster.connect(own, observer), onLine: log.add },
  );
  await log.find(({ code }) => code === 'config-needs-newer-release');
  assert.equal((await cluster.memberIds(groupId)).length, 1);

  // Events that were routed before this would not have been filtered.
  const filter = { events: { exclude: ['Early'] } };
  const fixed = toCrm.destinations.map((destination) => ({ ...destination, filter }));
  await applyConfiguration(kafka, names.config, { ...toCrm, destinations: fixed });
  await using _second = await starting;
  await stage.publish(call('Late'));
  const [first] = await deliveries.waitFor(1);
  assert.match(String(first?.value), /Late/);
});
