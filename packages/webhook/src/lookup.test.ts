import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { test } from 'node:test';
import { createNameLookup, type NameLookupOptions } from './lookup.ts';

type Asked = PromiseWithResolvers<readonly LookupAddress[]> & { readonly hostname: string };

const first: readonly LookupAddress[] = [{ address: '192.0.2.1', family: 4 }];
const second: readonly LookupAddress[] = [{ address: '192.0.2.2', family: 4 }];

/** A look-up whose name server answers when it is told to; `asked` are the questions it has been asked. */
function start(options: Omit<NameLookupOptions, 'resolve'> = {}) {
  const asked: Asked[] = [];
  const lookup = createNameLookup({
    ...options,
    resolve: (hostname) => {
      const question = { hostname, ...Promise.withResolvers<readonly LookupAddress[]>() };
      asked.push(question);
      return question.promise;
    },
  });
  const names = () => asked.map(({ hostname }) => hostname);
  /** Answers the nth question, and lets what follows from that happen. */
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

/** What `lookup` names slow: longer than no time at all. */
const everythingIsSlow = { slowMs: -1 };

test('all who ask for a name at once share one look-up, and those who ask soon after share its answer', async () => {
  const { lookup, names, answer } = start();
  const both = [lookup('a'), lookup('a')];
  await settled();
  await answer(0, first);
  assert.deepEqual(await Promise.all([...both, lookup('a')]), [first, first, first]);
  assert.deepEqual(names(), ['a']);
});

test('an answer that is no longer fresh is asked for again, and the new one serves', async () => {
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

test('a failure is given to all who wait for it, and kept for nobody', async () => {
  const { lookup, answer } = start();
  const both = [lookup('a'), lookup('a')];
  const failures = Promise.allSettled(both);
  await settled();
  await answer(0, 'EAI_AGAIN');
  for (const { status } of await failures) assert.equal(status, 'rejected');
  const later = lookup('a');
  await settled();
  await answer(1, first);
  assert.deepEqual(await later, first);
});

test('addresses that were good serve on where the name server fails, but not where the name is gone', async () => {
  const { lookup, answer } = start({ freshMs: 0 });
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

test('addresses that were good serve on where the name server dawdles, for so long as they are not too old', async () => {
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

test('names that never answer leave room for those that do', async () => {
  const { lookup, names, answer } = start({ freshMs: 0, staleMs: 0 });
  for (const name of ['good', 'better']) void lookup(name);
  await settled();
  await answer(0, first);
  await answer(1, first);
  // Three new names whose servers are dead: they take one of the two places.
  for (const name of ['dead-1', 'dead-2', 'dead-3']) void lookup(name);
  await settled();
  assert.deepEqual(names().slice(2), ['dead-1']);
  for (let round = 0; round < 3; round += 1) {
    const both = [lookup('good'), lookup('better')];
    for (let nth = 0; nth < 2; nth += 1) {
      await settled();
      await answer(names().length - 1, first);
    }
    await Promise.all(both);
  }
  assert.ok(!names().includes('dead-2'));
});

test('new names come before those known to be slow', async () => {
  const { lookup, names, answer } = start({ ...everythingIsSlow, freshMs: 0, staleMs: 0 });
  void lookup('slow');
  await settled();
  await answer(0, first);
  void lookup('new-1');
  for (const name of ['slow', 'new-2']) void lookup(name);
  await settled();
  await answer(1, first);
  await answer(2, first);
  assert.deepEqual(names(), ['slow', 'new-1', 'new-2', 'slow']);
});

test('two names known to be quick are looked up at a time, and the third when one of them is through', async () => {
  const { lookup, names, answer } = start({ freshMs: 0, staleMs: 0 });
  const all = ['a', 'b', 'c'];
  for (const [nth, name] of all.entries()) {
    void lookup(name);
    await settled();
    await answer(nth, first);
  }
  for (const name of all) void lookup(name);
  await settled();
  assert.deepEqual(names().slice(3), ['a', 'b']);
  await answer(4, first);
  assert.deepEqual(names().slice(3), all);
});

test('without a name server of the test, it is the operating system that is asked', async () => {
  const addresses = await createNameLookup()('localhost');
  assert.ok(addresses.some(({ address }) => address === '127.0.0.1' || address === '::1'));
});
