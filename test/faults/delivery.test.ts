/**
 * Conservation of the delivery service alone, while it, the broker or receivers fail. No delivery is lost or altered,
 * and every repeat is explained by offsets that were not committed when partitions were revoked or a process was killed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as answers from '../support/receivers/answers.ts';
import { ownBroker, sharedBroker } from '../support/kafka/broker.ts';
import { closedPort, type ReceiverOptions } from '../support/receivers/receiver.ts';
import { headerOf } from '../support/kafka/topics.ts';
import { joinedAfter } from '../support/oracle/evidence.ts';
import { openFleet } from './fleet.ts';

/** Of ten receivers, one fails every other time and responds late when it succeeds, and one fails in other ways. */
const receivers: readonly ReceiverOptions[] = [
  { answer: inTurn(answers.status(503), answers.delayed(300, answers.status(200))) },
  { answer: inTurn(answers.status(500), answers.reset, answers.status(200)) },
  ...Array.from({ length: 8 }, () => ({})),
];
const schedule = '500ms,500ms,1s,1s,1s,1s,1s';

/** Fails seldom enough in a row that no circuit breaker opens: its probes could take longer than the test waits. */
function inTurn(...list: readonly answers.Answer[]): (request: unknown, nth: number) => answers.Answer {
  return (_request, nth) => list[nth % list.length] ?? answers.status(200);
}

test('delivery loses nothing when it is killed during retries, alone, with a backlog and beside others, and when replicas join and leave', async (t) => {
  const { brokers } = await sharedBroker();
  await using service = await openFleet({ brokers, schedule, receivers });
  const alone = await service.join();
  await service.caughtUp();
  await service.busy();
  await service.kill(alone);
  const behind = await service.join();
  await service.busy();
  await service.kill(behind);
  const first = await service.join();
  await service.busy();
  const second = await service.join();
  await service.busy();
  const third = await service.join();
  await service.busy();
  await first.stop();
  await service.busy();
  await service.kill(third);
  await service.busy();
  await service.join();
  await service.busy();
  await second.stop();
  await service.busy();
  const { moved, killed, ...others } = await service.conclude(t);
  t.diagnostic(`${moved + killed} repeats for partitions that changed their owner`);
  assert.ok(killed > 0, 'requests in flight were repeated');
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
  const refusing = { port: await closedPort() };
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
  /** Resolves when each flipping destination has `count` more of what `items` collects. */
  const more = async <T>(
    items: readonly T[],
    until: (holds: () => boolean) => Promise<unknown>,
    count: number,
    destinationOf: (item: T) => string | undefined,
  ): Promise<void> => {
    const counts = new Map(flipping.map((id) => [id, 0]));
    let read = items.length;
    await until(() => {
      for (const item of items.slice(read)) {
        const id = destinationOf(item) ?? '';
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
      read = items.length;
      return flipping.every((id) => (counts.get(id) ?? 0) >= count);
    });
  };
  /** Records in retry topics, for one of these reasons. */
  const copied = (isOne: (reason: string) => boolean, count: number): Promise<void> =>
    more(service.copies.items, service.copies.waitFor, count, (copy) =>
      isOne(headerOf(copy, 'reason') ?? '') ? headerOf(copy, 'destination-id') : undefined,
    );
  const delivered = (count: number): Promise<void> =>
    more(
      service.ledger.entries,
      (holds) => service.ledger.until(holds),
      count,
      ({ what, destinationId }) => (what === 'delivered' ? destinationId : undefined),
    );
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

  for (let flips = 0; flips < 2; flips += 1) {
    await delivered(20);
    await die();
    await copied((reason) => reason !== 'circuit-open', 20);
    await live();
  }
  await delivered(20);
  const opened = breakersAre('open');
  await die();
  await opened;
  await copied((reason) => reason === 'circuit-open', 20);
  const closed = breakersAre('closed');
  await live();
  await closed;
  await delivered(20);
  const { 'lost answer': lostAnswers, ...others } = await service.conclude(t);
  t.diagnostic(`${lostAnswers} responses lost with their connection`);
  assert.deepEqual(others, { killed: 0, moved: 0, 'cut off': 0, 'written twice': 0 });
});
