import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { createSourceFinder, headerKeyOf, writeKeysOf, type SourceFinder } from './write-key.ts';

const web: Source = { id: 'web', writeKeys: ['wk_web'], enabled: true };

/** A configuration that contains its sources only after a refresh. */
function setUp(): {
  find: SourceFinder['find'];
  updates: Source[];
  refreshes: () => number;
  clock: { ms: number };
  break: () => void;
} {
  const known: Source[] = [];
  const updates: Source[] = [];
  const clock = { ms: 0 };
  let refreshes = 0;
  let broken = false;
  const sources = createSourceFinder(
    {
      sourceByWriteKey: (key) => known.find(({ writeKeys }) => writeKeys.includes(key)),
      refresh: async () => {
        refreshes += 1;
        await new Promise(setImmediate);
        if (broken) throw new TailraceError('kafka-unavailable');
        known.splice(0, Infinity, ...updates);
      },
    },
    () => clock.ms,
  );
  return {
    find: (keys) => sources.find(keys),
    updates,
    refreshes: () => refreshes,
    clock,
    break: () => (broken = true),
  };
}

test('a key of a new source is found by reading the configuration to its end', async () => {
  const { find, updates, refreshes } = setUp();
  updates.push(web);
  assert.equal(await find(['wk_web']), web);
  assert.equal(await find(['wk_web']), web);
  assert.equal(refreshes(), 1);
});

test('any number of junk keys causes one read of the configuration a second', async () => {
  const { find, refreshes, clock } = setUp();
  const refused = { code: 'unknown-write-key' };
  await Promise.all(Array.from({ length: 100 }, (_, i) => assert.rejects(find([`junk_${i}`]), refused)));
  clock.ms = 999;
  await assert.rejects(find(['junk']), refused);
  assert.equal(refreshes(), 1);
  clock.ms = 1_000;
  await assert.rejects(find(['junk']), refused);
  assert.equal(refreshes(), 2);
});

test('a request without a key causes no read of the configuration', async () => {
  const { find, refreshes } = setUp();
  await assert.rejects(find([]), /The request has no write key/);
  assert.equal(refreshes(), 0);
});

test('the first key that has an enabled source counts', async () => {
  const { find, updates } = setUp();
  const off = { ...web, id: 'off', writeKeys: ['wk_off'], enabled: false };
  updates.push(off, web);
  assert.equal(await find(['junk', 'wk_off', 'wk_web']), web);
  await assert.rejects(find(['wk_off']), { code: 'unknown-write-key' });
});

test('while the configuration cannot be read, an unknown key gets kafka-unavailable', async () => {
  const world = setUp();
  world.break();
  await assert.rejects(world.find(['wk_web']), { code: 'kafka-unavailable' });
  await assert.rejects(world.find(['wk_web']), { code: 'kafka-unavailable' });
  assert.equal(world.refreshes(), 1);
});

const basic = (credentials: string): string => `Basic ${Buffer.from(credentials).toString('base64')}`;
const headers: readonly (readonly [header: string | undefined, key: string | undefined])[] = [
  [basic('wk:'), 'wk'],
  [basic('wk'), 'wk'],
  [basic('wk:password'), 'wk'],
  [
    basic('wk:')
      .toLowerCase()
      .replace(/ .*/, ` ${basic('wk:').slice(6)}`),
    'wk',
  ],
  ['Bearer wk', 'wk'],
  ['bearer  wk ', 'wk'],
  [basic(':password'), undefined],
  ['Basic', undefined],
  ['Basic ', undefined],
  ['Digest username="wk"', undefined],
  ['wk', undefined],
  [undefined, undefined],
];

for (const [header, key] of headers) {
  test(`the header ${JSON.stringify(header)} holds ${key === undefined ? 'no key' : `the key ${key}`}`, () => {
    assert.deepEqual(writeKeysOf(headerKeyOf({ authorization: header }), {}), key === undefined ? [] : [key]);
  });
}

test('the key in the body has a lower priority than the header, and must be a string', () => {
  assert.deepEqual(writeKeysOf({ key: 'a', decides: false }, { writeKey: 'b' }), ['a', 'b']);
  for (const body of [null, 7, [], {}, { writeKey: '' }, { writeKey: 7 }, { writeKey: null }]) {
    assert.deepEqual(writeKeysOf(undefined, body), []);
  }
});

test('a Basic auth key alone decides, and a Bearer token may accompany a key in the body', () => {
  assert.deepEqual(headerKeyOf({ authorization: basic('wk:') }), { key: 'wk', decides: true });
  assert.deepEqual(headerKeyOf({ authorization: 'Bearer wk' }), { key: 'wk', decides: false });
});
