/** The delay of first attempts, by what held the deliveries back, with the default settings. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Destination } from '@tailrace/config';
import { deliveryKey, type Delivery } from '@tailrace/records';
import { inTiers } from '../testing/crowd.ts';
import { held, serverError, success } from '../testing/fake-sender.ts';
import { destinationOf, newDelivery, Stage, type Replica } from '../testing/stage.ts';

const causes = ['none', 'breaker', 'rate', 'order', 'lane'] as const;
const minute = 60_000;

function deliveriesOf(...users: readonly string[]): Delivery[] {
  return users.map((user) => newDelivery('crm', { key: deliveryKey('crm', user) }));
}

describe('the delay of a first attempt', () => {
  let stage: Stage;
  let replica: Replica;
  beforeEach(async () => {
    stage = new Stage();
    replica = await stage.startReplica();
  });
  afterEach(() => stage[Symbol.asyncDispose]());

  /** The number of first attempts by cause, without causes that held none. */
  async function counts(): Promise<Readonly<Record<string, number>>> {
    const series = await replica.series();
    const found = causes.map((cause): [string, number] => [
      cause,
      series.get(`tailrace_delivery_first_attempt_delay_seconds_count{held_by="${cause}"}`) ?? 0,
    ]);
    return Object.fromEntries(found.filter(([, count]) => count > 0));
  }

  async function configure(more: Partial<Destination> = {}): Promise<void> {
    await stage.configure(destinationOf('crm', more));
  }

  test('a delivery that waits for nothing is held by none', async () => {
    await configure();
    await stage.publish(deliveriesOf('ada'));
    await replica.sender.sent(1);
    assert.deepEqual(await counts(), { none: 1 });
  });

  test('deliveries beyond the rate limit are held by rate', async () => {
    await configure({ rateLimit: 1 });
    await stage.publish(deliveriesOf('ada', 'bob', 'cy', 'dan', 'eve', 'fay'));
    await replica.sender.sent(6);
    assert.deepEqual(await counts(), { none: 1, rate: 5 });
  });

  test('deliveries of one user that wait for an earlier one are held by order', async () => {
    await configure({ ordering: 'user' });
    replica.sender.onRequest = () => stage.time.after(200, success);
    await stage.publish(deliveriesOf('ada', 'ada', 'ada'));
    await replica.sender.sent(3);
    const { order = 0, none = 0 } = await counts();
    // The first one may wait until the retry topics were read for earlier deliveries of the user.
    assert.deepEqual([order >= 2, order + none], [true, 3]);
  });

  test('deliveries that wait while others of the destination are in flight are held by lane', async () => {
    await configure();
    replica.sender.onRequest = () => held;
    await stage.publish(deliveriesOf('ada', 'bob', 'cy', 'dan'));
    await replica.sender.sent(1);
    replica.sender.onRequest = () => success;
    replica.sender.release();
    await replica.sender.sent(4);
    assert.deepEqual(await counts(), { none: 1, lane: 3 });
  });

  test('deliveries that wait because the receiver asked for a pause are held by rate', async () => {
    await configure();
    replica.sender.onRequest = (_, nth) =>
      nth === 1
        ? { kind: 'retryable', reason: 'too-many-requests', status: 429, retryAfterMs: 10 * minute }
        : success;
    await stage.publish(deliveriesOf('ada'));
    await stage.attempts();
    await stage.publish(deliveriesOf('bob', 'cy'));
    await replica.sender.sent(4);
    assert.deepEqual(await counts(), { none: 1, rate: 2 });
  });

  test('deliveries that were parked because a circuit breaker was open are held by breaker', async () => {
    await configure();
    const { sender } = replica;
    sender.onRequest = () => serverError;
    await stage.publish(deliveriesOf('ada', 'bob', 'cy', 'dan', 'eve', 'fay'));
    const parked = () => inTiers(stage, [destinationOf('crm')]).filter(({ heldBy }) => heldBy === 'breaker');
    await stage.until(() => sender.requests.length >= 6 && replica.lanes.breakers.count('open') > 0);
    const before = await counts();
    const later = deliveriesOf('gil', 'hal', 'ida');
    await stage.publish(later);
    const isParked = ({ deliveryId }: Delivery) => parked().some((other) => other.deliveryId === deliveryId);
    await stage.until(() => later.filter(isParked).length === 3);
    const sent = sender.requests.length;
    sender.onRequest = () => success;
    await sender.sent(sent + 9);
    assert.equal((await counts())['breaker'] ?? 0, (before['breaker'] ?? 0) + 3);
  });
});
