/** Control with a clock that is minutes behind or ahead of the other services, on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { eventually } from '@tailrace/testing';
import { secretKey, startControlHere } from '../support/processes/control.ts';
import { withOwnClock } from '../support/processes/own-clock.ts';
import { startPipeline } from '../support/processes/pipeline.ts';
import * as answers from '../support/receivers/answers.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const minuteMs = 60_000;
const retrySchedule = '1h';
const calls = 40;

/** All services, control with a clock of its own, and a receiver that is down until the test says otherwise. */
async function openStage(controlAheadMs: number) {
  await using opened = new AsyncDisposableStack();
  const cluster = new MemoryCluster();
  const env = { TAILRACE_SECRET_KEY: secretKey };
  const pipeline = opened.use(await startPipeline({ cluster, retrySchedule, retryWindow: '4h', env }));
  const prefix = pipeline.names.events.replace(/events$/, '');
  const control = opened.use(
    await withOwnClock(controlAheadMs, () =>
      startControlHere(cluster, prefix, { TAILRACE_RETRY_SCHEDULE: retrySchedule }),
    ),
  );
  let isDown = true;
  const receiver = opened.use(await startReceiver({ answer: () => answers.status(isDown ? 503 : 200) }));
  const connection = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  const all = opened.move();
  return {
    receiver,
    control,
    /** Sends calls of the user. */
    async send(userId: string, event: string): Promise<void> {
      for (let nth = 0; nth < calls; nth += 1)
        await connection.send('track', { userId, event: `${event} ${nth}` });
    },
    recover(): void {
      isDown = false;
    },
    destinationId: connection.destinationId,
    /** Waits until the router has committed the calls. They have one user, so they are in one partition. */
    routed: () =>
      eventually(
        () => cluster.committed(`${prefix}router`, pipeline.names.events),
        (committed) => committed.includes(calls),
      ),
    inTopic: (topic: 'deliveriesDead' | 'tier') =>
      pipeline.deliveriesIn(
        topic === 'tier' ? pipeline.names.retryTier(60 * minuteMs) : pipeline.names.deliveriesDead,
        connection.destinationId,
      ),
    /** Waits until a recall has ended, and returns it. */
    async recall(kind: 'retry' | 'drain') {
      const path = `/v1/destinations/${connection.destinationId}`;
      await control.expect(202, { method: 'POST', path: `${path}/${kind}` });
      return eventually(
        () => control.expect(200, { path: `${path}/recall` }),
        ({ state }) => state !== 'running',
      );
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

for (const [clock, aheadMs] of [
  ['ten minutes behind', -10 * minuteMs],
  ['50 minutes ahead', 50 * minuteMs],
] as const) {
  for (const kind of ['retry', 'drain'] as const) {
    test(`a ${kind} covers what waits where the clock of control is ${clock}`, async () => {
      await using stage = await openStage(aheadMs);
      await stage.send('ada', 'Order');
      await eventually(
        () => stage.inTopic('tier'),
        (waiting) => waiting.length === calls,
      );
      stage.recover();
      const { state, count } = await stage.recall(kind);
      assert.deepEqual([state, count], ['done', calls]);
    });
  }

  test(`9.8 a replay of events has all that came before it where the clock of control is ${clock}`, async () => {
    await using stage = await openStage(aheadMs);
    await stage.send('ada', 'Order');
    await stage.routed();
    const body = { kind: 'events', destination: stage.destinationId, from: '2h', mode: 'all' };
    const { id } = await stage.control.expect(202, { method: 'POST', path: '/v1/replays', body });
    const { state, replayed } = await eventually(
      () => stage.control.expect(200, { path: `/v1/replays/${String(id)}` }),
      ({ state }) => !['requested', 'counting', 'running'].includes(String(state)),
    );
    assert.deepEqual([state, replayed], ['done', calls]);
  });

  test(`12.6 a deletion covers the earlier calls of its user, and no later ones, where the clock of control is ${clock}`, async () => {
    await using stage = await openStage(aheadMs);
    await stage.send('ada', 'Earlier');
    await eventually(
      () => stage.inTopic('tier'),
      (waiting) => waiting.length === calls,
    );
    await stage.control.expect(202, { method: 'POST', path: '/v1/deletions', body: { userIds: ['ada'] } });
    stage.recover();
    await stage.receiver.find(({ body }) => body.includes('"delete"'));
    await stage.send('ada', 'Later');
    const sentAfter = (): number =>
      stage.receiver.requests.filter(({ body }) => body.includes('Later')).length;
    const letters = await eventually(
      () => stage.inTopic('deliveriesDead'),
      (dead) => dead.length + sentAfter() >= calls,
    );
    assert.deepEqual([sentAfter(), letters.length], [calls, 0]);
    assert.equal((await stage.recall('retry'))['count'], calls);
    const ended = await stage.inTopic('deliveriesDead');
    const reasons = ended.map(({ reason, body }) => `${reason ?? ''} ${body.length}`);
    assert.deepEqual(
      reasons,
      Array.from({ length: calls }, () => 'user-deleted 0'),
    );
  });
}
