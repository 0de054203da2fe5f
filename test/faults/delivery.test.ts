/**
 * Conservation of the delivery service alone, while it, the broker or receivers fail. No delivery is lost or altered,
 * and every repeat is explained by offsets that were not committed when partitions were revoked or a process was killed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '@tailrace/local';
import * as answers from '../support/receivers/answers.ts';
import { ownBroker, sharedBroker } from '../support/kafka/broker.ts';
import type { ReceiverOptions } from '../support/receivers/receiver.ts';
import { headerOf } from '../support/kafka/topics.ts';
import { joinedAfter } from './evidence.ts';
import { openFleet, type Fleet } from './fleet.ts';

/** Of ten receivers, one fails half of the time and responds late when it succeeds, and one fails in other ways. */
const receivers: readonly ReceiverOptions[] = [
  { answer: oneOf(answers.status(503), answers.delayed(300, answers.status(200))) },
  { answer: oneOf(answers.status(500), answers.reset, answers.status(200)) },
  ...Array.from({ length: 8 }, () => ({})),
];
const schedule = '500ms,500ms,1s,1s,1s,1s,1s';

function oneOf(...list: readonly answers.Answer[]): () => answers.Answer {
  return () => list[Math.floor(Math.random() * list.length)] ?? answers.status(200);
}

async function fleet(): Promise<Fleet> {
  const { brokers } = await sharedBroker();
  return openFleet({ brokers, schedule, receivers });
}

test('delivery loses nothing when it is killed repeatedly during retries', async (t) => {
  await using service = await fleet();
  for (const behind of [false, true, false]) {
    const replica = await service.join();
    if (!behind) await service.caughtUp();
    await service.busy();
    await service.kill(replica);
  }
  await service.join();
  const { killed, ...others } = await service.conclude(t);
  assert.ok(killed > 0, 'requests in flight were repeated');
  assert.deepEqual(others, { moved: 0, 'cut off': 0, 'lost answer': 0, 'written twice': 0 });
});

test('delivery loses nothing when replicas join, leave and are killed', async (t) => {
  await using service = await fleet();
  const first = await service.join();
  await service.busy();
  const second = await service.join();
  await service.busy();
  const third = await service.join();
  await service.busy();
  await first.stop();
  await service.busy();
  const fourth = await service.join();
  await service.busy();
  await service.kill(third);
  await service.busy();
  await service.join();
  await service.busy();
  await second.stop();
  await service.busy();
  await fourth.stop();
  await service.busy();
  const { moved, killed, ...others } = await service.conclude(t);
  t.diagnostic(`${moved + killed} repeats for partitions that changed their owner`);
  assert.deepEqual(others, { 'cut off': 0, 'lost answer': 0, 'written twice': 0 });
});

test('delivery loses nothing when the broker is killed and restarted', async (t) => {
  await using broker = await ownBroker();
  await using service = await openFleet({ brokers: broker.brokers, schedule, receivers });
  const replica = await service.join();
  await service.caughtUp();
  await service.busy();
  const killedAt = Date.now();
  await broker.kill('SIGKILL');
  const downSince = Date.now();
  await broker.restart();
  await replica.log.waitFor((lines) => joinedAfter(lines, downSince) !== undefined);
  service.cutOff(killedAt, joinedAfter(replica.log.items, downSince) ?? NaN);
  await service.busy();
  const { 'lost answer': lostAnswers } = await service.conclude(t);
  assert.equal(lostAnswers, 0);
});

test('delivery loses nothing when receivers fail and recover, also after deliveries were parked', async (t) => {
  const { brokers } = await sharedBroker();
  let dead = false;
  const unlessDead = (answer: answers.Answer) => () => (dead ? answer : answers.status(200));
  // A client that connects to a closed port must not get the same port as its own.
  const refusing = { port: await freePort() };
  await using service = await openFleet({
    brokers,
    schedule: `500ms,1s,1s,${Array.from({ length: 30 }, () => '2s').join(',')}`,
    receivers: [
      refusing,
      { answer: unlessDead(answers.status(500)) },
      { answer: unlessDead(answers.reset) },
      ...Array.from({ length: 7 }, () => ({})),
    ],
  });
  const flipping = service.destinations.slice(0, 3).map(({ id }) => id);
  const replica = await service.join();

  const die = async (): Promise<void> => {
    dead = true;
    await service.destinations[0]?.receiver.close();
  };
  const live = async (): Promise<void> => {
    dead = false;
    await service.reopen(0);
  };
  /** Resolves when each flipping destination has `count` more records in retry topics, for one of these reasons. */
  const copied = async (isOne: (reason: string) => boolean, count: number): Promise<void> => {
    const earlier = service.copies.items.length;
    await service.copies.waitFor((copies) => {
      const counted = copies.slice(earlier).filter((copy) => isOne(headerOf(copy, 'reason') ?? ''));
      return flipping.every(
        (id) => counted.filter((copy) => headerOf(copy, 'destination-id') === id).length >= count,
      );
    });
  };
  const delivered = async (count: number): Promise<void> => {
    const earlier = service.ledger.entries.length;
    await service.ledger.until(() => {
      const since = service.ledger.entries.slice(earlier).filter(({ what }) => what === 'delivered');
      return flipping.every(
        (id) => since.filter(({ destinationId }) => destinationId === id).length >= count,
      );
    });
  };
  /** Resolves when the circuit breaker of each flipping destination has entered this state since the call. */
  const breakersAre = async (state: string): Promise<void> => {
    const earlier = replica.log.items.length;
    await replica.log.waitFor((lines) => {
      const changes = lines
        .slice(earlier)
        .filter((line) => line.msg === 'circuit breaker' && line['state'] === state);
      return new Set(changes.map((line) => line['destinationId'])).size >= flipping.length;
    });
  };

  for (let flips = 0; flips < 3; flips += 1) {
    await delivered(30);
    await die();
    await copied((reason) => reason !== 'circuit-open', 30);
    await live();
  }
  await delivered(30);
  const opened = breakersAre('open');
  await die();
  await opened;
  await copied((reason) => reason === 'circuit-open', 30);
  const closed = breakersAre('closed');
  await live();
  await closed;
  await delivered(30);
  const { 'lost answer': lostAnswers, ...others } = await service.conclude(t);
  t.diagnostic(`${lostAnswers} responses lost with their connection`);
  assert.deepEqual(others, { killed: 0, moved: 0, 'cut off': 0, 'written twice': 0 });
});
