/** Everything that requests share is in the table, and a limited token leaves a part of it to others. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { mock, test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import type { History } from '@tailrace/history';
import { listen } from '@tailrace/service';
import { eventually } from '@tailrace/testing';
import { Exports } from '../exports/export.ts';
import { Summaries } from '../history/summaries.ts';
import { createServer } from '../http/server.ts';
import { deadLetterRoutes } from '../replays/dead-letter-routes.ts';
import { Places, type Asker } from './places.ts';
import { shared, type PlacesEntry, type PlacesName } from './shared.ts';

const entries = Object.entries<(typeof shared)[keyof typeof shared]>(shared);
const places = entries.filter(
  (entry): entry is [PlacesName, PlacesEntry & (typeof entry)[1]] => entry[1].kind === 'places',
);

test('requests are counted, and refused where there is no room, only by what the table lists', () => {
  const folder = path.join(import.meta.dirname, '..');
  const refusing = globSync('**/*.ts', { cwd: folder }).filter((file) => {
    if (file.endsWith('.test.ts')) return false;
    return /TailraceError\(\s*'too-many-/.test(readFileSync(path.join(folder, file), 'utf8'));
  });
  const listed = [
    'access/rate-limit.ts',
    'idempotency/index.ts',
    'session/ended.ts',
    'suppressions/store.ts',
  ];
  assert.deepEqual(refusing.sort(), listed);
  const code = globSync('**/*.ts', { cwd: folder }).map((file) =>
    readFileSync(path.join(folder, file), 'utf8'),
  );
  for (const [name] of places) {
    const isCounted = code.some((text) => new RegExp(`(Places|requirePlace)\\('${name}'`).test(text));
    assert.ok(isCounted, `no code counts the places of ${name}`);
  }
});

/** How many places one after another can be taken. */
function takeAll(taken: Places, asker: Asker, idOf: (nth: number) => string): number {
  for (let count = 0; ; count += 1) {
    try {
      taken.take(asker, idOf(count));
    } catch (error) {
      assert.ok(isTailraceError(error));
      assert.equal(error.status, 429);
      return count;
    }
  }
}

for (const [name, { holder, most, ofOne, ofLimited }] of places) {
  test(`17.6 ${name}: limited tokens leave places for others, and one token for other limited ones`, () => {
    const taken = new Places(name);
    const token = (id: string, sources?: readonly string[]): Asker => ({
      tokenId: id,
      fingerprint: '',
      sources,
      destinations: undefined,
    });
    const limited = (id: string): Asker => token(id, ['any']);
    const entry = (nth: number): string => `entry ${nth}`;
    let count = takeAll(taken, limited('of all entries'), entry);
    assert.equal(count, Math.min(ofOne, ofLimited));
    if (holder !== 'token') {
      const ofFirst = takeAll(taken, limited('of the first entry'), () => entry(0));
      assert.equal(ofFirst, ofOne - 1);
      count += ofFirst;
    }
    for (let nth = 0; count < ofLimited; nth += 1)
      count += takeAll(taken, limited(entry(nth)), (place) => `${nth} ${place}`);
    assert.equal(count, ofLimited);
    assert.equal(takeAll(taken, limited('another'), entry), 0);
    const ofOthers = ['a', 'b', 'c', 'd'].map((id) => takeAll(taken, token(id), entry));
    const left = ofOthers.reduce((sum, number) => sum + number);
    assert.equal(left, Math.min(most - ofLimited, holder === 'token' ? 4 * ofOne : most));
  });
}

test('17.6 summaries that read many rows have places, and end when the client leaves or after 20 seconds', async () => {
  // The letters of the event `endless` have no end.
  const reached = [1, 1, 1];
  const queries = {
    listDeadLetters: ({ event }: { event?: string }) => ({
      rows: [],
      ...(event === 'endless' && { reached }),
    }),
    countDeadLetters: () => [],
  };
  const read = (query: (all: never) => unknown): unknown => query(queries as never);
  const { app } = createServer([], { error: () => assert.fail('an error was logged') });
  const history = { read } as unknown as Pick<History, 'read'>;
  deadLetterRoutes(app, { history, summaries: new Summaries(), exports: new Exports() } as never);
  await app.ready();
  const origin = `http://127.0.0.1:${await listen(app.server, { host: '127.0.0.1', port: 0 }, 'PORT')}`;
  const path = '/dead-letters/summary';
  const statusOf = async (query: string) => (await app.inject(`${path}?${query}`)).statusCode;
  try {
    const leaving = new AbortController();
    const left = [1, 2].map(() =>
      assert.rejects(fetch(`${origin}${path}?event=endless`, { signal: leaving.signal })),
    );
    await eventually(async () => (await statusOf('event=few')) === 429);
    assert.equal(await statusOf('reason=client-error'), 200);
    leaving.abort();
    await Promise.all(left);
    await eventually(async () => (await statusOf('event=few')) === 200);
    let now = 0;
    mock.method(performance, 'now', () => (now += 1_000));
    assert.equal(await statusOf('event=endless'), 408);
  } finally {
    mock.restoreAll();
    await app.close();
  }
});
