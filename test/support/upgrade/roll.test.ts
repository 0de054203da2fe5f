import assert from 'node:assert/strict';
import test from 'node:test';
import { roll, type Strategy } from './roll.ts';

/** The most and the fewest pods at a time, while these are replaced. */
async function extremesOf(
  strategy: Partial<Strategy>,
): Promise<{ most: number; fewest: number; order: string[] }> {
  const old = ['a', 'b', 'c'];
  const running = new Set(old);
  const counts = [running.size];
  const order: string[] = [];
  await roll(
    { kind: 'Deployment', replicas: 3, maxSurge: 0, maxUnavailable: 0, minReadyMs: 0, ...strategy },
    {
      old,
      start(place) {
        const pod = `new ${place}`;
        order.push(`+${place}`);
        running.add(pod);
        counts.push(running.size);
        return Promise.resolve(pod);
      },
      stop(pod) {
        order.push(`-${pod}`);
        running.delete(pod);
        counts.push(running.size);
        return Promise.resolve();
      },
    },
  );
  assert.deepEqual([...running].sort(), ['new 0', 'new 1', 'new 2']);
  return { most: Math.max(...counts), fewest: Math.min(...counts), order };
}

test('a deployment has at most maxSurge pods more, and at most maxUnavailable fewer', async () => {
  const surging = await extremesOf({ maxSurge: 1 });
  assert.deepEqual([surging.most, surging.fewest], [4, 3]);
  assert.deepEqual(surging.order, ['+0', '-a', '+1', '-b', '+2', '-c']);
  const lacking = await extremesOf({ maxUnavailable: 1 });
  assert.deepEqual([lacking.most, lacking.fewest], [3, 2]);
  const both = await extremesOf({ maxSurge: 2, maxUnavailable: 1 });
  assert.ok(both.most <= 5 && both.fewest >= 2);
});

test('a stateful set replaces one pod after another, the last one first', async () => {
  const { order } = await extremesOf({ kind: 'StatefulSet', maxUnavailable: 1 });
  assert.deepEqual(order, ['-c', '+2', '-b', '+1', '-a', '+0']);
});
