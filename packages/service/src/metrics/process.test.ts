import assert from 'node:assert/strict';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { createMetrics } from './metrics.ts';
import { readRevision, watchProcess } from './process.ts';

test('the build has a version, and the revision of the file that an image has', async () => {
  const metrics = createMetrics({ processMetrics: false });
  watchProcess(metrics);
  assert.match(
    await metrics.expose(),
    /^tailrace_build_info\{version="\d+\.\d+\.\d+",revision="[^"]+"\} 1$/m,
  );
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'tailrace-revision-'));
  const file = path.join(folder.path, 'REVISION');
  assert.equal(readRevision(file), 'unknown');
  await writeFile(file, '\n');
  assert.equal(readRevision(file), 'unknown');
  await writeFile(file, '25e252d\n');
  assert.equal(readRevision(file), '25e252d');
});

test('the event loop counts as busy while it works, and not while it waits', async () => {
  const metrics = createMetrics({ processMetrics: false });
  watchProcess(metrics);
  const busy = async (): Promise<number> =>
    Number(/^tailrace_event_loop_busy_seconds_total (.+)$/m.exec(await metrics.expose())?.[1]);
  const before = await busy();
  // Holds the event loop for 50 ms.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  assert.ok((await busy()) - before >= 0.05);
  using time = simulateTime();
  const waiting = await busy();
  await time.pass(1_000);
  assert.equal(await busy(), waiting);
});
