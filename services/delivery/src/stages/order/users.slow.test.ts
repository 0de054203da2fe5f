/** Order by user through the whole deliverer, with the default settings, while a receiver fails. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deliveryKey } from '@tailrace/records';
import { seeded } from '@tailrace/testing';
import { serverError, success } from '../../testing/fake-sender.ts';
import { inTiers } from '../../testing/crowd.ts';
import { destinationOf, names, newDelivery, Stage } from '../../testing/stage.ts';

const [second, hour] = [1_000, 3_600_000];
const crm = destinationOf('crm', { ordering: 'user' });

interface Event {
  readonly user: string;
  readonly nth: number;
}

/** A replica, and a destination of which each round has one event for each user. */
async function open(stage: Stage, users: readonly string[]) {
  await stage.configure(crm);
  const { sender } = await stage.startReplica();
  const arrivals: Event[] = [];
  let published = 0;
  const of = (user: string): number[] =>
    arrivals.filter((event) => event.user === user).map(({ nth }) => nth);
  return {
    sender,
    arrivals,
    of,
    get published() {
      return published;
    },
    publish: async (rounds: number): Promise<void> => {
      const first = published / users.length;
      const events = Array.from({ length: rounds }, (_, round) =>
        users.map((user): Event => ({ user, nth: first + round })),
      ).flat();
      published += events.length;
      await stage.publish(
        events.map((event) =>
          newDelivery('crm', {
            key: deliveryKey('crm', event.user),
            body: Buffer.from(JSON.stringify(event)),
          }),
        ),
      );
    },
    /** Each event has arrived once, and those of each user in order. */
    assertInOrder: (): void => {
      for (const user of users) assert.deepEqual(of(user), [...Array(published / users.length).keys()], user);
    },
  };
}

function eventOf({ body }: { readonly body: Buffer }): Event {
  return JSON.parse(String(body)) as Event;
}

describe('the events of a user', () => {
  test('11.2 wait one by one while an earlier one is retried, and those of other users are delivered', async () => {
    await using stage = new Stage();
    const { sender, arrivals, of, publish, assertInOrder } = await open(stage, ['ada', 'bob']);
    let refusals = 0;
    let [together, mostTogether] = [0, 0];
    sender.onRequest = async (request) => {
      const event = eventOf(request);
      const { user, nth } = event;
      if (user === 'ada' && nth === 2 && refusals < 3) {
        refusals += 1;
        return serverError;
      }
      if (user === 'ada') mostTogether = Math.max(mostTogether, ++together);
      await stage.time.after(5);
      if (user === 'ada') together -= 1;
      arrivals.push(event);
      return success;
    };
    await publish(10);
    await stage.until(() => of('bob').length === 10 && of('ada').length >= 2);
    await stage.until(() => refusals === 3);
    assert.deepEqual(of('ada'), [0, 1]);
    await stage.until(() => arrivals.length === 20);
    await publish(1);
    await stage.until(() => arrivals.length === 22);
    assertInOrder();
    assert.equal(mostTogether, 1);
    assert.equal(sender.requests.length, 22 + refusals);
  });

  test('have retry windows that end at the same time, while a receiver is down', async () => {
    await using stage = new Stage();
    const receiver = await open(stage, ['ada', 'bob', 'cy', 'dan', 'eve']);
    receiver.sender.onRequest = () => serverError;
    await receiver.publish(8);
    const dead = await stage.deliveries(names.deliveriesDead, receiver.published);
    const records = await stage.records(names.deliveriesDead, receiver.published);
    const firstDiedAt = records[0]?.timestamp ?? NaN;
    const unattempted = dead.flatMap(({ attempt, ...letter }, nth) =>
      attempt === 0 ? [{ ...letter, diedAt: records[nth]?.timestamp ?? NaN }] : [],
    );
    assert.ok(unattempted.length > receiver.published / 2, `${unattempted.length}`);
    for (const { reason, firstAttemptAt: began = NaN, diedAt } of unattempted) {
      assert.equal(reason, 'circuit-open');
      assert.ok(began < firstDiedAt, 'its window began before the first one died');
      // The last wait of a parked delivery ends shortly before its window.
      assert.ok(diedAt - began > 3.8 * hour && diedAt - began <= 4 * hour + second, `${diedAt - began}`);
    }
  });

  test('arrive in order when a receiver that was down for two hours has recovered', async () => {
    await using stage = new Stage();
    const { sender, arrivals, publish, assertInOrder } = await open(stage, [
      'ada',
      'bob',
      'cy',
      'dan',
      'eve',
    ]);
    sender.onRequest = () => serverError;
    await publish(20);
    await stage.time.pass(2 * hour);
    assert.ok(
      inTiers(stage, [crm]).some(({ reason, firstAttemptAt }) => reason === 'behind' && firstAttemptAt),
    );
    sender.onRequest = (request) => {
      arrivals.push(eventOf(request));
      return success;
    };
    const recoveredAt = Date.now();
    await publish(2);
    await stage.until(() => arrivals.length >= 110);
    assert.ok(Date.now() - recoveredAt < 120 * second, `${Date.now() - recoveredAt}`);
    assertInOrder();
  });

  test('that wait in a retry topic in any order are not sorted by writing them again and again', async (t) => {
    await using stage = new Stage();
    await stage.configure(crm, destinationOf('other'));
    const count = 300;
    await stage.publish(Array.from({ length: count }, () => newDelivery('other')));
    const random = seeded(1);
    const dueFrom = Date.now() + 5 * second;
    const waiting = Array.from({ length: count }, (_, sequence) => sequence)
      .map((sequence) => ({ sequence, place: random() }))
      .sort((a, b) => a.place - b.place)
      .map(({ sequence }, nth) =>
        newDelivery('crm', {
          key: deliveryKey('crm', 'ada'),
          body: Buffer.from(String(sequence)),
          sequence,
          reason: 'behind',
          dueAt: dueFrom + 5 * nth,
        }),
      );
    await stage.publish(waiting, names.retryTier(10 * second));
    const { sender } = await stage.startReplica();
    const arrivals: number[] = [];
    sender.onRequest = ({ body, destinationId }) => {
      if (destinationId === 'crm') arrivals.push(Number(String(body)));
      return success;
    };
    const startedAt = Date.now();
    await stage.until(() => arrivals.length === count);
    assert.deepEqual(arrivals, [...Array(count).keys()]);
    const written = inTiers(stage, [crm]).length - count;
    t.diagnostic(`${written} were written again within ${(Date.now() - startedAt) / second} s`);
    assert.ok(written <= 4 * count, `${written}`);
  });
});
