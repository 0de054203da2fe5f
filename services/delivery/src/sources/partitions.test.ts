import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import { topicNames } from '@tailrace/topology';
import { watchPartitions } from './partitions.ts';

const names = topicNames('');
const topics = [names.deliveries, names.deliveriesReplay, names.retryTier(10_000)];

function open(counts: Map<string, number>) {
  const said: string[] = [];
  const say =
    (level: string) =>
    (_fields: object, message: string): void => {
      said.push(`${level}: ${message}`);
    };
  return {
    said,
    watch: () =>
      watchPartitions({
        kafka: {
          describeTopics: (wanted) =>
            Promise.resolve(
              new Map(
                wanted.flatMap((topic) => {
                  const partitions = counts.get(topic);
                  return partitions === undefined ? [] : [[topic, { partitions, replicationFactor: 1 }]];
                }),
              ),
            ),
        },
        names,
        topics,
        everyMs: 10_000,
        log: { error: say('error'), info: say('info'), warn: say('warn') } as Parameters<
          typeof watchPartitions
        >[0]['log'],
      }),
  };
}

/** Resolves after the next check. */
async function nextLook(): Promise<void> {
  mock.timers.tick(10_000);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

const equal = (): Map<string, number> =>
  new Map([...topics, names.deliveriesDead].map((topic) => [topic, 6]));

test('the service does not start with unequal counts, including the dead letters, and the error has a hint', async () => {
  await assert.rejects(open(equal().set(names.deliveriesDead, 4)).watch(), (error) => {
    assert.ok(isTailraceError(error, 'unequal-partitions'));
    assert.equal(error.status, 503, 'it is waited for');
    assert.match(error.message, /deliveries\.dead \(4 partitions\).*--partitions 6 --only deliveries/);
    return true;
  });
});

test('counts that become unequal are reported by the second check, and again when they are equal', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const counts = equal();
  const { said, watch } = open(counts);
  const watching = await watch();
  assert.deepEqual([watching.deliveries, watching.missing], [6, 0]);
  await watching.check();

  counts.set(names.deliveries, 8);
  await nextLook();
  assert.equal(watching.deliveries, 8, 'shares of a rate limit follow');
  await watching.check();
  assert.equal(said.length, 0);
  await nextLook();
  assert.equal(watching.missing, 6);
  await assert.rejects(watching.check(), /deliveries \(8 partitions\)/);
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /^error: These topics must have equally many partitions/);

  for (const topic of counts.keys()) counts.set(topic, 8);
  await nextLook();
  await watching.check();
  assert.equal(watching.missing, 0);
  assert.equal(said.at(-1), 'info: partition counts are equal again');
  watching.close();
  mock.timers.reset();
});
