/** Requested recalls on an in-memory cluster, from the request to the receiver. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeRecall, encodeRecallRequest, type RecallProgress } from '@tailrace/topics';
import { serverError, success } from '../testing/fake-sender.ts';
import { destinationOf, names, newDelivery, Stage } from '../testing/stage.ts';

const hourMs = 3_600_000;
const tier = names.retryTier(hourMs);

/** Requests a recall of `crm`, and resolves with its progress when it is over. */
async function recall(stage: Stage, id: string): Promise<RecallProgress> {
  const requestedAt = new Date(Date.now() + 1).toISOString();
  const request = { id, kind: 'retry', destinationId: 'crm', requestedAt, partitions: 1 } as const;
  const { key, value } = encodeRecallRequest(names.recalls, request);
  await stage.write({ topic: names.recalls, key, value });
  const progress = (): RecallProgress | undefined =>
    stage.cluster
      .records(names.recalls)
      .map((record) => decodeRecall(record))
      .flatMap((decoded) => (decoded?.kind === 'state' ? (decoded.state.request ?? []) : []))
      .findLast((found) => found.id === id && found.state !== 'running');
  await stage.until(() => progress() !== undefined);
  const found = progress();
  assert.ok(found);
  return found;
}

test('where a recalled delivery fails, the later ones of its user wait behind it, and the next recall has all of them', async () => {
  await using stage = new Stage({ scheduleMs: [20, hourMs], windowMs: 4 * hourMs });
  await stage.configure(destinationOf('crm', { ordering: 'user' }));
  const now = Date.now();
  // In the retry topic the later ones come first.
  const deliveries = [4, 3, 2, 1].map((sequence) =>
    newDelivery('crm', {
      ...{ attempt: 1, step: 1, firstAttemptAt: now, dueAt: now + 0.9 * hourMs, sequence },
      body: Buffer.from(String(sequence)),
    }),
  );
  await stage.publish(deliveries, tier);
  await stage.publish(deliveries.concat(deliveries).map(() => newDelivery('nowhere')));
  const { sender } = await stage.startReplica();
  sender.onRequest = ({ body }) =>
    String(body) === '2' && sender.requests.length === 2 ? serverError : success;

  assert.deepEqual(await recall(stage, 'r1'), { id: 'r1', state: 'done', count: 4 });
  const waiting = (await stage.deliveries(tier, 7)).slice(4);
  assert.deepEqual(
    waiting.map(({ sequence, reason }) => [sequence, reason]),
    [
      [2, 'server-error'],
      [3, 'behind'],
      [4, 'behind'],
    ],
  );
  assert.ok(waiting.every(({ dueAt = 0 }) => dueAt > now + hourMs / 2));
  assert.deepEqual(sender.bodies, ['1', '2']);

  assert.deepEqual(await recall(stage, 'r2'), { id: 'r2', state: 'done', count: 3 });
  assert.deepEqual(sender.bodies, ['1', '2', '2', '3', '4']);
  await stage.untilCommitted(7, tier);
});
