import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { NotYet, patiently, startPatience } from './patience.ts';

test('nothing is attempted after the end of the patience', async () => {
  using time = simulateTime();
  let attempts = 0;
  const patience = startPatience(() => undefined, 1_200);
  const work = patiently(patience, 'a leader', () => {
    attempts += 1;
    return Promise.reject(new NotYet('no leader'));
  });
  await assert.rejects(time.settled(work), /^TailraceError: Still waiting for a leader after 1\.2 s/);
  const before = attempts;
  await time.pass(10_000);
  assert.equal(attempts, before);
});

for (const hasAnswered of [true, false]) {
  const title = hasAnswered
    ? 'is waited for once Kafka has answered'
    : 'is an error before Kafka has answered';
  test(`a broker that cannot be connected to ${title}`, async () => {
    using time = simulateTime();
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { name: 'KafkaJSConnectionError' });
    let attempts = 0;
    const work = patiently(startPatience(), 'the list of topics', (waitFor) => {
      if (hasAnswered) waitFor('the creation of partitions');
      attempts += 1;
      return attempts === 1 ? Promise.reject(refused) : Promise.resolve('created');
    });
    if (hasAnswered) assert.equal(await time.settled(work), 'created');
    else await assert.rejects(time.settled(work), refused);
  });
}
