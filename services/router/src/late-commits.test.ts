/** While nothing can be committed, nothing new is routed: it would all be repeated. On simulated time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { groupId, names, openStage } from './testing/stage.ts';
import { InFlight } from './waiting/in-flight.ts';

test('17.2 without answers to commits only what finished in 2 s is routed, of 40 s of events', async () => {
  using time = simulateTime();
  const stage = await time.settled(openStage());
  const { cluster } = stage;
  try {
    const routed = (): number => cluster.records(names.deliveries).length;
    const committed = (): number | undefined =>
      cluster.group(groupId).offsets.get(`${names.events}/0`)?.offset;
    const publish = (nth: number): Promise<void> => {
      const call = { type: 'page', userId: `u-${nth}`, messageId: `m-${nth}` };
      return stage.publish({
        key: call.userId,
        value: JSON.stringify(call),
        headers: { 'source-id': 'web' },
      });
    };
    cluster.pauseOffsetCommits();
    for (let nth = 0; nth < 400; nth += 1) {
      await time.settled(publish(nth));
      await time.pass(100);
    }
    assert.ok(routed() >= 18 && routed() <= 21, `${routed()} routed`);
    cluster.resumeOffsetCommits();
    await time.until(() => committed() === 400);
    assert.equal(routed(), 400);
  } finally {
    cluster.resumeOffsetCommits();
    await time.settled(Promise.resolve(stage[Symbol.asyncDispose]()));
  }
});

test('while new work is held, nothing of the waiting queue may be in flight', async () => {
  const inFlight = new InFlight(() => false);
  inFlight.hold(true);
  assert.equal(inFlight.isFull, true);
  const free = inFlight.untilNotFull();
  inFlight.hold(false);
  await free;
  assert.equal(inFlight.isFull, false);
  inFlight.hold(true);
  inFlight.unlimit();
  await inFlight.untilNotFull();
});
