import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFetcher, type FetchLimits } from './fetching.ts';

/** A fetcher whose requests end when the test says so. */
function startFetcher(limits: Partial<FetchLimits> = {}) {
  const open = new Map<number, PromiseWithResolvers<void>>();
  const requested: number[] = [];
  const fetched: number[] = [];
  let maxConcurrent = 0;
  const fetcher = createFetcher({
    request(id) {
      requested.push(id);
      const answer = Promise.withResolvers<undefined>();
      open.set(id, answer as PromiseWithResolvers<void>);
      maxConcurrent = Math.max(maxConcurrent, open.size);
      return answer.promise;
    },
    onFetched: (id) => fetched.push(id),
    limits: { firstRetryMs: 1, maxRetryMs: 2, ...limits },
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
    fetcher,
    requested,
    fetched,
    end,
    get maxConcurrent() {
      return maxConcurrent;
    },
  };
}

test('concurrent callers share the request for a schema', async () => {
  const { fetcher, requested, fetched, end } = startFetcher();
  const both = [fetcher.fetch(1), fetcher.fetch(1)];
  await end(1, 'answer');
  assert.deepEqual(await Promise.all(both), [true, true]);
  assert.deepEqual([requested, fetched], [[1], [1]]);
  fetcher.close();
});

test('the number of concurrent requests is limited, independent of the number of ids', async () => {
  const registry = startFetcher({ requests: 3 });
  const ids = Array.from({ length: 100 }, (_, id) => id);
  const answers = ids.map((id) => registry.fetcher.fetch(id));
  for (const id of ids) await registry.end(id, 'answer');
  assert.ok((await Promise.all(answers)).every(Boolean));
  assert.equal(registry.maxConcurrent, 3);
  registry.fetcher.close();
});

test('callers do not wait for a schema whose request failed, and it is requested until there is an answer', async () => {
  const { fetcher, requested, fetched, end } = startFetcher();
  const first = fetcher.fetch(1);
  await end(1, 'fail');
  assert.equal(await first, false);
  assert.equal(await fetcher.fetch(1), false);
  await end(1, 'fail');
  assert.deepEqual(fetched, []);
  await end(1, 'answer');
  assert.deepEqual([requested, fetched], [[1, 1, 1], [1]]);
  fetcher.close();
});

test('callers do not wait for a slow request, and its answer is still reported', async () => {
  const { fetcher, fetched, end } = startFetcher({ waitMs: 1 });
  assert.equal(await fetcher.fetch(1), false);
  await end(1, 'answer');
  assert.deepEqual(fetched, [1]);
  fetcher.close();
});

test('failing schemas do not delay new ones', async () => {
  const { fetcher, requested, end } = startFetcher({ requests: 3, retries: 1 });
  for (const id of [1, 2, 3, 4, 5]) void fetcher.fetch(id);
  for (const id of [1, 2, 3, 4, 5]) await end(id, 'fail');
  // One of them is retried, and hangs.
  while (requested.length < 6) await new Promise((resolve) => setImmediate(resolve));
  const answers = [fetcher.fetch(10), fetcher.fetch(11)];
  assert.deepEqual(requested.slice(6), [10, 11]);
  await end(10, 'answer');
  await end(11, 'answer');
  assert.deepEqual(await Promise.all(answers), [true, true]);
  fetcher.close();
});

test('ids beyond the limit are refused', async () => {
  const { fetcher, requested, end } = startFetcher({ ids: 2, requests: 10 });
  const [first, , third] = [fetcher.fetch(1), fetcher.fetch(2), fetcher.fetch(3)];
  assert.equal(await third, false);
  assert.deepEqual(requested, [1, 2]);
  await end(1, 'answer');
  assert.equal(await first, true);
  void fetcher.fetch(3);
  assert.deepEqual(requested, [1, 2, 3]);
  fetcher.close();
});
