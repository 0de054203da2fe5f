import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Source } from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { createSourceFinder, headerKeyOf, writeKeysOf, type SourceFinder } from './write-key.ts';

const web: Source = { id: 'web', writeKeys: ['wk_web'], enabled: true };

/** A configuration that learns of its sources only when it is refreshed. */
function setUp(): {
  find: SourceFinder['find'];
  news: Source[];
  refreshes: () => number;
  clock: { ms: number };
  break: () => void;
} {
  const known: Source[] = [];
  const news: Source[] = [];
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
        known.splice(0, Infinity, ...news);
      },
    },
    () => clock.ms,
  );
  return {
    find: (keys) => sources.find(keys),
    news,
    refreshes: () => refreshes,
    clock,
    break: () => (broken = true),
  };
}

test('a key that is news is found by reading the configuration to its end', async () => {
  const { find, news, refreshes } = setUp();
  news.push(web);
  assert.equal(await find(['wk_web']), web);
  assert.equal(await find(['wk_web']), web);
  assert.equal(refreshes(), 1);
});

test('junk keys, however many, read the configuration once a second', async () => {
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

test('a request without a key reads nothing', async () => {
  const { find, refreshes } = setUp();
  await assert.rejects(find([]), /The request has no write key/);
  assert.equal(refreshes(), 0);
});

test('the first key that has an enabled source counts', async () => {
  const { find, news } = setUp();
  const off = { ...web, id: 'off', writeKeys: ['wk_off'], enabled: false };
  news.push(off, web);
  assert.equal(await find(['junk', 'wk_off', 'wk_web']), web);
  await assert.rejects(find(['wk_off']), { code: 'unknown-write-key' });
});

test('while the configuration cannot be read, an unknown key is not called unknown', async () => {
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

test('the key of the body comes after that of the header, and only where it is a text', () => {
  assert.deepEqual(writeKeysOf({ key: 'a', decides: false }, { writeKey: 'b' }), ['a', 'b']);
  for (const body of [null, 7, [], {}, { writeKey: '' }, { writeKey: 7 }, { writeKey: null }]) {
    assert.deepEqual(writeKeysOf(undefined, body), []);
  }
});

test('the key of Basic auth alone decides; a Bearer token may be one of OAuth, beside a key in the body', () => {
  assert.deepEqual(headerKeyOf({ authorization: basic('wk:') }), { key: 'wk', decides: true });
  assert.deepEqual(headerKeyOf({ authorization: 'Bearer wk' }), { key: 'wk', decides: false });
});
