import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { names, newCluster } from '../testing/api.ts';
import { openEndedSessions, type EndedSessions } from './ended.ts';

const cluster = newCluster();
let ended: EndedSessions;
before(async () => {
  ended = await openEndedSessions(cluster.connect(), names.sessions);
});
after(() => ended.close());

const expiresAt = Date.now() + 3_600_000;
const session = (id: string) => ({ id, expiresAt, digest: Buffer.alloc(32), tokenId: undefined });

test('of each token a bounded number of ended sessions is kept, until they would have expired', async () => {
  for (let n = 0; n < 1_000; n += 1) await ended.end(session(`busy-${n}`), 'busy');
  await assert.rejects(ended.end(session('one-more'), 'busy'), { code: 'too-many-requests' });
  assert.ok(!ended.has(session('one-more')));
  await ended.end(session('other'), 'another token');
  assert.ok(ended.has(session('other')) && ended.has(session('busy-0')));
  mock.timers.enable({ apis: ['Date'], now: expiresAt });
  try {
    await ended.end(session('one-more'), 'busy');
    assert.ok(!ended.has(session('busy-0')));
  } finally {
    mock.timers.reset();
  }
});

test('a record of another program is ignored', async () => {
  const publisher = cluster.connect().publisher({});
  for (const value of ['x', 'null', '{"token":"a"}', null]) {
    await publisher.publish({ topic: names.sessions, partition: 0, key: 'odd', value });
  }
  await ended.refresh();
  assert.ok(!ended.has(session('odd')));
});
