/** When the sync of another instance counts as interrupted. On simulated time. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { openSuppressionStore } from '../suppressions/store.ts';
import { names, newCluster } from '../testing/api.ts';
import { openAudiences } from './index.ts';

const log = { info: () => undefined, warn: () => undefined };

test('a sync is interrupted where its instance is silent for 30 s, whatever the clock of that instance says', async (t) => {
  using time = simulateTime();
  const folder = mkdtempSync(path.join(tmpdir(), 'tailrace-silence-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const kafka = newCluster().connect();
  const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const sync = {
    id: 'of-another',
    kind: 'replace',
    state: 'running',
    startedAt: anHourAgo,
    updatedAt: anHourAgo,
    read: 1,
    members: 1,
    sent: 0,
    instance: 'another',
  };
  const audience = { sourceId: 'web', trait: 'vip', name: 'VIP', members: 0, sync };
  const record = { topic: names.audiencesSyncs, key: 'web/vip', value: JSON.stringify(audience) };
  await time.settled(kafka.publisher().publish(record));
  const users = await time.settled(
    openSuppressionStore({ kafka, names, log, folder: path.join(folder, 'users') }),
  );
  const config = { source: () => undefined, destination: () => undefined, refresh: () => Promise.resolve() };
  const audiences = await time.settled(
    openAudiences({ kafka, names, users, config, folder, ratePerSecond: 1, log }),
  );
  const state = () => audiences.get('web', 'VIP')?.sync.state;
  const atFirst = state();
  await time.pass(30_001);
  const inTheEnd = state();
  await time.settled(audiences.close());
  await time.settled(users.close());
  await time.settled(kafka.close());
  assert.deepEqual([atFirst, inTheEnd], ['running', 'interrupted']);
});
