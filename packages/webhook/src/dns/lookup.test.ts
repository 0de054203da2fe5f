import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { createNameLookup, type NameLookupOptions } from './lookup.ts';

type Question = PromiseWithResolvers<readonly LookupAddress[]> & { readonly hostname: string };

const first: readonly LookupAddress[] = [{ address: '192.0.2.1', family: 4 }];
const second: readonly LookupAddress[] = [{ address: '192.0.2.2', family: 4 }];

/** Creates a look-up whose name server answers when the test calls `answer`. `names` are the questions so far. */
function start(options: Omit<NameLookupOptions, 'resolve'> = {}) {
  const asked: Question[] = [];
  const lookup = createNameLookup({
    ...options,
    resolve: (hostname) => {
      const question = { hostname, ...Promise.withResolvers<readonly LookupAddress[]>() };
      asked.push(question);
      return question.promise;
    },
  });
  const names = () => asked.map(({ hostname }) => hostname);
  /** Answers the nth question, and waits for its effects. */
  const answer = async (nth: number, how: readonly LookupAddress[] | string): Promise<void> => {
    if (typeof how === 'string') asked[nth]?.reject(Object.assign(new Error(how), { code: how }));
    else asked[nth]?.resolve(how);
    await settled();
  };
  return { lookup, names, answer };
}

function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

test('concurrent callers share one look-up, and later callers share its answer', async () => {
  const { lookup, names, answer } = start();
  const both = [lookup('a'), lookup('a')];
  await settled();
  await answer(0, first);
  assert.deepEqual(await Promise.all([...both, lookup('a')]), [first, first, first]);
  assert.deepEqual(names(), ['a']);
});

test('a stale answer is looked up again, and the new answer is used', async () => {
  const { lookup, answer } = start({ freshMs: 0 });
  const before = lookup('a');
  await settled();
  await answer(0, first);
  assert.deepEqual(await before, first);
  const after = lookup('a');
  await settled();
  await answer(1, second);
  assert.deepEqual(await after, second);
});

test('a failure is returned to all waiting callers, and to later callers until the next look-up', async () => {
  const { lookup, names, answer } = start({ backOffMs: 60_000 });
  const failures = Promise.allSettled([lookup('a'), lookup('a')]);
  await settled();
  await answer(0, 'EAI_AGAIN');
  for (const { status } of await failures) assert.equal(status, 'rejected');
  await assert.rejects(lookup('a'), { code: 'EAI_AGAIN' });
  assert.deepEqual(names(), ['a']);
});

test('a name that failed is looked up again after the back-off', async () => {
  const { lookup, names, answer } = start({ backOffMs: 0 });
  for (const [nth, how] of ['EAI_AGAIN', 'ENOTFOUND', first].entries()) {
    const asked = lookup('a').catch(() => undefined);
    await settled();
    await answer(nth, how);
    await asked;
  }
  assert.deepEqual(await lookup('a'), first);
  assert.deepEqual(names(), ['a', 'a', 'a']);
});

test('a hanging look-up fails, and its late answer is used by the next caller', async () => {
  const { lookup, answer } = start({ giveUpMs: 1, backOffMs: 60_000 });
  await assert.rejects(lookup('a'), { code: 'EAI_AGAIN' });
  await assert.rejects(lookup('a'), { code: 'EAI_AGAIN' });
  await answer(0, first);
  assert.deepEqual(await lookup('a'), first);
});

test('the last good addresses are used where the name server fails, but not where the name no longer exists', async () => {
  const { lookup, answer } = start({ freshMs: 0, backOffMs: 0 });
  const good = lookup('a');
  await settled();
  await answer(0, first);
  await good;

  const failing = lookup('a');
  await settled();
  await answer(1, 'EAI_AGAIN');
  assert.deepEqual(await failing, first);

  const gone = assert.rejects(lookup('a'), { code: 'ENOTFOUND' });
  await settled();
  await answer(2, 'ENOTFOUND');
  await gone;
  const still = assert.rejects(lookup('a'), { code: 'EAI_AGAIN' });
  await settled();
  await answer(3, 'EAI_AGAIN');
  await still;
});

test('the last good addresses are used where the name server is slow, until they are too old', async () => {
  const patient = start({ freshMs: 0, slowMs: 5 });
  const good = patient.lookup('a');
  await settled();
  await patient.answer(0, first);
  await good;
  // The second question is never answered.
  assert.deepEqual(await patient.lookup('a'), first);

  const strict = start({ freshMs: 0, staleMs: 0, slowMs: 5 });
  const fine = strict.lookup('a');
  await settled();
  await strict.answer(0, first);
  await fine;
  const waiting = strict.lookup('a');
  await settled();
  await strict.answer(1, second);
  assert.deepEqual(await waiting, second);
});

for (const hanging of [20, 200, 1_000]) {
  test(`${hanging} hanging names do not prevent other look-ups`, async () => {
    using time = simulateTime();
    const { lookup, names } = start();
    const count = (what: string) => names().filter((name) => name.startsWith(what)).length;
    for (let nth = 0; nth < hanging; nth += 1) lookup(`dead-${nth}`).catch(() => undefined);
    for (let nth = 0; nth < 50; nth += 1) lookup(`good-${nth}`).catch(() => undefined);
    await time.until(() => count('good') === 50);
    assert.equal(count('dead'), hanging);
  });
}

test('a name that resolved before does not wait for new names', async () => {
  const { lookup, names, answer } = start({ freshMs: 0 });
  void lookup('known');
  await settled();
  await answer(0, first);
  for (let nth = 0; nth < 1_000; nth += 1) lookup(`dead-${nth}`).catch(() => undefined);
  void lookup('known');
  await settled();
  assert.ok(names().slice(1).includes('known'));
  assert.ok(names().length < 1_000);
});

test('names that failed are looked up a few at a time, and fail immediately where too many of them wait', async () => {
  let asked = 0;
  const dead = new Set<string>();
  const lookup = createNameLookup({
    backOffMs: 0,
    resolve: (hostname) => {
      asked += 1;
      if (dead.has(hostname)) return new Promise(() => undefined);
      dead.add(hostname);
      return Promise.reject(Object.assign(new Error(hostname), { code: 'ENOTFOUND' }));
    },
  });
  const names = Array.from({ length: 200 }, (_, nth) => `dead-${nth}`);
  await Promise.allSettled(names.map((name) => lookup(name)));
  asked = 0;
  let failed = 0;
  for (const name of names) {
    lookup(name).catch(() => {
      failed += 1;
    });
  }
  await settled();
  assert.deepEqual({ asked, failed }, { asked: 16, failed: 200 - 16 - 64 });
});

test('the resolver of the machine is used by default', async () => {
  const addresses = await createNameLookup()('localhost');
  assert.ok(addresses.some(({ address }) => address === '127.0.0.1' || address === '::1'));
});
