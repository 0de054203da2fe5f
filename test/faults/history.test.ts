/**
 * The history of deliveries whose service was killed. Each delivery has an end in the history, and it is the one that its receiver
 * saw. Where the record of the last attempt was lost with the process, the history says so, and shows nothing as pending.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { sharedBroker } from '../support/kafka/broker.ts';
import { startControlHere, type ControlApi } from '../support/processes/control.ts';
import { delayed, status } from '../support/receivers/answers.ts';
import { openFleet } from './fleet.ts';

const receivers = [
  { answer: () => (Math.random() < 0.3 ? status(503) : delayed(20, status(200))) },
  ...Array.from({ length: 9 }, () => ({})),
];

interface Page {
  readonly items: readonly {
    readonly eventId: string;
    readonly destinationId: string;
    readonly status: string;
  }[];
  readonly next?: string;
}

async function allDeliveries(control: ControlApi): Promise<Page['items']> {
  const items: Page['items'][number][] = [];
  for (let next: string | undefined = ''; next !== undefined;) {
    const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
    const page = (await control.expect(200, {
      path: `/v1/deliveries?limit=200${cursor}`,
    })) as unknown as Page;
    items.push(...page.items);
    next = page.next;
  }
  return items;
}

test('after kills of delivery every delivery has an end in the history, which its receiver has seen too', async (t) => {
  const { brokers } = await sharedBroker();
  await using service = await openFleet({ brokers, schedule: '500ms,1s,1s,1s,1s,1s,1s', receivers });
  await using control = await startControlHere(brokers, service.prefix);
  for (let kills = 0; kills < 4; kills += 1) {
    const replica = await service.join();
    await service.caughtUp();
    // Then what was committed is the most that may not be recorded.
    await service.committed();
    await service.kill(replica);
  }
  await service.join();
  await service.caughtUp();
  await service.conclude(t);
  // Repeats of what was delivered may wait for a retry.
  await service.join();
  const { ledger } = service;
  const accepted = new Map<string, Set<string>>();
  for (const { what, eventId, destinationId } of ledger.entries) {
    const key = `${eventId} at ${destinationId}`;
    accepted.set(key, (accepted.get(key) ?? new Set()).add(what));
  }
  const overview = async () => (await control.expect(200, { path: '/v1/overview' }))['pending'];
  await eventually(overview, (pending) => Array.isArray(pending) && pending.length === 0);
  const deliveries = await allDeliveries(control);
  assert.equal(deliveries.length, accepted.size);
  const counts = Map.groupBy(deliveries, (delivery) => delivery.status);
  t.diagnostic(Array.from(counts, ([name, { length }]) => `${length} ${name}`).join(', '));
  assert.deepEqual([counts.has('waiting'), counts.has('retrying')], [false, false]);
  for (const { eventId, destinationId, status: end } of deliveries) {
    const seen = accepted.get(`${eventId} at ${destinationId}`);
    const isTrue = end === 'dead' ? seen?.has('dead') : seen?.has('delivered');
    assert.ok(isTrue, `${eventId} at ${destinationId} is ${end}`);
  }
});
