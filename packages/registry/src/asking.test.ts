import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAsking, type AskingLimits } from './asking.ts';

/** A registry whose requests end when the test says so. */
function startAsking(limits: Partial<AskingLimits> = {}) {
  const open = new Map<number, PromiseWithResolvers<void>>();
  const asked: number[] = [];
  const answered: number[] = [];
  let mostAtATime = 0;
  const asking = createAsking({
    request(id) {
      asked.push(id);
      const answer = Promise.withResolvers<undefined>();
      open.set(id, answer as PromiseWithResolvers<void>);
      mostAtATime = Math.max(mostAtATime, open.size);
      return answer.promise;
    },
    onAnswer: (id) => answered.push(id),
    limits: { firstPauseMs: 1, longestPauseMs: 2, ...limits },
  });
  const end = async (id: number, how: 'answer' | 'fail'): Promise<void> => {
    while (!open.has(id)) await new Promise((resolve) => setImmediate(resolve));
    const request = open.get(id);
    open.delete(id);
    if (how === 'answer') request?.resolve();
    else request?.reject(new Error('503'));
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    asking,
    asked,
    answered,
    end,
    get mostAtATime() {
      return mostAtATime;
    },
  };
}

test('all who need a schema share one request, and hear of its answer', async () => {
  const { asking, asked, answered, end } = startAsking();
  const both = [asking.ask(1), asking.ask(1)];
  await end(1, 'answer');
  assert.deepEqual(await Promise.all(both), [true, true]);
  assert.deepEqual([asked, answered], [[1], [1]]);
  asking.close();
});

test('however many ids come, only so many requests are made at a time', async () => {
  const registry = startAsking({ requests: 3 });
  const ids = Array.from({ length: 100 }, (_, id) => id);
  const answers = ids.map((id) => registry.asking.ask(id));
  for (const id of ids) await registry.end(id, 'answer');
  assert.ok((await Promise.all(answers)).every(Boolean));
  assert.equal(registry.mostAtATime, 3);
  registry.asking.close();
});

test('a schema that cannot be had is not waited for, and is asked for until there is an answer', async () => {
  const { asking, asked, answered, end } = startAsking();
  const first = asking.ask(1);
  await end(1, 'fail');
  assert.equal(await first, false);
  assert.equal(await asking.ask(1), false);
  await end(1, 'fail');
  assert.deepEqual(answered, []);
  await end(1, 'answer');
  assert.deepEqual([asked, answered], [[1, 1, 1], [1]]);
  asking.close();
});

test('a request that takes long is not waited for, and its answer is still heard', async () => {
  const { asking, answered, end } = startAsking({ patienceMs: 1 });
  assert.equal(await asking.ask(1), false);
  await end(1, 'answer');
  assert.deepEqual(answered, [1]);
  asking.close();
});

test('schemas that fail keep nothing from those that were never asked for', async () => {
  const { asking, asked, end } = startAsking({ requests: 3, retries: 1 });
  for (const id of [1, 2, 3, 4, 5]) void asking.ask(id);
  for (const id of [1, 2, 3, 4, 5]) await end(id, 'fail');
  // One of them is retried, and hangs.
  while (asked.length < 6) await new Promise((resolve) => setImmediate(resolve));
  const fresh = [asking.ask(10), asking.ask(11)];
  assert.deepEqual(asked.slice(6), [10, 11]);
  await end(10, 'answer');
  await end(11, 'answer');
  assert.deepEqual(await Promise.all(fresh), [true, true]);
  asking.close();
});

test('ids beyond the limit are turned away', async () => {
  const { asking, asked, end } = startAsking({ ids: 2, requests: 10 });
  const [first, , third] = [asking.ask(1), asking.ask(2), asking.ask(3)];
  assert.equal(await third, false);
  assert.deepEqual(asked, [1, 2]);
  await end(1, 'answer');
  assert.equal(await first, true);
  void asking.ask(3);
  assert.deepEqual(asked, [1, 2, 3]);
  asking.close();
});
