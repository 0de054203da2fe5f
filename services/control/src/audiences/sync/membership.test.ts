import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { Change } from '../state/records.ts';
import { openMembership } from './membership.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tailrace-membership-'));
});
after(() => rm(folder, { recursive: true }));

const isMember = (userId: string): Change => ({ userId, isMember: true });

test('a membership returns the differences between current and wanted members in pages', () => {
  const membership = openMembership(folder, 'replace');
  assert.equal(membership.addWanted(['ada', 'bob', 'cleo'].map(isMember)), 3);
  assert.equal(membership.addWanted(['bob', 'dan', 'dan'].map(isMember)), 1);
  membership.addCurrent([
    isMember('bob'),
    isMember('eve'),
    isMember('finn'),
    { userId: 'finn', isMember: false },
  ]);
  assert.deepEqual(membership.counts(), { before: 2, added: 3, removed: 1 });
  const first = membership.changes(undefined, 2);
  assert.deepEqual(first, [isMember('ada'), isMember('cleo')]);
  assert.deepEqual(membership.changes(first.at(-1)?.userId, 10), [
    isMember('dan'),
    { userId: 'eve', isMember: false },
  ]);
  membership.close();
});

test('a change sends only the users that it names, and the last change of a user counts', () => {
  const membership = openMembership(folder, 'change');
  const isNone = (userId: string): Change => ({ userId, isMember: false });
  assert.equal(membership.addWanted([isMember('ada'), isNone('bob'), isNone('cleo'), isMember('cleo')]), 3);
  assert.equal(membership.addWanted([isNone('dan')]), 1);
  membership.addCurrent(['bob', 'cleo', 'eve'].map(isMember));
  assert.deepEqual(membership.counts(), { before: 3, added: 1, removed: 1 });
  assert.deepEqual(membership.changes(undefined, 10), [isMember('ada'), isNone('bob')]);
  membership.close();
});

test('a send sends the members that it has not sent, with the time at which they joined', () => {
  const membership = openMembership(folder, 'send');
  const member = (userId: string, isSent: boolean) => ({
    ...isMember(userId),
    since: `of ${userId}`,
    isSent,
  });
  membership.addCurrent([
    member('ada', false),
    member('bob', true),
    member('cleo', false),
    member('dan', false),
  ]);
  membership.addCurrent([member('cleo', true), { userId: 'dan', isMember: false }]);
  assert.deepEqual(membership.counts(), { before: 3, added: 1, removed: 0 });
  assert.deepEqual(membership.changes(undefined, 10), [{ ...isMember('ada'), since: 'of ada' }]);
  membership.close();
});

test('a membership that may not grow refuses more members', () => {
  const membership = openMembership(folder, 'replace', 2 ** 20);
  const add = (): void => {
    for (let count = 0; count < 200; count += 1)
      membership.addWanted(Array.from({ length: 500 }, (_, nth) => isMember(`user ${count}-${nth}`)));
  };
  assert.throws(add, { code: 'invalid-membership', message: /more than 1 MB of disk/ });
  membership.close();
});

test('the file of a membership is unlinked while it is in use', async () => {
  const membership = openMembership(folder, 'replace');
  membership.addWanted([isMember('ada')]);
  assert.deepEqual(await readdir(folder), []);
  assert.deepEqual(membership.changes(undefined, 10), [isMember('ada')]);
  membership.close();
});

test('the differences equal those of two sets, for any ids', () => {
  const userId = fc.string({ unit: 'binary', minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(userId), fc.array(userId), fc.integer({ min: 1, max: 5 }), (now, before, page) => {
      const membership = openMembership(folder, 'replace');
      membership.addWanted(now.map(isMember));
      membership.addCurrent(before.map(isMember));
      const found: Change[] = [];
      for (let next = membership.changes(undefined, page); next.length > 0;) {
        found.push(...next);
        next = membership.changes(next.at(-1)?.userId, page);
      }
      membership.close();
      const wanted = new Set(now);
      const was = new Set(before);
      const expected = [
        ...[...wanted].filter((id) => !was.has(id)).map(isMember),
        ...[...was].filter((id) => !wanted.has(id)).map((id) => ({ userId: id, isMember: false })),
      ];
      const order = (a: Change, b: Change): number =>
        Buffer.compare(Buffer.from(a.userId), Buffer.from(b.userId));
      assert.deepEqual(found, expected.sort(order));
    }),
    { numRuns: 20 },
  );
});
