/** Receivers that fail: which deliveries a circuit breaker or `Retry-After` delays, and what becomes of them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Destination } from '@tailrace/config';
import type { Delivery } from '@tailrace/records';
import type { Answer } from '@tailrace/webhook';
import { bodiesOf, deliveriesFor, fatesOf, inTiers, undisturbed } from '../../testing/crowd.ts';
import { serverError, success } from '../../testing/fake-sender.ts';
import { destinationOf, newDelivery, Stage } from '../../testing/stage.ts';

const second = 1_000;
const refused: Answer = { kind: 'retryable', reason: 'connection-refused' };
const crm = destinationOf('crm');

function parked(stage: Stage, destination: Destination): Delivery[] {
  return inTiers(stage, [destination]).filter(({ reason }) => reason === 'circuit-open');
}

/** Sends deliveries, a few at a time, until the breaker of the destination has opened; returns all of them. */
async function feedUntilParked(stage: Stage, destination: Destination): Promise<Delivery[]> {
  const sent: Delivery[] = [];
  while (parked(stage, destination).length === 0) {
    const some = deliveriesFor([destination], 5);
    await stage.publish(some);
    sent.push(...some);
    assert.ok(sent.length < 1_000, 'its breaker has not opened');
    await stage.time.pass(second);
  }
  return sent;
}

/** Adds deliveries, of which one may become a probe, when the breaker is open. Returns all. */
async function parkMore(stage: Stage, destination: Destination, count: number): Promise<Delivery[]> {
  const sent = await feedUntilParked(stage, destination);
  const more = deliveriesFor([destination], count);
  await stage.publish(more);
  const wanted = new Set(more.map(({ deliveryId }) => deliveryId));
  await stage.until(
    () => parked(stage, destination).filter(({ deliveryId }) => wanted.has(deliveryId)).length >= count - 1,
  );
  return [...sent, ...more];
}

/** Only an attempt costs a step of the retry schedule; a probe costs none. */
function assertNoStepIsLost(waiting: readonly Delivery[]): void {
  assert.deepEqual(
    waiting.filter(({ step, attempt }) => step > attempt),
    [],
  );
}

describe('a receiver that fails', () => {
  test('17.4 does not delay another destination of its origin', async () => {
    await using stage = new Stage();
    const [bad, good] = ['bad', 'good'].map((id) =>
      destinationOf(id, { settings: { webhooks: [{ url: `https://one.example.com/${id}` }] } }),
    );
    assert.ok(bad && good);
    await stage.configure(bad, good);
    const { sender } = await stage.startReplica();
    sender.onRequest = ({ path }) => (path === '/good' ? success : serverError);
    await feedUntilParked(stage, bad);
    const deliveries = deliveriesFor([good], 200);
    await stage.publish(deliveries);
    const toGood = () => sender.requests.filter(({ path }) => path === '/good');
    await stage.until(() => toGood().length >= 200);
    assert.deepEqual(bodiesOf(toGood()), bodiesOf(deliveries));
    assert.deepEqual(fatesOf(stage, [good]), undisturbed);
  });

  test('9.6 beside another URL that answers gets events again within two seconds of its recovery, and from then on each', async () => {
    await using stage = new Stage();
    const both = destinationOf('both', {
      settings: { webhooks: ['/up', '/down'].map((path) => ({ url: `https://two.example.com${path}` })) },
    });
    await stage.configure(both);
    const { sender } = await stage.startReplica();
    let isDown = true;
    sender.onRequest = ({ path }) => (path === '/down' && isDown ? serverError : success);
    const sentTo = (wanted: string): number => sender.requests.filter(({ path }) => path === wanted).length;
    const feed = async (deliveries: number): Promise<void> => {
      for (let nth = 0; nth < deliveries; nth += 1) {
        await stage.publish(newDelivery(both.id));
        await stage.time.pass(200);
      }
    };
    await feed(300);
    const whileDown = sentTo('/down');
    assert.ok(whileDown < 140, `one event a second is a probe, not ${whileDown} of 300`);
    isDown = false;
    await feed(10);
    assert.ok(sentTo('/down') > whileDown, 'it gets events again');
    const [up, down] = [sentTo('/up'), sentTo('/down')];
    await feed(50);
    assert.deepEqual([sentTo('/up') - up, sentTo('/down') - down], [50, 50]);
  });

  test('four times of five gets its deliveries slowly, and none is parked', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    sender.onRequest = (_, nth) => (nth % 5 === 0 ? success : serverError);
    await stage.publish(deliveriesFor([crm], 60));
    await sender.sent(200);
    const { waited, died } = fatesOf(stage, [crm]);
    assert.deepEqual([waited['circuit-open'], died['circuit-open']], [undefined, undefined]);
  });

  test('gets one probe at a time, each after twice the time up to a minute, and each delivery once when it has recovered', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    let recovered = false;
    let [inFlight, mostInFlight] = [0, 0];
    const begun: number[] = [];
    sender.onRequest = async () => {
      const answer = recovered ? success : serverError;
      begun.push(Date.now());
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      await stage.time.after(300);
      inFlight -= 1;
      return answer;
    };
    const sent = await feedUntilParked(stage, crm);
    await stage.until(() => inFlight === 0);
    mostInFlight = 0;
    const openedAt = (begun.at(-1) ?? NaN) + 300;
    begun.length = 0;
    const more = deliveriesFor([crm], 200);
    await stage.publish(more);
    await stage.until(() => begun.length === 7 && inFlight === 0);
    assert.equal(mostInFlight, 1);
    let last = openedAt;
    for (const [nth, waitMs] of [5, 10, 20, 40, 60, 60, 60].map((seconds) => seconds * second).entries()) {
      const passed = (begun[nth] ?? NaN) - last;
      // The delivery that probes waits in a retry topic, which is read a few times a second.
      assert.ok(
        passed >= waitMs - 5 && passed <= waitMs + 2 * second,
        `${passed} ms before probe ${nth + 1}`,
      );
      last = (begun[nth] ?? NaN) + 300;
    }
    assertNoStepIsLost(parked(stage, crm));
    const before = sender.requests.length;
    recovered = true;
    await sender.sent(before + sent.length + more.length);
    assert.deepEqual(bodiesOf(sender.requests.slice(before)), bodiesOf([...sent, ...more]));
    assert.deepEqual(fatesOf(stage, [crm]).died, {});
  });

  test('by refusing connections for an hour gets each delivery once, soon after it accepts them again', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    sender.onRequest = () => refused;
    const deliveries = await parkMore(stage, crm, 200);
    await stage.time.pass(3_600 * second);
    assertNoStepIsLost(parked(stage, crm));
    const before = sender.requests.length;
    sender.onRequest = () => success;
    const recoveredAt = Date.now();
    await sender.sent(before + deliveries.length);
    // The next probe brings all parked deliveries forward.
    assert.ok(Date.now() - recoveredAt < 70 * second, `${Date.now() - recoveredAt}`);
    assert.deepEqual(bodiesOf(sender.requests.slice(before)), bodiesOf(deliveries));
    assert.deepEqual(fatesOf(stage, [crm]).died, {});
  });

  test('is in the metrics with the time since its breaker opened, until it recovers', async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const replica = await stage.startReplica();
    const { sender } = replica;
    sender.onRequest = () => refused;
    const fedAt = Date.now();
    const deliveries = await parkMore(stage, crm, 20);
    const ofCrm = (name: string): string => `${name}{destination_id="crm"}`;
    const openSeconds = async () =>
      (await replica.series('destinations')).get(ofCrm('tailrace_destination_breaker_open_seconds'));
    const first = (await openSeconds()) ?? NaN;
    assert.ok(first >= 0 && first < (Date.now() - fedAt) / second, `${first}`);
    const totals = await replica.series();
    assert.equal(totals.get('tailrace_circuit_breaker_open_seconds'), first);
    const states = ['open', 'half-open'].map((state) =>
      totals.get(`tailrace_circuit_breakers{state="${state}"}`),
    );
    assert.deepEqual(states, [1, 0]);
    const page = await replica.series('destinations');
    assert.ok((page.get(ofCrm('tailrace_destination_parked_total')) ?? NaN) > 0);
    // Failed probes do not begin the time again.
    await stage.time.pass(100 * second);
    assert.equal(await openSeconds(), first + 100);
    const before = sender.requests.length;
    sender.onRequest = () => success;
    await sender.sent(before + deliveries.length);
    assert.equal(await openSeconds(), undefined);
  });
});

test('7.12 a token server that fails has a breaker of its own: no URL is asked or blamed, and each delivery is sent once there is a token', async () => {
  await using stage = new Stage();
  const oauth2 = { tokenUrl: 'https://id.example.com/token', clientId: 'crm', clientSecret: 's' };
  const webhooks = [{ url: 'https://guarded.example.com/' }, { url: 'https://also.example.com/' }];
  const guarded = destinationOf('guarded', { settings: { webhooks, oauth2 } });
  await stage.configure(guarded, crm);
  const replica = await stage.startReplica();
  const { sender } = replica;
  sender.noToken = { kind: 'retryable', reason: 'token-unavailable', detail: 'it is down' };
  const deliveries = await parkMore(stage, guarded, 200);
  assert.equal(sender.requests.length, 0);
  const openBreakers = async () => (await replica.series()).get('tailrace_circuit_breakers{state="open"}');
  assert.equal(await openBreakers(), 1);
  const openSeconds = 'tailrace_destination_breaker_open_seconds{destination_id="guarded"}';
  assert.ok((await replica.series('destinations')).has(openSeconds));
  for (const { outcome, reason, urls } of await stage.attempts()) {
    assert.deepEqual([outcome, reason], ['retry', 'token-unavailable']);
    assert.deepEqual(
      urls.map(({ detail }) => detail),
      ['it is down', 'it is down'],
    );
  }
  assert.ok((await stage.attempts()).some(({ breakerOpenSince }) => breakerOpenSince !== undefined));

  const others = deliveriesFor([crm], 50);
  await stage.publish(others);
  await sender.sent(others.length);
  assert.deepEqual(fatesOf(stage, [crm]), undisturbed);

  await stage.time.pass(600 * second);
  assertNoStepIsLost(parked(stage, guarded));
  assert.equal(sender.requests.length, others.length);
  sender.noToken = undefined;
  const requests = others.length + webhooks.length * deliveries.length;
  await sender.sent(requests);
  const sent = sender.requests.filter(({ origin }) => origin === 'https://guarded.example.com');
  assert.deepEqual(bodiesOf(sent), bodiesOf(deliveries));
  assert.ok(
    sender.requests.every(
      ({ tokenServer, destinationId }) => (destinationId === 'guarded') === !!tokenServer,
    ),
  );
  assert.equal(await openBreakers(), 0);
  assert.deepEqual(fatesOf(stage, [guarded]).died, {});
});

for (const status of [429, 503]) {
  test(`Retry-After of a ${status} delays all deliveries of the destination`, async () => {
    await using stage = new Stage();
    await stage.configure(crm);
    const { sender } = await stage.startReplica();
    const at: number[] = [];
    const reason = status === 429 ? 'too-many-requests' : 'server-error';
    sender.onRequest = (_, nth) => {
      at.push(Date.now());
      return nth === 1 ? { kind: 'retryable', reason, status, retryAfterMs: 120 * second } : success;
    };
    const first = newDelivery('crm');
    await stage.publish(first);
    await sender.sent(1);
    const others = deliveriesFor([crm], 20);
    await stage.publish(others);
    await sender.sent(1 + 1 + others.length);
    const [answeredAt = NaN, ...later] = at;
    assert.deepEqual(bodiesOf(sender.requests.slice(1)), bodiesOf([first, ...others]));
    assert.ok(
      later.every((ms) => ms >= answeredAt + 120 * second),
      later.join(),
    );
  });
}
