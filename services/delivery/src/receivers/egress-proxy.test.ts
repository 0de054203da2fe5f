/** The egress proxy is down: whose deliveries wait, what is tried meanwhile, and what follows when it is back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '@tailrace/webhook';
import { bodiesOf, crowdOf, deliveriesFor, fatesOf, inTiers, undisturbed } from '../testing/crowd.ts';
import { serverError, success } from '../testing/fake-sender.ts';
import { destinationOf, names, Stage, type Replica } from '../testing/stage.ts';

const second = 1_000;
const unreachable: Answer = { kind: 'retryable', reason: 'proxy-unreachable' };
const env = { TAILRACE_EGRESS_PROXY: 'http://proxy.example:3128' };
const crowd = crowdOf('crm', 20);
const direct = destinationOf('direct', { proxy: 'none' });

/** Sends to all destinations of the crowd until one of their deliveries is parked. */
async function feedUntilParked(stage: Stage) {
  const sent = deliveriesFor(crowd, 0);
  while (!inTiers(stage, crowd).some(({ reason }) => reason === 'circuit-open')) {
    const some = deliveriesFor(crowd, 1);
    sent.push(...some);
    await stage.publish(some);
    assert.ok(sent.length < 1_000, 'the breaker of the proxy has not opened');
    await stage.time.pass(second);
  }
  return sent;
}

const breakersOf = ({ log }: Stage) =>
  log.flatMap(({ msg, state }) =>
    String(msg).startsWith('circuit breaker') ? [`${String(msg)}: ${String(state)}`] : [],
  );

const openFor = async (replica: Replica) =>
  (await replica.series()).get('tailrace_egress_proxy_open_seconds');

test('while the egress proxy is down only probes are sent through it, no receiver counts as down, and all is sent when it is back', async () => {
  await using stage = new Stage();
  await stage.configure(...crowd, direct);
  const replica = await stage.startReplica({ env });
  const { sender } = replica;
  let isDown = true;
  sender.onRequest = ({ proxy }) => (isDown && proxy !== 'none' ? unreachable : success);
  const proxied = () => sender.requests.filter(({ proxy }) => proxy !== 'none');
  const sent = await feedUntilParked(stage);

  const before = proxied().length;
  const more = deliveriesFor(crowd, 5);
  const others = deliveriesFor([direct], 50);
  await stage.publish([...more, ...others]);
  await stage.time.pass(60 * second);
  assert.ok(proxied().length - before <= 10, `${proxied().length - before} probes in a minute`);
  assert.deepEqual(bodiesOf(sender.requests.filter(({ proxy }) => proxy === 'none')), bodiesOf(others));
  assert.deepEqual(fatesOf(stage, [direct]), undisturbed);
  assert.ok(((await openFor(replica)) ?? 0) >= 60);
  assert.equal((await replica.series()).get('tailrace_circuit_breakers{state="open"}'), 0);

  isDown = false;
  const from = sender.requests.length;
  const all = bodiesOf([...sent, ...more]);
  // Most deliveries are in retry topics of up to an hour.
  await stage.time.pass(120 * second);
  assert.deepEqual(bodiesOf(proxied().slice(from - others.length)), all);
  assert.equal(await openFor(replica), 0);
  const ofProxy = 'circuit breaker of the egress proxy';
  assert.deepEqual(
    [...new Set(breakersOf(stage))],
    ['open', 'half-open', 'closed'].map((state) => `${ofProxy}: ${state}`),
  );
});

test('a token server whose address is not allowed does not count as an answer of the proxy', async () => {
  await using stage = new Stage();
  const oauth2 = { tokenUrl: 'http://127.0.0.1/', clientId: 'c', clientSecret: 's' };
  const webhooks = [{ url: 'https://guarded.example.com/' }];
  const guarded = destinationOf('guarded', { settings: { webhooks, oauth2 } });
  const [other] = crowd;
  assert.ok(other);
  await stage.configure(other, guarded);
  const replica = await stage.startReplica({ env });
  const { sender } = replica;
  sender.noToken = { kind: 'retryable', reason: 'token-unavailable' };
  sender.onRequest = () => unreachable;
  for (let nth = 0; nth < 20; nth += 1) {
    await stage.publish(deliveriesFor([other, guarded], 1));
    await stage.time.pass(second);
  }
  assert.ok(((await openFor(replica)) ?? 0) > 0);
  await stage.time.pass(60 * second);
  assert.ok(!breakersOf(stage).includes('circuit breaker of the egress proxy: closed'));
});

test('a receiver that fails behind the proxy is down alone', async () => {
  await using stage = new Stage();
  await stage.configure(...crowd);
  const { sender } = await stage.startReplica({ env });
  const [bad, ...good] = crowd;
  assert.ok(bad);
  sender.onRequest = ({ destinationId }) => (destinationId === bad.id ? serverError : success);
  await feedUntilParked(stage);
  assert.deepEqual(breakersOf(stage), ['circuit breaker: open']);
  assert.deepEqual(fatesOf(stage, good), undisturbed);
});

test('10.3 a delivery whose proxy is down for all of its window ends with it', async () => {
  await using stage = new Stage({ scheduleMs: [60_000], windowMs: 600_000 });
  await stage.configure(...crowd);
  const { sender } = await stage.startReplica({ env });
  sender.onRequest = () => unreachable;
  const sent = await feedUntilParked(stage);
  const parkedAt = Date.now();
  const dead = await stage.deliveries(names.deliveriesDead, sent.length);
  assert.ok(Date.now() - parkedAt <= 600_000 + second);
  for (const { reason = '', attempt } of dead)
    assert.match(
      reason,
      attempt === 0 ? /^circuit-open$/ : /^(circuit-open|window-exceeded|attempts-exhausted)$/,
    );
});
