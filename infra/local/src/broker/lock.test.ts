import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { acquireLock, identify, isAlive } from './lock.ts';

async function lockPath(): Promise<AsyncDisposable & { readonly path: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'tailrace-lock-'));
  return {
    path: join(dir, 'lock'),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

test('of several concurrent attempts one gets the lock, and the others get the owner', async () => {
  await using lock = await lockPath();
  const attempts = await Promise.all(Array.from({ length: 20 }, () => acquireLock(lock.path)));
  assert.equal(attempts.filter((attempt) => 'release' in attempt).length, 1);
  for (const attempt of attempts) if ('heldBy' in attempt) assert.equal(attempt.heldBy, process.pid);
  assert.deepEqual(await readdir(join(lock.path, '..')), ['lock']);
});

test('a released lock can be acquired again', async () => {
  await using lock = await lockPath();
  const first = await acquireLock(lock.path);
  assert.ok('release' in first);
  await first.release();
  const second = await acquireLock(lock.path);
  assert.ok('release' in second);
  assert.equal(second.wasStale, false);
});

test('the lock of a killed process is acquired', async () => {
  await using lock = await lockPath();
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  await writeFile(lock.path, JSON.stringify(await identify(child.pid ?? 0)));
  assert.deepEqual(await acquireLock(lock.path), { heldBy: child.pid });
  child.kill('SIGKILL');
  await once(child, 'exit');
  const attempt = await acquireLock(lock.path);
  assert.ok('release' in attempt);
  assert.equal(attempt.wasStale, true);
});

test('an empty lock file, as after a full disk, counts as free', async () => {
  await using lock = await lockPath();
  await writeFile(lock.path, '');
  assert.ok('release' in (await acquireLock(lock.path)));
});

test('a later process with the same id is not mistaken for the earlier one', async () => {
  const mine = await identify(process.pid);
  assert.equal(await isAlive(mine), true);
  if (mine.startedAt !== '') assert.equal(await isAlive({ ...mine, startedAt: '1' }), false);
});
