/** Audience syncs of limited tokens beside those of others, through the API on an in-memory Kafka cluster. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { eventually } from '@tailrace/testing';
import { names, newCluster, openApi, type Api } from '../testing/api.ts';
import { encodeAudience } from './state/records.ts';

const cluster = newCluster();
let control: Api;
let token: string;
const tokenFor = async (source: string): Promise<string> => {
  const body = { name: source, scope: 'write', sources: [source] };
  return String((await control.expect(201, { method: 'POST', path: '/v1/tokens', body }))['token']);
};
before(async () => {
  control = await openApi(cluster);
  for (const id of ['web', 'app', 'many'])
    await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id } });
  await control.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'slow', rateLimit: 10 } });
  token = await tokenFor('web');
});
after(() => control[Symbol.asyncDispose]());

/** A sync of many minutes. */
const upload = (sourceId: string, name: string) =>
  ({
    method: 'PUT',
    path: `/v1/sources/${sourceId}/audiences/${encodeURIComponent(name)}?ratePerSecond=1`,
    headers: { 'content-type': 'application/x-ndjson' },
    bytes: Array.from({ length: 2_000 }, (_, nth) => `"user-${nth}"\n`).join(''),
  }) as const;

test('a limited token leaves places for others, however slow its syncs are', async () => {
  for (const name of ['one', 'two']) await control.expect(202, { ...upload('web', name), token });
  const refused = await control.refused({ ...upload('web', 'three'), token }, 429, 'too-many-at-once');
  assert.equal(refused.headers.get('retry-after'), '30');
  await control.expect(202, upload('app', 'of another source'));
  await control.expect(202, upload('web', 'of an unlimited token'));
});

test('a limited token sends no more calls a second for an audience than its source may', async () => {
  const token = await tokenFor('slow');
  for (const [name, rate] of [
    ['by default', ''],
    ['as fast as possible', '?ratePerSecond=1000000'],
  ] as const) {
    const path = `/v1/sources/slow/audiences/${encodeURIComponent(name)}${rate}`;
    await control.expect(202, { ...upload('slow', name), path, token });
    const sent = () =>
      cluster
        .records(names.audiencesSyncs)
        .map(
          ({ value }) => JSON.parse(value?.toString() ?? '{}') as { name?: string; sync?: { sent: number } },
        )
        .filter((audience) => audience.name === name)
        .map(({ sync }) => sync?.sent ?? 0);
    await eventually(() => sent().some((count) => count > 0));
    assert.equal(
      sent().find((count) => count > 0),
      2,
      'a portion is a fifth of a second of calls',
    );
  }
});

test('the audiences of a source are bounded', async () => {
  const publisher = control.kafka.publisher();
  const updatedAt = new Date().toISOString();
  const sync = { id: 'before', kind: 'replace', state: 'done', startedAt: updatedAt, updatedAt } as const;
  const counts = { read: 0, members: 0, sent: 0, instance: 'before' };
  const audiences = Array.from({ length: 1_000 }, (_, nth) => ({
    sourceId: 'many',
    name: `audience ${nth}`,
    trait: `audience_${nth}`,
    members: 0,
    sync: { ...sync, ...counts },
  }));
  await Promise.all(
    audiences.map((audience) => publisher.publish(encodeAudience(names.audiencesSyncs, audience))),
  );
  await publisher.close();
  const put = { ...upload('many', 'another'), bytes: '"ada"' };
  await control.refused(put, 409, 'conflict');
  await control.expect(202, { ...put, path: upload('many', 'audience 1').path });
});

test('an upload that is many times larger than what was sent is refused', async () => {
  const line = `"${'u'.repeat(1_000)}"\n`;
  const bytes = gzipSync(line.repeat(30_000));
  assert.ok(bytes.length < 100_000);
  const request = upload('app', 'bomb');
  const headers = { ...request.headers, 'content-encoding': 'gzip' };
  await control.refused({ ...request, bytes, headers }, 400, 'invalid-membership');
  await control.expect(404, { path: '/v1/sources/app/audiences/bomb' });
});
