import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLogFile } from './log-file.ts';

async function logPath(): Promise<AsyncDisposable & { readonly path: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'tailrace-log-'));
  return {
    path: join(dir, 'logs', 'router.log'),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

test('a start begins a new file and keeps that of the previous run', async () => {
  await using log = await logPath();
  for (const line of ['first run', 'second run']) {
    const file = openLogFile(log.path);
    file.write(line);
    file.close();
  }
  assert.equal(await readFile(log.path, 'utf8'), 'second run\n');
  assert.equal(await readFile(`${log.path}.old`, 'utf8'), 'first run\n');
});

test('a file that is too large is rotated', async () => {
  await using log = await logPath();
  const file = openLogFile(log.path, 10);
  for (const line of ['one', 'two two two', 'three']) file.write(line);
  file.close();
  assert.equal(await readFile(`${log.path}.old`, 'utf8'), 'one\ntwo two two\n');
  assert.equal(await readFile(log.path, 'utf8'), 'three\n');
});

test('lines after the end are dropped', async () => {
  await using log = await logPath();
  const file = openLogFile(log.path);
  file.close();
  file.write('late');
  assert.equal(await readFile(log.path, 'utf8'), '');
});
